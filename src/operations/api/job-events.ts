/** Jobs as they go on, told to whoever listens: all of them each time, so that nothing has to be caught up with. */
import type { ProgressBoard } from '../../platform/index.js';
import { EventStream, eventText, type EventClient } from '../dispatch/event-stream.js';

/** A job that advances a thousand times a second is told twice. */
const TOLD_MS = 500;
/** The front end closes connections on which nothing is said for ten seconds. */
const QUIET_MS_MAX = 4_000;
/** Then the client comes again, and shows again who it is: a session that has ended, or a role that was changed, is noticed. */
const STREAM_MS = 60_000;
const RECONNECT_MS = 1_000;

export interface JobEventTimes {
  readonly toldMs: number;
  readonly quietMsMax: number;
  readonly streamMs: number;
}

const TIMES: JobEventTimes = { toldMs: TOLD_MS, quietMsMax: QUIET_MS_MAX, streamMs: STREAM_MS };

/** `read` says what there is to be told at the time. An event whenever that has changed, the first one at once. */
export function jobEvents(board: ProgressBoard, read: () => object, times: JobEventTimes = TIMES): EventStream {
  return new EventStream((client) => {
    const telling = new Telling(client, board, read, times);
    const stopListening = board.listen(() => {
      telling.hasNews = true;
      // One that is done before the next turn is told as well: somebody waits for what it did.
      if (telling.isOfOtherJobs) telling.tell();
    });
    client.send(`retry: ${RECONNECT_MS}\n\n`);
    const timer = setInterval(() => {
      telling.tell();
    }, times.toldMs);
    telling.tell();
    return () => {
      clearInterval(timer);
      stopListening();
    };
  });
}

class Telling {
  hasNews = true;
  readonly #beganMs = performance.now();
  #saidMs = this.#beganMs;
  #told = '';
  #size = 0;

  constructor(
    private readonly client: EventClient,
    private readonly board: ProgressBoard,
    private readonly read: () => object,
    private readonly times: JobEventTimes,
  ) {}

  /** True where a job has come or gone since. */
  get isOfOtherJobs(): boolean {
    return this.board.size !== this.#size;
  }

  tell(): void {
    const nowMs = performance.now();
    if (nowMs - this.#beganMs > this.times.streamMs) {
      this.client.end();
    } else if (!this.client.isBehind) {
      const text = this.#news() ?? (nowMs - this.#saidMs >= this.times.quietMsMax ? ':\n\n' : undefined);
      if (text === undefined) return;
      this.#saidMs = nowMs;
      this.client.send(text);
    }
  }

  #news(): string | undefined {
    // One that has only been begun says nothing yet.
    if (!this.hasNews && this.board.size === this.#size) return undefined;
    this.hasNews = false;
    this.#size = this.board.size;
    const text = eventText('jobs', this.read());
    if (text === this.#told) return undefined;
    this.#told = text;
    return text;
  }
}
