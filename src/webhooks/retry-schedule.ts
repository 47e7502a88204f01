/** When a failed delivery is tried again. */
import type { WebhookSettings } from './types.js';

export interface NextAttempt {
  readonly waitMs: number;
  /** True for the first, short waits, during which later events of the same subject wait too. */
  readonly isSoon: boolean;
}

export class RetrySchedule {
  private readonly soonMs: readonly number[];
  private readonly laterMs: readonly number[];

  /** `random` gives numbers from 0 to 1. */
  constructor(
    private readonly settings: Pick<WebhookSettings, 'retry_seconds' | 'queue_retry_minutes' | 'jitter_percent'>,
    private readonly random: () => number = Math.random,
  ) {
    this.soonMs = settings.retry_seconds.map((seconds) => seconds * 1000);
    this.laterMs = settings.queue_retry_minutes.map((minutes) => minutes * 60_000);
  }

  /** After so many failed attempts; undefined where the delivery is to be set aside. Jitter only ever adds. */
  after(failedAttempts: number): NextAttempt | undefined {
    const position = failedAttempts - 1;
    const base = this.soonMs[position] ?? this.laterMs[position - this.soonMs.length];
    if (base === undefined) return undefined;
    const jitter = (this.random() * this.settings.jitter_percent) / 100;
    return { waitMs: Math.round(base * (1 + jitter)), isSoon: position < this.soonMs.length };
  }
}
