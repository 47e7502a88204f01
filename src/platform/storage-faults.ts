/**
 * Which databases beside the lists cannot be read at the moment, by their folders, for whoever asks how the service stands. Who uses one tells
 * of it, and goes on trying by itself. Main thread only.
 */
import type { Logger } from 'pino';

/** What is still so is said again so often, with how often it was tried meanwhile. */
const NEWS_MS = 600_000;

interface Fault {
  readonly sinceMs: number;
  newsMs: number;
  count: number;
}

export class StorageFaults {
  readonly #faults = new Map<string, Fault>();

  constructor(
    private readonly log: Pick<Logger, 'error' | 'info'>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** By their folders from the data directory, such as `queue`. */
  unreadable(): string[] {
    return [...this.#faults.keys()].sort();
  }

  has(folder: string): boolean {
    return this.#faults.has(folder);
  }

  /** It could not be read. The first time is logged, and then that it lasts, now and then. `reason`: a sentence. */
  met(folder: string, reason: string): void {
    const nowMs = this.nowMs();
    const known = this.#faults.get(folder);
    const fault = known ?? { sinceMs: nowMs, newsMs: nowMs, count: 0 };
    fault.count += 1;
    this.#faults.set(folder, fault);
    if (known !== undefined && nowMs < fault.newsMs + NEWS_MS) return;
    fault.newsMs = nowMs;
    this.log.error({ folder, reason, count: fault.count }, 'A database cannot be read; it is left as it is');
  }

  /** It can be read again. */
  gone(folder: string): void {
    const fault = this.#faults.get(folder);
    if (fault === undefined) return;
    this.#faults.delete(folder);
    const seconds = Math.round((this.nowMs() - fault.sinceMs) / 1000);
    this.log.info({ folder, count: fault.count, seconds }, 'A database can be read again');
  }
}
