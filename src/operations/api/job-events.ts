/** Streams the progress of jobs to listeners. Each event contains all jobs, so that nothing has to be caught up on. */
import type { ProgressBoard } from '../../platform/index.js';
import { EventStream, eventText, type EventClient } from '../dispatch/event-stream.js';

/** Interval of events, however often a job advances. */
const TOLD_MS = 500;
/** Longest silence: the front end closes connections after ten seconds without data. */
const QUIET_MS_MAX = 4_000;
/**
 * Length of a stream. The client then reconnects and authenticates again, so that an ended session or a changed role
 * takes effect. A key that was deleted or has expired ends its streams at once.
 */
const STREAM_MS = 60_000;
const RECONNECT_MS = 1_000;
/**
 * Watchers served per turn. With more, each is served every second turn, every third and so on, so that the total cost
 * stays constant.
 */
const WATCHERS_A_TURN = 250;
/**
 * With more watchers, jobs that begin and end between two turns are not reported, since each would be sent to all of
 * them.
 */
const WATCHERS_TOLD_AT_ONCE = 50;
/** Immediate events per turn, for jobs that began or ended. */
const TOLD_AT_ONCE_MAX = 5;

export interface JobEventTimes {
  readonly toldMs: number;
  readonly quietMsMax: number;
  readonly streamMs: number;
}

const TIMES: JobEventTimes = { toldMs: TOLD_MS, quietMsMax: QUIET_MS_MAX, streamMs: STREAM_MS };

export interface ToldJobs {
  /** Returns the current content. */
  readonly read: () => object;
  /** False once nothing may be told any more, which ends the stream. */
  readonly mayGoOn: () => boolean;
}

/** An event is sent whenever the content has changed; the first one immediately. */
export function jobEvents(board: ProgressBoard, jobs: ToldJobs, times: JobEventTimes = TIMES): EventStream {
  return new EventStream((client) => {
    const telling = new Telling(client, board, jobs, times);
    const stopListening = board.listen(() => {
      telling.hasNews = true;
      // A job that ends before the next turn is reported too, since somebody waits for its effect.
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
    private readonly jobs: ToldJobs,
    private readonly times: JobEventTimes,
  ) {}

  /** True if a job began or ended since the last event, and the limits on immediate events allow another. */
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
    if (nowMs - this.#beganMs > this.times.streamMs || !this.jobs.mayGoOn()) {
      this.client.end();
    } else if (!this.client.isBehind) {
      const text = this.#news() ?? (nowMs - this.#saidMs >= this.times.quietMsMax ? ':\n\n' : undefined);
      if (text === undefined) return;
      this.#saidMs = nowMs;
      this.client.send(text);
    }
  }

  #news(): string | undefined {
    // A job that has only just begun has nothing to report yet.
    if (!this.hasNews && this.board.generation === this.#generation) return undefined;
    this.hasNews = false;
    this.#generation = this.board.generation;
    const text = eventText('jobs', this.jobs.read());
    if (text === this.#told) return undefined;
    this.#told = text;
    return text;
  }
}
