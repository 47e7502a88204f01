/**
 * A request body on its way in: pushed by the transport chunk by chunk, taken whole or as a stream. The transport is paused
 * while more than `QUEUED_BYTES_MAX` wait for the taker. Main thread only; one taker.
 */
import { ServiceError } from '../platform/index.js';

export interface BodySource {
  pause(): void;
  resume(): void;
}

const QUEUED_BYTES_MAX = 4_194_304;

export class IncomingBody {
  readonly #source: BodySource;
  readonly #bytesMax: number;
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #totalBytes = 0;
  #ended = false;
  #paused = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(source: BodySource, bytesMax: number) {
    this.#source = source;
    this.#bytesMax = bytesMax;
  }

  /** The chunk is kept: it has to be the taker's own memory. */
  push(chunk: Uint8Array): void {
    if (this.#failure !== undefined) return;
    this.#totalBytes += chunk.byteLength;
    if (this.#totalBytes > this.#bytesMax) {
      this.fail(tooLarge(this.#bytesMax));
      return;
    }
    if (chunk.byteLength > 0) this.#chunks.push(chunk);
    this.#queuedBytes += chunk.byteLength;
    this.#wake?.();
  }

  /** Called by the transport after `push` and `end`, when the taker had its chance: pauses where it is behind. */
  settle(): void {
    if (!this.#paused && !this.#ended && this.#failure === undefined && this.#queuedBytes > QUEUED_BYTES_MAX) {
      this.#paused = true;
      this.#source.pause();
    }
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The first failure counts. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#chunks = [];
    this.#queuedBytes = 0;
    this.#wake?.();
  }

  async whole(): Promise<Uint8Array> {
    // Held whole anyway: the limit of bytes is what keeps it small, and pausing would only wait for itself.
    while (!this.#ended && this.#failure === undefined) {
      await this.#next();
      this.#resume();
    }
    if (this.#failure !== undefined) throw this.#failure;
    const [first] = this.#chunks;
    return first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure;
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        this.#queuedBytes -= chunk.byteLength;
        yield chunk;
      } else if (this.#ended) {
        return;
      } else {
        this.#resume();
        await this.#next();
      }
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#source.resume();
  }
}

export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError('body-too-large', `The body is larger than ${bytesMax} bytes.`);
}
