/**
 * Registers which databases (other than those of lists) cannot be read at the moment, by their folders, for the state
 * of the service. Their users report here, and keep retrying themselves. Main thread only.
 */
import type { Logger } from 'pino';

/** Interval at which a lasting fault is logged again, with the number of attempts. */
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

  /** Folders relative to the data directory, such as `queue`. */
  unreadable(): string[] {
    return [...this.#faults.keys()].sort();
  }

  has(folder: string): boolean {
    return this.#faults.has(folder);
  }

  /** Reports that a database could not be read. Logs the first time, and then at intervals. `reason`: a sentence. */
  met(folder: string, reason: string): void {
    const nowMs = this.nowMs();
    const known = this.#faults.get(folder);
    const fault = known ?? { sinceMs: nowMs, newsMs: nowMs, count: 0 };
    fault.count += 1;
    this.#faults.set(folder, fault);
    if (known !== undefined && nowMs < fault.newsMs + NEWS_MS) return;
    fault.newsMs = nowMs;
    this.log.error({ folder, reason, count: fault.count }, 'A database cannot be read; leaving it unchanged');
  }

  /** Reports that the database can be read again. */
  gone(folder: string): void {
    const fault = this.#faults.get(folder);
    if (fault === undefined) return;
    this.#faults.delete(folder);
    const seconds = Math.round((this.nowMs() - fault.sinceMs) / 1000);
    this.log.info({ folder, count: fault.count, seconds }, 'A database can be read again');
  }
}
