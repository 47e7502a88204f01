/**
 * How many items of a lane wait, and how many were set aside for which reason.
 *
 *   counts   [lane, reason, or '' for those that wait] → items, one at least
 *
 * It is written in the transactions that change the queue, so that it is exact, also after a crash.
 */
import type { Database } from 'lmdb';
import type { WorkState } from './work-state.js';

type CountKey = [lane: string, reason: string];

const WAITING = '';
const UNNAMED = 'unknown';
/** It is part of a key. */
const REASON_CHARACTERS_MAX = 100;
const AFTER_ALL_TEXT = '\u{10FFFF}';

export interface WorkFigures {
  /** To be tried, or under way. */
  readonly pending: number;
  readonly failed: number;
  /** Of those that failed. */
  readonly reasons: Readonly<Record<string, number>>;
}

export class WorkCounts {
  constructor(private readonly counts: Database<number, CountKey>) {}

  /** Inside a transaction. */
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
