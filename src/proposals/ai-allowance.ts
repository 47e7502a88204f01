/**
 * Limits the proposals of models per account and week, which begins on Monday at 00:00 UTC. Stored in `data/system`.
 * Main thread only.
 */
import { accountsIn, CollectionStore, type Collection } from '../catalog/index.js';
import type { Clock, LmdbEnvironment } from '../platform/index.js';

const DAY_MS = 86_400_000;
const WEEK_DAYS = 7;
/** 1 January 1970 was a Thursday. */
const MONDAY_BEFORE_EPOCH_DAYS = 3;

interface SpentRow {
  readonly account: string;
  /** Weeks since the Monday before 1970. */
  readonly week: number;
  readonly spent: number;
  /** The last earlier week with any. Needed if a clock that was ahead is set back. */
  readonly before?: Pick<SpentRow, 'week' | 'spent'>;
}

export interface Allowance {
  readonly used: number;
  readonly limit: number;
  /** Beginning of the next week. ISO 8601. */
  readonly resets_utc: string;
}

export class AiAllowance {
  readonly #store: CollectionStore;
  readonly #rows: Collection<SpentRow>;
  /** Reserved proposals by account. Lost with the process, as the requests are. */
  readonly #reserved = new Map<string, number>();

  constructor(
    environment: LmdbEnvironment,
    private readonly options: { readonly clock: Clock; readonly limit: number },
  ) {
    this.#store = CollectionStore.of(environment);
    this.#rows = this.#store.collection('ai-allowance');
  }

  of(account: string): Allowance {
    const { limit } = this.options;
    return { used: this.#spent(account), limit, resets_utc: new Date(weekStartMs(this.#week() + 1)).toISOString() };
  }

  /**
   * Reserves up to `wanted` of what is left and returns how many; 0 if nothing is left. `spend` returns the
   * reservation.
   */
  reserve(account: string, wanted: number): number {
    const reserved = this.#reserved.get(account) ?? 0;
    const left = Math.max(0, this.options.limit - this.#spent(account) - reserved);
    const kept = Math.min(left, wanted);
    if (kept > 0) this.#reserved.set(account, reserved + kept);
    return kept;
  }

  /** Ends a reservation of which `used` were used. Resolves when they are on disk. */
  async spend(account: string, reserved: number, used: number): Promise<void> {
    try {
      if (used === 0) return;
      await this.#store.change((change) => {
        if (!accountsIn(this.#store).has(account)) return;
        change.put(this.#rows, account, this.#grown(account, used));
      });
    } finally {
      const left = (this.#reserved.get(account) ?? 0) - reserved;
      if (left > 0) this.#reserved.set(account, left);
      else this.#reserved.delete(account);
    }
  }

  async forget(account: string): Promise<void> {
    if (this.#rows.has(account)) await this.#store.change((change) => change.remove(this.#rows, account));
  }

  #spent(account: string): number {
    const row = this.#rows.get(account);
    return [row, row?.before].find((each) => each?.week === this.#week())?.spent ?? 0;
  }

  /** Returns the row with `more` added to this week. */
  #grown(account: string, more: number): SpentRow {
    const week = this.#week();
    const row = this.#rows.get(account);
    const before = row?.week === week ? row.before : row && { week: row.week, spent: row.spent };
    return { account, week, spent: this.#spent(account) + more, ...(before && { before }) };
  }

  #week(): number {
    return Math.floor((this.options.clock.nowMs() / DAY_MS + MONDAY_BEFORE_EPOCH_DAYS) / WEEK_DAYS);
  }
}

function weekStartMs(week: number): number {
  return (week * WEEK_DAYS - MONDAY_BEFORE_EPOCH_DAYS) * DAY_MS;
}
