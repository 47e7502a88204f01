/** Connections that send arbitrary requests at the same time, and may not read the answers. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface RawRequest {
  /** Request line and headers, without `Content-Length`. */
  readonly head: readonly string[];
  readonly bodyBytes: number;
  /** Repeated to fill the body; ASCII. */
  readonly text: string;
  /** True to continue sending after the answer. */
  readonly isStubborn: boolean;
  /** False to keep the connection open without reading, until the next requests are sent. */
  readonly isReading: boolean;
}

export class RawConnections {
  readonly #worker = new Worker(new URL('./raw-connections.worker.mjs', import.meta.url));

  constructor(private readonly port: number) {}

  /** Resolves with the status of each answer; 0 if none was received or read. */
  async send(requests: readonly RawRequest[]): Promise<readonly number[]> {
    const answered = once(this.#worker, 'message') as Promise<[readonly number[]]>;
    this.#worker.postMessage({ port: this.port, requests });
    return (await answered)[0];
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
