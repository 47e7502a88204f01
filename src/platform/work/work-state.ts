/** Place and state of an item of work, for the indexes of it (`newest-work.ts`, `work-counts.ts`). */
export type WorkState =
  { readonly kind: 'waiting'; readonly dueMs: number } | { readonly kind: 'set-aside'; readonly reason: string };

export interface WorkPlace {
  readonly lane: string;
  readonly number: number;
  readonly subject: string;
}
