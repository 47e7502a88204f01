/** What travels to a search worker, all of it to be cloned; what comes back is in batch-answer.ts. */
import type { BatchChannelEnd } from './batch-channel.js';
import type { CandidatesTask, RecordsTask, RecordTask, RelatedTask, SearchTask, SuggestTask } from '../search/index.js';

/** What search workers do; each is answered with the bytes of a body. */
export type SearchPoolTask = (SearchTask | CandidatesTask | SuggestTask | RelatedTask | RecordsTask | RecordTask) & {
  /** Bytes of its answer, for which there is room; undefined: as many as a worker builds without asking. */
  readonly answerBytesMax?: number;
};

/** Some searches, and what stops each. */
export interface SearchBatch {
  readonly kind: 'batch';
  readonly tasks: readonly SearchPoolTask[];
  /** Per task two: the kernel's flag that is raised when nobody waits for it any more; when its time is over, on the kernel's clock. */
  readonly stops: readonly number[];
  /** What each may take before it is given back unfinished; Infinity: whatever it needs. */
  readonly sliceMs: number;
}

export type SearchWorkerMessage =
  | SearchBatch
  /** Refused unless the pool was made for testing. */
  | { readonly kind: 'die'; readonly how: WorkerDeath };

/** What a search worker is started for: one message, or all that come through a channel. */
export type SearchWorkerStart = SearchWorkerMessage | { readonly kind: 'serve'; readonly end: BatchChannelEnd };

/** An uncaught exception, an exit, or running out of memory. */
export type WorkerDeath = 'throw' | 'exit' | 'memory';

/** `workerData` of search workers. */
export interface SearchWorkerData {
  readonly testing: boolean;
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}
