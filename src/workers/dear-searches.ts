/**
 * Searches that took longer than what may hold others up, so that the next of the same kind does not try first whether it does.
 * What is dear is decided by what is matched, counted and sorted, not by the page that is shown.
 */
import { BoundedMap } from '../platform/index.js';
import type { SearchPoolTask } from './search-messages.js';

const KEPT_MAX = 1024;

export class DearSearches {
  /** In the order in which they were noted. */
  private readonly known = new BoundedMap<string, true>(KEPT_MAX);

  note(task: SearchPoolTask): void {
    const key = keyOf(task);
    if (key === undefined) return;
    this.known.renew(key, true);
  }

  /** It was quick after all: its list has changed, or the machine was busy. */
  forget(task: SearchPoolTask): void {
    const key = keyOf(task);
    if (key !== undefined) this.known.delete(key);
  }

  has(task: SearchPoolTask): boolean {
    // Mostly there are none, and then nothing is worked out.
    if (this.known.size === 0) return false;
    const key = keyOf(task);
    return key !== undefined && this.known.has(key);
  }
}

function keyOf(task: SearchPoolTask): string | undefined {
  if (task.kind !== 'search') return undefined;
  const { subject, options } = task;
  const { query, match, filter, radius, order_by, facets, minimum_text_score, minimum_document_score } = options;
  const floors = [minimum_text_score, minimum_document_score];
  return JSON.stringify([subject, query, match, filter, radius, order_by, facets, floors]);
}
