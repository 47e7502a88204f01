/** When a failed attempt is made again. */
export interface NextAttempt {
  readonly waitMs: number;
  /** True for the first, short waits, during which later work of the same subject waits too. */
  readonly isSoon: boolean;
}

export interface RetryScheduleOptions {
  /** The first waits, during which later work of the same subject waits too. */
  readonly soonMs: readonly number[];
  readonly laterMs: readonly number[];
  /** Of a wait, added at random: what failed together is not tried again together. */
  readonly jitterPercent: number;
  /** Gives numbers from 0 to 1. */
  readonly random?: (() => number) | undefined;
}

export class RetrySchedule {
  constructor(private readonly options: RetryScheduleOptions) {}

  /** Longer than this no failed attempt waits for the next. */
  get longestMs(): number {
    const { soonMs, laterMs, jitterPercent } = this.options;
    return Math.max(0, ...soonMs, ...laterMs) * (1 + jitterPercent / 100);
  }

  /** After so many failed attempts; undefined where the item is to be set aside. Jitter only ever adds. */
  after(failedAttempts: number): NextAttempt | undefined {
    const { soonMs, laterMs, jitterPercent, random = Math.random } = this.options;
    const position = failedAttempts - 1;
    const base = soonMs[position] ?? laterMs[position - soonMs.length];
    if (base === undefined) return undefined;
    const jitter = (random() * jitterPercent) / 100;
    return { waitMs: Math.round(base * (1 + jitter)), isSoon: position < soonMs.length };
  }
}
