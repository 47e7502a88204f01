/**
 * Searches that took longer than what may hold others up, so that the next of the same kind does not try first whether it does.
 * What is dear is decided by what is matched, counted and sorted, not by the page that is shown.
 */
import { BoundedMap } from '../platform/index.js';
import { costKey } from '../search/index.js';
import type { AskedSearch } from './pending-search.js';

const KEPT_MAX = 1024;

type Asked = Pick<AskedSearch, 'task' | 'account'>;

export class DearSearches {
  /** In the order in which they were noted. */
  private readonly known = new BoundedMap<string, true>(KEPT_MAX);

  note(search: Asked): void {
    const key = keyOf(search);
    if (key === undefined) return;
    this.known.renew(key, true);
  }

  /** It was quick after all: its list has changed, or the machine was busy. */
  forget(search: Asked): void {
    const key = keyOf(search);
    if (key !== undefined) this.known.delete(key);
  }

  has(search: Asked): boolean {
    // Mostly there are none, and then nothing is worked out.
    if (this.known.size === 0) return false;
    const key = keyOf(search);
    return key !== undefined && this.known.has(key);
  }
}

/** Lists of two accounts may have one name. */
function keyOf({ task, account }: Asked): string | undefined {
  if (task.kind !== 'search') return undefined;
  return JSON.stringify([account, task.subject, costKey(task.options)]);
}
