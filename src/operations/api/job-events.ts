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
/** With more of them, each is told at every second turn, every third and so on: what they cost together stays the same. */
const WATCHERS_A_TURN = 250;
/** With more, what comes and goes between two turns is not told: each job would be told to all of them. */
const WATCHERS_TOLD_AT_ONCE = 50;
/** A turn, of jobs that came or went. */
const TOLD_AT_ONCE_MAX = 5;

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
      if (telling.mayTellAtOnce) telling.tell();
    });
    client.send(`retry: ${RECONNECT_MS}\n\n`);
    const timer = setInterval(() => {
      telling.turn();
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
  #generation = -1;
  #turns = 0;
  #toldAtOnce = 0;

  constructor(
    private readonly client: EventClient,
    private readonly board: ProgressBoard,
    private readonly read: () => object,
    private readonly times: JobEventTimes,
  ) {}

  /** Where a job has come or gone since. */
  get mayTellAtOnce(): boolean {
    if (this.board.generation === this.#generation) return false;
    if (this.board.listenerCount > WATCHERS_TOLD_AT_ONCE) return false;
    this.#toldAtOnce += 1;
    return this.#toldAtOnce <= TOLD_AT_ONCE_MAX;
  }

  turn(): void {
    this.#toldAtOnce = 0;
    this.#turns += 1;
    if (this.#turns % Math.ceil(this.board.listenerCount / WATCHERS_A_TURN) === 0) this.tell();
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
    if (!this.hasNews && this.board.generation === this.#generation) return undefined;
    this.hasNews = false;
    this.#generation = this.board.generation;
    const text = eventText('jobs', this.read());
    if (text === this.#told) return undefined;
    this.#told = text;
    return text;
  }
}
