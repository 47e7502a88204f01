/** What travels to a search worker, all of it to be cloned; what comes back is in batch-answer.ts. */
import type { RecordsTask, RecordTask, RelatedTask, SearchTask, SuggestTask } from '../search/index.js';
import type { AbbreviationTask } from '../synonyms/index.js';

/** What search workers do; each is answered with the bytes of a body. */
export type SearchPoolTask = (SearchTask | SuggestTask | RelatedTask | AbbreviationTask | RecordsTask | RecordTask) & {
  /** Bytes of its answer, for which there is room; undefined: as many as a worker builds without asking. */
  readonly answerBytesMax?: number;
};

export type SearchWorkerMessage =
  | { readonly kind: 'batch'; readonly tasks: readonly SearchPoolTask[] }
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
