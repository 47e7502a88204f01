/** What background work (merging, building versions) may do with its list. Main thread only. */
import type { Logger } from 'pino';
import type { Kernel } from '../../../native-bindings/index.js';
import type { Clock, Config, MemoryBudget, ProgressBoard } from '../../platform/index.js';
import type { ListState } from '../../store/index.js';
import type { Commit, EventTask, IngestResult, IngestTask } from '../contract/ingest-tasks.js';
import type { PublishedVersion } from './published-version.js';
import type { MergeTurns } from '../commit/merge-turns.js';
import type { StorePages } from '../commit/store-pages.js';

export interface BackgroundHost {
  readonly listPath: string;
  readonly kernel: Kernel;
  readonly log: Logger;
  readonly clock: Clock;
  readonly config: Pick<Config, 'ingest' | 'versions'>;
  readonly budget: MemoryBudget;
  readonly storePages: StorePages;
  readonly mergeTurns: MergeTurns;
  readonly progress: ProgressBoard;
  /** State of the last commit. */
  state(): ListState;
  published(version: number): PublishedVersion | undefined;
  newSegment(): number;
  exclusive<Result>(action: () => Promise<Result>): Promise<Result>;
  /** As `exclusive`, for work that must not delay writes. */
  between<Result>(action: () => Promise<Result>): Promise<Result>;
  /** Runs a task that commits nothing. */
  run<T extends IngestTask>(task: T, options?: { readonly signal?: AbortSignal }): Promise<IngestResult<T>>;
  /** Runs a task that commits. Like all methods below, only inside `exclusive` or `between`. */
  runCommit<T extends IngestTask>(task: T): Promise<IngestResult<T>>;
  publishCommit(commit: Commit): void;
  /** Adopts the state of a commit that changed which vectors the list is searched by: every version is reopened. */
  reopen(state: ListState): void;
  /** Opens a version that was just recorded. */
  addVersion(state: ListState, version: number): void;
  /**
   * Waits for the searches of the version, then removes it in a turn of its own. Must not be called inside `exclusive`
   * or `between`.
   */
  dropVersion(version: number): Promise<void>;
  /** Versions that have databases in the store and are not in the state. */
  orphanedVersions(): readonly number[];
  /** What a task needs to know about listeners to events. Call it in the turn of the step. */
  eventTask(): EventTask | undefined;
  /**
   * Runs the action with the part that all writing tasks have in common, whose generations are leased until the action
   * is done. Call it in the turn of the step.
   */
  withWritingTask<Result>(action: (part: WritingTaskPart) => Promise<Result>): Promise<Result>;
}

export type WritingTaskPart = Omit<
  Extract<IngestTask, { kind: 'build-step' }>,
  'kind' | 'recordsMax' | 'bytesMax' | 'building'
> & {
  readonly building: Extract<IngestTask, { kind: 'write-batch' }>['building'];
};
