/**
 * Counts the items of a lane that wait, and those set aside by reason.
 *
 *   counts   [lane, reason, or '' for those that wait] → items, one at least
 *
 * Written in the transactions that change the queue, so the counts are exact, also after a crash.
 */
import type { Database } from 'lmdb';
import type { WorkState } from './work-state.js';

type CountKey = [lane: string, reason: string];

const WAITING = '';
const UNNAMED = 'unknown';
/** A reason is part of a key, so its length is bounded. */
const REASON_CHARACTERS_MAX = 100;
const AFTER_ALL_TEXT = '\u{10FFFF}';

export interface WorkFigures {
  /** Items that wait or are in progress. */
  readonly pending: number;
  readonly failed: number;
  /** Number of failed items by reason. */
  readonly reasons: Readonly<Record<string, number>>;
}

export class WorkCounts {
  constructor(private readonly counts: Database<number, CountKey>) {}

  /** Updates the counts, inside a transaction. */
  changed(lane: string, before: WorkState | undefined, after: WorkState | undefined): void {
    if (before !== undefined) this.add([lane, reasonOf(before)], -1);
    if (after !== undefined) this.add([lane, reasonOf(after)], 1);
  }

  of(lane: string): WorkFigures {
    const range = this.counts.getRange({ start: [lane, WAITING], end: [lane, AFTER_ALL_TEXT] });
    const rows = Array.from(range, ({ key: [, reason], value }) => ({ reason, items: value }));
    const failed = rows.filter(({ reason }) => reason !== WAITING);
    return {
      pending: rows.find(({ reason }) => reason === WAITING)?.items ?? 0,
      failed: failed.reduce((sum, { items }) => sum + items, 0),
      reasons: Object.fromEntries(failed.map(({ reason, items }) => [reason, items])),
    };
  }

  private add(key: CountKey, change: number): void {
    const items = (this.counts.get(key) ?? 0) + change;
    if (items === 0) this.counts.removeSync(key);
    else void this.counts.putSync(key, items);
  }
}

function reasonOf(state: WorkState): string {
  if (state.kind === 'waiting') return WAITING;
  return state.reason === '' ? UNNAMED : state.reason.slice(0, REASON_CHARACTERS_MAX);
}
