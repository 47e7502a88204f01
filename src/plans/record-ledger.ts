/**
 * Number of records in the lists of accounts. A changed list is counted again only when somebody asks, so that for
 * accounts without limits a commit costs one map access. Main thread only.
 */
import type { Catalog } from '../catalog/index.js';
import type { ListIndexes } from '../index/index.js';

interface AccountLists {
  readonly counts: Map<string, number>;
  /** Lists whose count may have changed. */
  readonly changed: Set<string>;
  sum: number;
}

export class RecordLedger {
  readonly #accounts = new Map<string, AccountLists>();
  readonly #accountOfList = new Map<string, string>();
  readonly #indexes: Pick<ListIndexes, 'recordCount'>;
  readonly #catalog: Pick<Catalog, 'lists'>;
  /** Accounts whose lists have all been counted once; some may never have been opened. */
  readonly #complete = new Set<string>();

  constructor(indexes: Pick<ListIndexes, 'recordCount'>, catalog: Pick<Catalog, 'lists'>) {
    this.#indexes = indexes;
    this.#catalog = catalog;
  }

  changed(account: string, listId: string): void {
    this.#accountOfList.set(listId, account);
    let lists = this.#accounts.get(account);
    if (lists === undefined) this.#accounts.set(account, (lists = { counts: new Map(), changed: new Set(), sum: 0 }));
    lists.changed.add(listId);
  }

  removed(listId: string): void {
    const account = this.#accountOfList.get(listId);
    const lists = account === undefined ? undefined : this.#accounts.get(account);
    if (account === undefined || lists === undefined) return;
    this.#accountOfList.delete(listId);
    lists.sum -= lists.counts.get(listId) ?? 0;
    lists.counts.delete(listId);
    lists.changed.delete(listId);
    if (lists.counts.size === 0 && lists.changed.size === 0) this.#accounts.delete(account);
  }

  accountOf(listId: string): string | undefined {
    return this.#accountOfList.get(listId);
  }

  listsOf(account: string): readonly string[] {
    this.#completeLists(account);
    const lists = this.#accounts.get(account);
    return lists === undefined ? [] : [...new Set([...lists.counts.keys(), ...lists.changed])];
  }

  /** Returns the records of the current versions. A list whose index is unavailable keeps its last count. */
  records(account: string): number {
    this.#completeLists(account);
    const lists = this.#accounts.get(account);
    if (lists === undefined) return 0;
    for (const listId of lists.changed) {
      const count = this.#countOf(listId);
      if (count === undefined) continue;
      lists.sum += count - (lists.counts.get(listId) ?? 0);
      lists.counts.set(listId, count);
      lists.changed.delete(listId);
    }
    return lists.sum;
  }

  /** Forgets a deleted account. */
  forget(account: string): void {
    this.#complete.delete(account);
  }

  #completeLists(account: string): void {
    if (this.#complete.has(account)) return;
    this.#complete.add(account);
    for (const { id } of this.#catalog.lists(account)) {
      if (!this.#accountOfList.has(id)) this.changed(account, id);
    }
  }

  #countOf(listId: string): number | undefined {
    return this.#indexes.recordCount(listId);
  }
}
