/**
 * How many connections there may be: each takes a descriptor, and where none is left the library asks for the next connection again and again,
 * which takes the main thread a whole processor and answers nobody. So a connection for which there is no room is closed as soon as it is made, and
 * its client knows at once. Main thread only.
 */
import type { Logger } from 'pino';
import { describeUse, descriptorUse, type Metrics, type ResourceUse } from '../platform/index.js';

/** So many have room without a look at the limits. */
const ALWAYS = 32;
/** Of the limit: what is left to everything else, beside what that has now. */
const LEFT_PART = 1 / 8;
const LEFT = { min: 64, max: 1024 };
/** What is not a connection is counted so often at the most. */
const COUNTED_ANEW_MS = 1000;
/** For so long after a refusal the others are no news. */
const NEWS_MS = 60_000;

export class ConnectionRoom {
  #open = 0;
  #use: ResourceUse | undefined;
  /** Descriptors that are none of connections. */
  #others = 0;
  #countedMs = -Infinity;
  #newsMs = -Infinity;

  /** `refused`: a connection had no room; `isNews`: the first for a while. `use`: of descriptors; undefined where the system does not tell, and there is always room. */
  constructor(
    private readonly refused: (use: ResourceUse, isNews: boolean) => void,
    private readonly use: () => ResourceUse | undefined = descriptorUse,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** One was made. False: it has to be closed, for which `leave` is called as for any other. */
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

  /** One is gone. */
  leave(): void {
    this.#open -= 1;
  }

  #count(nowMs: number): void {
    this.#countedMs = nowMs;
    this.#use = this.use();
    this.#others = (this.#use?.used ?? 0) - this.#open;
  }
}

/** Counts refusals and writes them to the log. */
export function loggedConnectionRoom(log: Logger, metrics: Pick<Metrics, 'connectionsRefused'>): ConnectionRoom {
  return new ConnectionRoom((use, isNews) => {
    metrics.connectionsRefused.inc();
    if (isNews) log.warn({ use: describeUse(use) }, 'Connections are refused: raise the limit of descriptors');
  });
}

function leftOf({ max }: ResourceUse): number {
  return Math.min(LEFT.max, Math.max(LEFT.min, max * LEFT_PART));
}
