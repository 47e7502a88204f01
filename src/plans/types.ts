/** Plans: how much an account may have. */

/** What a plan can limit, in the order in which it is shown. */
export const LIMITS = ['records', 'storage_bytes', 'searches_a_month', 'lists', 'feeds'] as const;
export type Limit = (typeof LIMITS)[number];

export interface Plan {
  readonly name: string;
  /** A limit that is left out is none. */
  readonly limits: Readonly<Partial<Record<Limit, number>>>;
  /** The plan that an account gets near a limit of this one. */
  readonly successor: string | undefined;
}

/** Of an account that nobody has given one: as much as it likes. */
export const UNLIMITED: Plan = Object.freeze({ name: 'default', limits: Object.freeze({}), successor: undefined });

/** On which plan an account is; none for those of `UNLIMITED`. */
export interface SubscriptionRecord {
  readonly account: string;
  readonly plan: string;
  readonly since_utc: string;
}

/** The searches of an account in a month. */
export interface MonthRecord {
  /** `2026-11`, in UTC. */
  readonly month: string;
  readonly searches: number;
  /** Of the month that it searched in before: a clock that was ahead for a while leads back to it. */
  readonly before?: Pick<MonthRecord, 'month' | 'searches'>;
}
