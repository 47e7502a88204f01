/**
 * Bodies on their way in, watched for senders that stall. The HTTP library closes a connection without a word when a body comes
 * more slowly than some 16 KiB/s; so every body is given time again and again, for as long as anything of it arrives. One of
 * which nothing arrives for the time given fails with `body-too-slow`. Some are given time until they are answered: where a body ends while
 * its connection is paused, the library waits for more when it goes on. Main thread only.
 */
import { ServiceError } from '../platform/index.js';

/** A body as the watch sees it. */
export interface WatchedBody {
  readonly receivedBytes: number;
  /** Nothing is read now, for a reason of the service's own. */
  readonly isPaused: boolean;
  /** All of it is there, and the transport has to be given time until it is answered. */
  readonly needsTime: boolean;
  fail(error: Error): void;
  /** Tells the transport to wait on. */
  giveTime(): void;
}

/** Half of the shortest time after which the library may close: 10 s by a clock that ticks every 4 s. */
const LOOK_INTERVAL_MS = 4000;

interface Seen {
  bytes: number;
  atMs: number;
}

export interface UploadWatchOptions {
  readonly idleMsMax: number;
  /** Default: the process's monotonic clock. */
  readonly nowMs?: () => number;
}

export class UploadWatch {
  readonly #idleMsMax: number;
  readonly #nowMs: () => number;
  readonly #bodies = new Map<WatchedBody, Seen | undefined>();
  #timer: NodeJS.Timeout | undefined;

  constructor({ idleMsMax, nowMs = () => performance.now() }: UploadWatchOptions) {
    this.#idleMsMax = idleMsMax;
    this.#nowMs = nowMs;
  }

  /** From now on until it fails or `remove` is called. */
  add(body: WatchedBody): void {
    // Most bodies are whole before anybody looks: the clock is read for those alone that are not.
    this.#bodies.set(body, undefined);
    this.#timer ??= setInterval(() => this.look(), Math.min(LOOK_INTERVAL_MS, this.#idleMsMax)).unref();
  }

  remove(body: WatchedBody): void {
    this.#bodies.delete(body);
  }

  /** What is done at every tick of the watch's timer. */
  look(): void {
    if (this.#bodies.size === 0) this.close();
    const nowMs = this.#nowMs();
    for (const [body, seen] of this.#bodies) {
      if (seen === undefined || body.isPaused || body.needsTime || body.receivedBytes !== seen.bytes) {
        this.#bodies.set(body, { bytes: body.receivedBytes, atMs: nowMs });
      } else if (nowMs - seen.atMs >= this.#idleMsMax) {
        this.#bodies.delete(body);
        body.fail(this.#tooSlow());
        continue;
      }
      body.giveTime();
    }
  }

  /** Nothing is watched any more. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tooSlow(): ServiceError {
    const seconds = Math.round(this.#idleMsMax / 1000);
    return new ServiceError(
      'body-too-slow',
      `Nothing of the body arrived for ${seconds} s. Send it without such pauses.`,
    );
  }
}
