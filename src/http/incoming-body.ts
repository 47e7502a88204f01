/**
 * A request body being received: pushed by the transport chunk by chunk, consumed as a whole or as a stream. The
 * transport is paused while there is no room for the body, and while a stream has more unconsumed bytes than it may
 * hold. Main thread only; one consumer.
 */
import { tooLarge } from '../operations/index.js';
import { UPLOAD_BYTES } from '../platform/index.js';
import type { WatchedBody } from './upload-watch.js';
import type { UploadWindow, WindowedBody } from './upload-window.js';

export interface BodySource {
  pause(): void;
  resume(): void;
}

/**
 * Chunks of a body up to this length are joined at its end; a longer one gets its memory at once, when there is room.
 */
export const SMALL_BYTES_MAX = 65_536;

export interface IncomingBodyOptions {
  readonly bytesMax: number;
  /** Content-Length; undefined if the client did not send it. */
  readonly announcedBytes?: number | undefined;
  /** Nothing more is read until it resolves; if it rejects, the body fails. Undefined: there is room at once. */
  readonly ready?: Promise<void> | undefined;
  /** Counts the unconsumed bytes; only for a body that is consumed as a stream. */
  readonly window?: UploadWindow | undefined;
  /** True if pushed chunks are not changed by the transport, and need no copy. */
  readonly ownsChunks?: boolean;
}

/**
 * Chunks of a stream are joined up to this length, since each one costs the consumer a message to another thread,
 * whatever its length.
 */
const PIECE_BYTES = 65_536;
/** Shorter chunks wait for what else arrives in this turn of the event loop. */
const SHORT_CHUNK_BYTES = 16_384;

/** Bytes that a body in a window may hold: its consumer gets what one network read brings, and more when it asks. */
const WINDOWED_BYTES_MAX = 65_536;

export class IncomingBody implements WatchedBody, WindowedBody {
  readonly #source: BodySource;
  readonly #bytesMax: number;
  readonly #announcedBytes: number;
  readonly #window: UploadWindow | undefined;
  readonly #ownsChunks: boolean;
  readonly #queuedBytesMax: number;
  #waiting: Promise<void> | undefined;
  #chunks: Uint8Array[] = [];
  /** Buffer for the whole body. */
  #target: Uint8Array | undefined;
  #queuedBytes = 0;
  #totalBytes = 0;
  #ended = false;
  #paused = false;
  #needsTime = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;
  #isWaking = false;
  #onFailure: (() => void) | undefined;

  constructor(
    source: BodySource,
    { bytesMax, announcedBytes = 0, ready, window, ownsChunks = false }: IncomingBodyOptions,
  ) {
    this.#ownsChunks = ownsChunks;
    this.#source = source;
    this.#bytesMax = bytesMax;
    this.#announcedBytes = announcedBytes;
    this.#window = window;
    this.#queuedBytesMax = window === undefined ? UPLOAD_BYTES : WINDOWED_BYTES_MAX;
    window?.enter(this);
    if (announcedBytes > bytesMax) this.fail(tooLarge(bytesMax));
    else if (ready !== undefined) this.#wait(ready);
  }

