/** A pool of workers, each used by one caller at a time; other callers wait in order. Main thread only. */
import type { Host } from './host.js';
import type { Protocol } from './protocol.js';

type Take<P extends Protocol> = (host: Host<P>) => void;

export class HostPool<P extends Protocol> {
  readonly #free: Host<P>[];
  readonly #waiting: Take<P>[] = [];
  /** Callers that go before those in `#waiting`. */
  readonly #waitingFirst: Take<P>[] = [];

  constructor(private readonly hosts: readonly Host<P>[]) {
    this.#free = hosts.toReversed();
  }

  get size(): number {
    return this.hosts.length;
  }

  /** Number of callers that wait for a worker. */
  get waiting(): number {
    return this.#waiting.length + this.#waitingFirst.length;
  }

  /** Number of waiting callers that go before others. */
  get waitingFirst(): number {
    return this.#waitingFirst.length;
  }

  /**
   * Runs the action with a worker: the one used last, so that those not needed can end. Rejects as the action does, or
   * with the signal's reason as soon as it is aborted while waiting. `first`: goes before all that wait without it.
   */
  async use<Result>(
    action: (host: Host<P>) => Promise<Result>,
    signal?: AbortSignal,
    { first = false }: { readonly first?: boolean } = {},
  ): Promise<Result> {
    const host = await this.#taken(first ? this.#waitingFirst : this.#waiting, signal);
    try {
      return await action(host);
    } finally {
      const next = this.#waitingFirst.shift() ?? this.#waiting.shift();
      if (next === undefined) this.#free.push(host);
      else next(host);
    }
  }

  /** Starts a worker if none runs, so that the first caller need not wait for it. */
  warm(start: (host: Host<P>) => void): void {
    const [host] = this.#free.slice(-1);
    if (host !== undefined && !this.hosts.some(({ isRunning }) => isRunning)) start(host);
  }

  async close(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.close()));
  }

  async #taken(waiting: Take<P>[], signal: AbortSignal | undefined): Promise<Host<P>> {
    signal?.throwIfAborted();
    const host = this.#free.pop();
    if (host !== undefined) return host;
    return new Promise((resolve, reject) => {
      const take = (given: Host<P>) => {
        signal?.removeEventListener('abort', leave);
        resolve(given);
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(take), 1);
        reject(signal?.reason as Error);
      };
      waiting.push(take);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
