/**
 * Watches request bodies for senders that stall. The HTTP library silently closes a connection whose body arrives more
 * slowly than some 16 KiB/s; so its timeout is restarted for each body again and again, as long as anything of it
 * arrives. A body of which nothing arrives for `idleMsMax` fails with `body-too-slow`. A body that ended while its
 * connection was paused keeps getting time until it is answered, since the library waits for more when it resumes. Main
 * thread only.
 */
import { ServiceError } from '../platform/index.js';

/** The watch's view of a body. */
export interface WatchedBody {
  readonly receivedBytes: number;
  /** True if the service itself has paused reading. */
  readonly isPaused: boolean;
  /** True if the body is complete, but its transport needs time until it is answered. */
  readonly needsTime: boolean;
  fail(error: Error): void;
  /** Restarts the transport's timeout. */
  giveTime(): void;
}

/** Half of the shortest time after which the library may close a connection: 10 s, by a clock that ticks every 4 s. */
const LOOK_INTERVAL_MS = 4000;

interface Seen {
  bytes: number;
  atMs: number;
}

export interface UploadWatchOptions {
  readonly idleMsMax: number;
  /** Default: the monotonic clock of the process. */
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

  /** Watches a body until it fails or `remove` is called. */
  add(body: WatchedBody): void {
    // Most bodies are complete before the first check, so the clock is only read for the others.
    this.#bodies.set(body, undefined);
    this.#timer ??= setInterval(() => this.look(), Math.min(LOOK_INTERVAL_MS, this.#idleMsMax)).unref();
  }

  remove(body: WatchedBody): void {
    this.#bodies.delete(body);
  }

  /** Runs at every tick of the timer. */
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

  /** Stops watching. */
  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tooSlow(): ServiceError {
    const seconds = Math.round(this.#idleMsMax / 1000);
    return new ServiceError(
      'body-too-slow',
      `No part of the body arrived for ${seconds} s. Send it without such pauses.`,
    );
  }
}
