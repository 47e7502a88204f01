/**
 * Limits the connections, since each takes a descriptor. If none is left, the library keeps asking for the next
 * connection, which takes the main thread a whole processor and answers nobody. So a connection for which there is no
 * room is closed as soon as it is made, and its client knows at once. Main thread only.
 */
import type { Logger } from 'pino';
import { describeUse, descriptorUse, type Metrics, type ResourceUse } from '../platform/index.js';

/** Number of connections that have room without a look at the limits. */
const ALWAYS = 32;
/** Share of the limit kept free for everything else, in addition to what that uses now. */
const LEFT_PART = 1 / 8;
const LEFT = { min: 64, max: 1024 };
/** Minimum interval of counting the descriptors used otherwise. */
const COUNTED_ANEW_MS = 1000;
/** Minimum interval between refusals that are reported as news. */
const NEWS_MS = 60_000;

export class ConnectionRoom {
  #open = 0;
  #use: ResourceUse | undefined;
  /** Descriptors not used by connections. */
  #others = 0;
  #countedMs = -Infinity;
  #newsMs = -Infinity;

  /**
   * `refused`: called for a connection without room; `isNews`: the first for a while. `use`: returns the use of
   * descriptors, undefined if the system does not report it, in which case there is always room.
   */
  constructor(
    private readonly refused: (use: ResourceUse, isNews: boolean) => void,
    private readonly use: () => ResourceUse | undefined = descriptorUse,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Counts a new connection. False: it must be closed, which calls `leave` as for any other. */
  enter(): boolean {
    this.#open += 1;
    if (this.#open <= ALWAYS) return true;
    const nowMs = this.nowMs();
    if (nowMs >= this.#countedMs + COUNTED_ANEW_MS) this.#count(nowMs);
    if (this.#use === undefined) return true;
    const used = this.#others + this.#open;
    if (used + leftOf(this.#use) <= this.#use.max) return true;
    const isNews = nowMs >= this.#newsMs + NEWS_MS;
    if (isNews) this.#newsMs = nowMs;
    this.refused({ ...this.#use, used }, isNews);
    return false;
  }

  /** Counts the end of a connection. */
  leave(): void {
    this.#open -= 1;
  }

  #count(nowMs: number): void {
    this.#countedMs = nowMs;
    this.#use = this.use();
    this.#others = (this.#use?.used ?? 0) - this.#open;
  }
}

/** Creates a room that counts refusals and logs them. */
export function loggedConnectionRoom(log: Logger, metrics: Pick<Metrics, 'connectionsRefused'>): ConnectionRoom {
  return new ConnectionRoom((use, isNews) => {
    metrics.connectionsRefused.inc();
    if (isNews)
      log.warn({ use: describeUse(use) }, 'Refusing connections: raise the limit of file descriptors (ulimit -n)');
  });
}

function leftOf({ max }: ResourceUse): number {
  return Math.min(LEFT.max, Math.max(LEFT.min, max * LEFT_PART));
}
