/** Messages to a search worker, which are cloned; batch-answer.ts describes its answers. */
import type { BatchChannelEnd } from './batch-channel.js';
import type { CandidatesTask, RecordsTask, RecordTask, RelatedTask, SearchTask, SuggestTask } from '../search/index.js';

/** Tasks of search workers; each is answered with the bytes of a body. */
export type SearchPoolTask = (SearchTask | CandidatesTask | SuggestTask | RelatedTask | RecordsTask | RecordTask) & {
  /** Bytes of the answer for which room is reserved; undefined: as many as a worker builds without asking. */
  readonly answerBytesMax?: number;
};

/** A batch of searches, and what stops each. */
export interface SearchBatch {
  readonly kind: 'batch';
  readonly tasks: readonly SearchPoolTask[];
  /**
   * Two numbers per task: the kernel's flag that is raised when nobody waits for it any more, and its deadline by the
   * kernel's clock.
   */
  readonly stops: readonly number[];
  /**
   * Processor time in milliseconds that each search may take before it is given back unfinished, and wall time after
   * which the batch begins no other. Infinity: no limit.
   */
  readonly sliceMs: number;
}

export type SearchWorkerMessage =
  | SearchBatch
  /** Refused unless the pool was created for testing. */
  | { readonly kind: 'die'; readonly how: WorkerDeath };

/** What a search worker is started for: one message, or all messages of a channel. */
export type SearchWorkerStart = SearchWorkerMessage | { readonly kind: 'serve'; readonly end: BatchChannelEnd };

/** An uncaught exception, an exit, or running out of memory. */
export type WorkerDeath = 'throw' | 'exit' | 'memory';

/** `workerData` of search workers. */
export interface SearchWorkerData {
  readonly testing: boolean;
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}
