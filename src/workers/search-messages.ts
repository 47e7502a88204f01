/** What travels between the main thread and a search worker; all of it can be cloned. */
import type { RelatedTask, SearchTask, SuggestTask } from '../search/index.js';
import type { AbbreviationTask } from '../synonyms/index.js';
import type { WorkerReply } from './worker-reply.js';

/** What search workers do; each is answered with the bytes of a body. */
export type SearchPoolTask = SearchTask | SuggestTask | RelatedTask | AbbreviationTask;

export type SearchWorkerMessage =
  | { readonly kind: 'batch'; readonly tasks: readonly SearchPoolTask[] }
  /** Refused unless the pool was made for testing. */
  | { readonly kind: 'die'; readonly how: WorkerDeath };

/** An uncaught exception, an exit, or running out of memory. */
export type WorkerDeath = 'throw' | 'exit' | 'memory';

/** Where an answer's body lies in the bytes of its batch. */
export interface SearchAnswerRange {
  readonly begin: number;
  readonly end: number;
  readonly totalCount: number;
  readonly workerMs: number;
}

export interface SearchBatchAnswer {
  /** The bodies of all answers, one after the other; transferred. */
  readonly bytes: ArrayBuffer;
  /** One a task, in their order. */
  readonly replies: readonly WorkerReply<SearchAnswerRange>[];
}

/** `workerData` of search workers. */
export interface SearchWorkerData {
  readonly testing: boolean;
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}
