/**
 * Searches of accounts in the current month (UTC). Counted in memory and written every few seconds; a killed process
 * loses the counts since then. Main thread only.
 */
import { accountsIn, CollectionStore, type Collection } from '../catalog/index.js';
import type { Clock, LmdbEnvironment } from '../platform/index.js';
import type { MonthRecord } from './types.js';

/** Accounts per transaction. */
const WRITTEN_MAX = 2000;
const SET_BACK_MS_MAX = 86_400_000;

interface Month {
  readonly name: string;
  readonly beginMs: number;
  readonly endMs: number;
}

export class SearchCounts {
  readonly #store: CollectionStore;
  readonly #rows: Collection<MonthRecord>;
  readonly #clock: Clock;
  /** Counts since the last write. */
  #unwritten = new Map<string, number>();
  #month: Month;

  constructor(environment: LmdbEnvironment, clock: Clock) {
    this.#store = CollectionStore.of(environment);
    this.#rows = this.#store.collection('searches-of-months');
    this.#clock = clock;
    this.#month = monthAt(clock.nowMs());
  }

  searched(account: string): void {
    this.#turn();
    this.#unwritten.set(account, (this.#unwritten.get(account) ?? 0) + 1);
  }

  searches(account: string): number {
    this.#turn();
    return this.#written(account) + (this.#unwritten.get(account) ?? 0);
  }

  /** Accounts that have searched since the last write. */
  get active(): readonly string[] {
    return [...this.#unwritten.keys()];
  }

  /** Writes the counts since the last write. If that fails, they are kept for the next one. */
  async write(): Promise<void> {
    this.#turn();
    const { name: month } = this.#month;
    const accounts = this.active;
    for (let first = 0; first < accounts.length; first += WRITTEN_MAX) {
      const added = accounts.slice(first, first + WRITTEN_MAX).map((account) => {
        return [account, this.#unwritten.get(account) ?? 0] as const;
      });
      await this.#store.change((change) => {
        for (const [account, searches] of added) {
          if (accountsIn(this.#store).has(account)) change.put(this.#rows, account, this.#grown(account, searches));
        }
      });
      if (month !== this.#month.name) return;
      for (const [account, searches] of added) this.#takeOff(account, searches);
    }
  }

  /** Removes the counts of a deleted account. */
  async forget(account: string): Promise<void> {
    this.#unwritten.delete(account);
    await this.#store.change((change) => {
      if (this.#rows.has(account)) change.remove(this.#rows, account);
    });
  }

  #written(account: string): number {
    const row = this.#rows.get(account);
    return [row, row?.before].find((each) => each?.month === this.#month.name)?.searches ?? 0;
  }

  /** Returns the row with `more` added to this month. */
  #grown(account: string, more: number): MonthRecord {
    const { name: month } = this.#month;
    const row = this.#rows.get(account);
    const before = row?.month === month ? row.before : row && { month: row.month, searches: row.searches };
    return { month, searches: this.#written(account) + more, ...(before && { before }) };
  }

  #takeOff(account: string, searches: number): void {
    const left = (this.#unwritten.get(account) ?? 0) - searches;
    if (left > 0) this.#unwritten.set(account, left);
    else this.#unwritten.delete(account);
  }

  /** Starts a new month at 0. If the clock was set back by up to a day, the month stays the same. */
  #turn(): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs < this.#month.endMs && nowMs >= this.#month.beginMs - SET_BACK_MS_MAX) return;
    this.#month = monthAt(nowMs);
    this.#unwritten = new Map();
  }
}

function monthAt(ms: number): Month {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const name = date.toISOString().slice(0, 'YYYY-MM'.length);
  return { name, beginMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
}
