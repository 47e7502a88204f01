/** What background work (merging, building of versions) may do with its list. Main thread only. */
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
  /** The state of the last commit. */
  state(): ListState;
  published(version: number): PublishedVersion | undefined;
  newSegment(): number;
  exclusive<Result>(action: () => Promise<Result>): Promise<Result>;
  /** As `exclusive`, for what no write need wait for. */
  between<Result>(action: () => Promise<Result>): Promise<Result>;
  /** A task that commits nothing. */
  run<T extends IngestTask>(task: T, options?: { readonly signal?: AbortSignal }): Promise<IngestResult<T>>;
  /** A task that commits; inside `exclusive` or `between` only, as all that follow. */
  runCommit<T extends IngestTask>(task: T): Promise<IngestResult<T>>;
  publishCommit(commit: Commit): void;
  /** The state of a commit that changed which vectors the list is searched by: every version is opened anew. */
  reopen(state: ListState): void;
  /** Takes a version that was just recorded into use. */
  addVersion(state: ListState, version: number): void;
  /** Not inside of either: waits for the searches of the version, then removes it in a step of its own. */
  dropVersion(version: number): Promise<void>;
  /** Versions with databases in the store that the state does not name. */
  orphanedVersions(): readonly number[];
  /** What a task is told of those who listen; when the step's turn has come. */
  eventTask(): EventTask | undefined;
  /**
   * Runs the action with the part that all writing tasks have in common, whose generations are leased until it is done; when
   * the step's turn has come.
   */
  withWritingTask<Result>(action: (part: WritingTaskPart) => Promise<Result>): Promise<Result>;
}

export type WritingTaskPart = Omit<
  Extract<IngestTask, { kind: 'build-step' }>,
  'kind' | 'recordsMax' | 'bytesMax' | 'building'
> & {
  readonly building: Extract<IngestTask, { kind: 'write-batch' }>['building'];
};
