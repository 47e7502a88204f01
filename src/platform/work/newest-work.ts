/**
 * Finds the item of a subject, for kinds of work that keep only the newest one.
 *
 *   subjects   [lane, subject] → [number, due ms, or null if it is set aside]
 *
 * All methods are called inside transactions of the queue.
 */
import type { Database } from 'lmdb';
import type { WorkPlace, WorkState } from './work-state.js';

type SubjectKey = [lane: string, subject: string];

export class NewestWork {
  constructor(private readonly subjects: Database<[number: number, dueMs: number | null], SubjectKey>) {}

  find(lane: string, subject: string): { readonly number: number; readonly dueMs: number | null } | undefined {
    const found = this.subjects.get([lane, subject]);
    return found === undefined ? undefined : { number: found[0], dueMs: found[1] };
  }

  changed({ lane, number, subject }: WorkPlace, after: WorkState | undefined): void {
    if (after === undefined) this.subjects.removeSync([lane, subject]);
    else void this.subjects.putSync([lane, subject], [number, after.kind === 'waiting' ? after.dueMs : null]);
  }
}
