/** Options of `createListIndexes`. */
import type { Logger } from 'pino';
import type { Kernel } from '../../../native-bindings/index.js';
import type { BudgetedConfig, Clock, Config, EventSink, Metrics, ProgressBoard } from '../../platform/index.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';
import type { PacingLimits } from '../meaning/import-pacing.js';
import type { CatalogueEntry } from './entry-keeper.js';
import type { PartMetrics } from './list-measurements.js';
import type { ListRoom } from './list-room.js';

export interface ListIndexesOptions {
  readonly dataDir: string;
  readonly kernel: Kernel;
  readonly executor: IngestExecutor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: BudgetedConfig & Pick<Config, 'versions' | 'lists'>;
  readonly metrics: Pick<
    Metrics,
    'recordsWritten' | 'recordsEmbedded' | 'listsOpen' | 'listOpenings' | 'listsRebuilding' | 'poolRefused'
  > &
    PartMetrics;
  /** True if `open` waits for the rebuild of a list's index instead of rejecting meanwhile. Default false. */
  readonly waitForRebuild?: boolean;
  /** Called for another file of the data directory that could not be read where it is mapped. */
  readonly onOtherUnreadable?: (path: string) => void;
  /** Receives the events of the lists. Undefined: nobody listens. */
  readonly events?: EventSink;
  /** Returns the catalogue entry of a list. Undefined: no copy of the entry is kept in the store. */
  readonly entryOf?: (listId: string) => CatalogueEntry | undefined;
  /** Shared by the whole process. Undefined: a new one. */
  readonly room?: ListRoom;
  /** How far imports may be ahead of the graphs of vectors. Undefined: the default. */
  readonly pacing?: PacingLimits;
  /**
   * Time without a commit after which segments and graphs of vectors are merged as far as possible. Undefined: the
   * default.
   */
  readonly quietMs?: number;
  /** Reports the progress of rebuilds and of builds of versions. Undefined: a new one. */
  readonly progress?: ProgressBoard;
}
