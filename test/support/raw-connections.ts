/** Connections that send what they like, all at the same time, and read the answers or do not. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface RawRequest {
  /** Request line and headers, without `Content-Length`. */
  readonly head: readonly string[];
  readonly bodyBytes: number;
  /** Repeated until the body has its length; ASCII. */
  readonly text: string;
  /** Goes on sending when the answer is there. */
  readonly isStubborn: boolean;
  /** False: stays open, reading nothing, until the next requests are sent. */
  readonly isReading: boolean;
}

export class RawConnections {
  readonly #worker = new Worker(new URL('./raw-connections.worker.mjs', import.meta.url));

  constructor(private readonly port: number) {}

  /** Resolves with the status of each answer, 0 where none came or was read. */
  async send(requests: readonly RawRequest[]): Promise<readonly number[]> {
    const answered = once(this.#worker, 'message') as Promise<[readonly number[]]>;
    this.#worker.postMessage({ port: this.port, requests });
    return (await answered)[0];
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