  get receivedBytes(): number {
    return this.#totalBytes;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  /**
   * True if the body ended while the transport was paused. When resumed, the transport waits for another chunk, which
   * never comes, until its timeout.
   */
  get needsTime(): boolean {
    return this.#needsTime;
  }

  /**
   * Restarts the transport's timeout, which begins when it resumes after a pause and ends with a pause. Also restarts
   * one that began after a pause with chunks that the transport had already read.
   */
  giveTime(): void {
    this.#source.pause();
    if (!this.#paused) this.#source.resume();
  }

  /** Adds a chunk; copies what it keeps. */
  push(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return;
    const begin = this.#totalBytes;
    this.#totalBytes += chunk.byteLength;
    if (this.#totalBytes > this.#bytesMax) {
      this.fail(tooLarge(this.#bytesMax));
      return;
    }
    if (this.#target !== undefined) {
      this.#target.set(chunk, begin);
    } else if (chunk.byteLength > 0) {
      this.#chunks.push(this.#ownsChunks ? chunk : chunk.slice());
      this.#queuedBytes += chunk.byteLength;
      this.#window?.take(chunk.byteLength);
    }
    if (chunk.byteLength >= SHORT_CHUNK_BYTES) this.#wake?.();
    else this.#wakeSoon();
  }

  /**
   * Called by the transport after `push` and `end`, when the consumer had its chance: pauses the transport if the
   * consumer is behind.
   */
  settle(): void {
    if (!this.#ended && this.#failure === undefined && this.#queuedBytes > this.#queuedBytesMax) this.#pause();
  }

  hold(): void {
    this.#pause();
    // A consumer that already waits does not ask for room again by itself.
    if (this.#wake !== undefined) this.#window?.whenRoom(this);
  }

  proceed(): void {
    if (this.#queuedBytes <= this.#queuedBytesMax) this.#resume();
  }

  end(): void {
    this.#ended = true;
    this.#needsTime = this.#paused;
    this.#window?.leave(this);
    this.#wake?.();
    this.letGo();
  }

  /**
   * Resumes the transport, since nothing more is wanted, so that the next request of the connection is read, even if
   * the last chunk came after a pause.
   */
  letGo(): void {
    this.#resume();
  }

  /** Fails the body; only the first failure counts. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#dropQueue();
    this.#target = undefined;
    this.#window?.leave(this);
    this.#wake?.();
    this.#onFailure?.();
    // The rest is dropped: a connection that stays paused could neither be used again nor closed.
    this.#resume();
  }

  async whole(): Promise<Uint8Array> {
    if (this.#waiting !== undefined) await this.#waiting;
    // The whole body has room, and pausing would only wait for itself.
    if (this.#announcedBytes > SMALL_BYTES_MAX && this.#failure === undefined) this.#gather();
    while (!this.#ended && this.#failure === undefined) {
      this.#resume();
      await this.#next();
    }
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#target !== undefined) return this.#target.subarray(0, this.#totalBytes);
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    if (this.#waiting !== undefined) await this.#waiting;
    try {
      for (;;) {
        if (this.#failure !== undefined) throw this.#failure;
        const piece = this.#nextPiece();
        if (piece !== undefined) {
          this.#queuedBytes -= piece.byteLength;
          try {
            yield piece;
          } finally {
            this.#window?.giveBack(piece.byteLength);
          }
        } else if (this.#ended) {
          return;
        } else {
          if (this.#window === undefined) this.#resume();
          else this.#window.whenRoom(this);
          await this.#next();
        }
      }
    } finally {
      this.#dropQueue();
    }
  }

  #nextPiece(): Uint8Array | undefined {
    let [count, bytes] = [0, 0];
    for (const { byteLength } of this.#chunks) {
      if (count > 0 && bytes + byteLength > PIECE_BYTES) break;
      count += 1;
      bytes += byteLength;
    }
    if (count < 2) return this.#chunks.shift();
    return Buffer.concat(this.#chunks.splice(0, count), bytes);
  }

  /** Drops the queued chunks, which nobody consumes. */
  #dropQueue(): void {
    this.#window?.giveBack(this.#queuedBytes);
    this.#chunks = [];
    this.#queuedBytes = 0;
  }

  /** Resolves when there is room, or the body has failed. */
  #wait(ready: Promise<void>): void {
    this.#pause();
    const failed = new Promise<void>((resolve) => {
      this.#onFailure = resolve;
    });
    const admitted = ready.catch((error: unknown) => {
      this.fail(error as Error);
    });
    this.#waiting = Promise.race([admitted, failed]).then(() => {
      this.#waiting = undefined;
    });
  }

  /** Moves what has arrived so far to the buffer of the whole body. */
  #gather(): void {
    const target = Buffer.allocUnsafeSlow(this.#announcedBytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      target.set(chunk, at);
      at += chunk.byteLength;
    }
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#target = target;
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Wakes the consumer at the end of the turn, with all that arrived in it. */
  #wakeSoon(): void {
    if (this.#wake === undefined || this.#isWaking) return;
    this.#isWaking = true;
    setImmediate(() => {
      this.#isWaking = false;
      this.#wake?.();
    });
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#source.pause();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }
}
