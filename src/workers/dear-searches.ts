/**
 * Remembers expensive searches, so that the next one of the same kind does not first use up a slice. Expensive are
 * searches by what they match, count and sort, not by the page that they show.
 */
import { BoundedMap } from '../platform/index.js';
import { costKey } from '../search/index.js';
import type { AskedSearch } from './pending-search.js';

const KEPT_MAX = 1024;

type Asked = Pick<AskedSearch, 'task' | 'account'>;

export class DearSearches {
  /** Keys in the order in which they were noted. */
  private readonly known = new BoundedMap<string, true>(KEPT_MAX);

  note(search: Asked): void {
    const key = keyOf(search);
    if (key === undefined) return;
    this.known.renew(key, true);
  }

  /** The search was quick after all: its list has changed, or the machine was busy before. */
  forget(search: Asked): void {
    const key = keyOf(search);
    if (key !== undefined) this.known.delete(key);
  }

  has(search: Asked): boolean {
    // Mostly there are none, and no key needs to be computed.
    if (this.known.size === 0) return false;
    const key = keyOf(search);
    return key !== undefined && this.known.has(key);
  }
}

/** Includes the account, since lists of two accounts may have the same name. */
function keyOf({ task, account }: Asked): string | undefined {
  if (task.kind !== 'search') return undefined;
  return JSON.stringify([account, task.subject, costKey(task.options)]);
}
