/** What travels to a search worker; what comes back is in batch-answer.ts. */
import type { RelatedTask, SearchTask, SuggestTask } from '../search/index.js';
import type { AbbreviationTask } from '../synonyms/index.js';

/** What search workers do; each is answered with the bytes of a body. All of it is JSON. */
export type SearchPoolTask = SearchTask | SuggestTask | RelatedTask | AbbreviationTask;

export type SearchWorkerMessage =
  /** JSON of the tasks: cloning takes several times as long for objects as for one text, and for making that. */
  | { readonly kind: 'batch'; readonly tasksJson: string }
  /** Refused unless the pool was made for testing. */
  | { readonly kind: 'die'; readonly how: WorkerDeath };

/** An uncaught exception, an exit, or running out of memory. */
export type WorkerDeath = 'throw' | 'exit' | 'memory';

/** `workerData` of search workers. */
export interface SearchWorkerData {
  readonly testing: boolean;
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}

export function batchMessage(tasks: readonly SearchPoolTask[]): SearchWorkerMessage {
  return { kind: 'batch', tasksJson: JSON.stringify(tasks) };
}

export function tasksOf({ tasksJson }: Extract<SearchWorkerMessage, { kind: 'batch' }>): readonly SearchPoolTask[] {
  return JSON.parse(tasksJson) as readonly SearchPoolTask[];
}
