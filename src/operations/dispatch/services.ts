/** What operations work with. Created once by main.ts. */
import type { Access, PermissionCatalogue } from '../../access/index.js';
import type { Catalog, ListRecord, UnfinishedWork } from '../../catalog/index.js';
import type { ListIndexes } from '../../index/index.js';
import type { SearchAnswer } from '../../search/index.js';
import type { CandidateFinder } from '../../synonyms/index.js';
import type { SearchPoolTask } from '../../workers/index.js';
import type {
  Cancellation,
  Clock,
  Config,
  EventCatalogue,
  ProgressBoard,
  RequestMemory,
  SecretBox,
  ServiceKey,
  StorageState,
} from '../../platform/index.js';
import type { RateLimiter } from '../../access/index.js';
import type { Logger } from 'pino';
import type { AnswerCache } from '../answer-cache/answer-cache.js';
import type { Operation } from './operation.js';
import type { ServiceState } from './service-state.js';

export interface SearchPool {
  /**
   * Rejects with a ServiceError: overloaded (queue full), deadline (search.deadline_ms), the search's own 400, or
   * internal-error if the worker died. Accounts take turns.
   */
  search(task: SearchPoolTask, signal: Cancellation, account: string): Promise<SearchAnswer>;
}

/** The parts of the service; parts of features are found by their keys. */
export interface Services {
  /** Throws if no feature provides the part. */
  part<Part>(key: ServiceKey<Part>): Part;
  /**
   * Lets every feature remove what it has of a list or group that is gone; false: again at the next start. Never
   * rejects.
   */
  forget(work: UnfinishedWork): Promise<boolean>;
  /** True if a feature uses the list, such as one that fills it from a file. */
  isUsed(list: Pick<ListRecord, 'id'>): boolean;
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly access: Access;
  /** Every permission that a key may have. */
  readonly permissions: PermissionCatalogue;
  /** Every event that can be subscribed to. */
  readonly events: EventCatalogue;
  readonly indexes: ListIndexes;
  readonly searchPool: SearchPool;
  readonly answerCache: AnswerCache;
  /** The last pending change of the settings and fields of each list, for `oneChangeAtATime`. */
  readonly runningChanges: Map<string, Promise<unknown>>;
  readonly requestMemory: RequestMemory;
  readonly synonymCandidates: CandidateFinder;
  readonly secrets: SecretBox;
  /** Where jobs report their progress. */
  readonly progress: ProgressBoard;
  readonly searchLimiter: RateLimiter;
  readonly readOnlyKeyLimiter: RateLimiter;
  /** Every operation, for OpenAPI and the like. */
  readonly operations: readonly Operation[];
  /** Returns all metrics in Prometheus' text format. */
  metrics(): Promise<string>;
  /** Returns the state of the service, for its operator. */
  state(): Promise<ServiceState>;
  /** True once searches are served, until a stop begins. */
  ready(): boolean;
  /** Returns the state of the disk with the data directory. */
  storage(): Promise<StorageState>;
  /**
   * Returns the databases (other than those of lists) that cannot be read at the moment, and those that were set aside,
   * by their folders.
   */
  databases(): Promise<{ readonly unreadable: readonly string[]; readonly setAside: readonly string[] }>;
}
