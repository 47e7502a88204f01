/** Types of plans, which limit what an account may have. */

/** What a plan can limit, in display order. */
export const LIMITS = ['records', 'storage_bytes', 'searches_a_month', 'lists', 'feeds'] as const;
export type Limit = (typeof LIMITS)[number];

export interface Plan {
  readonly name: string;
  /** An absent limit means unlimited. */
  readonly limits: Readonly<Partial<Record<Limit, number>>>;
  /** Plan that an account gets near a limit of this one. */
  readonly successor: string | undefined;
}

/** Plan of accounts without any other: no limits. */
export const UNLIMITED: Plan = Object.freeze({ name: 'default', limits: Object.freeze({}), successor: undefined });

/** Plan of an account. Accounts on `UNLIMITED` have none. */
export interface SubscriptionRecord {
  readonly account: string;
  readonly plan: string;
  readonly since_utc: string;
}

/** Searches of an account in a month. */
export interface MonthRecord {
  /** Such as `2026-11`, in UTC. */
  readonly month: string;
  readonly searches: number;
  /** The last earlier month with searches. Needed if a clock that was ahead is set back. */
  readonly before?: Pick<MonthRecord, 'month' | 'searches'>;
}
