/** When a failed attempt is repeated. */
export interface NextAttempt {
  readonly waitMs: number;
  /** True for the first, short waits, during which later work of the same subject waits, too. */
  readonly isSoon: boolean;
}

export interface RetryScheduleOptions {
  /** The first waits, during which later work of the same subject waits, too. */
  readonly soonMs: readonly number[];
  readonly laterMs: readonly number[];
  /** Random addition to a wait, in percent of it, so that what failed together is not retried together. */
  readonly jitterPercent: number;
  /** Returns numbers from 0 to 1. */
  readonly random?: (() => number) | undefined;
}

export class RetrySchedule {
  constructor(private readonly options: RetryScheduleOptions) {}

  /** Longest wait between two attempts. */
  get longestMs(): number {
    const { soonMs, laterMs, jitterPercent } = this.options;
    return Math.max(0, ...soonMs, ...laterMs) * (1 + jitterPercent / 100);
  }

  /** Returns the wait after so many failed attempts; undefined if the item is to be set aside. Jitter only adds. */
  after(failedAttempts: number): NextAttempt | undefined {
    const { soonMs, laterMs, jitterPercent, random = Math.random } = this.options;
    const position = failedAttempts - 1;
    const base = soonMs[position] ?? laterMs[position - soonMs.length];
    if (base === undefined) return undefined;
    const jitter = (random() * jitterPercent) / 100;
    return { waitMs: Math.round(base * (1 + jitter)), isSoon: position < soonMs.length };
  }
}
