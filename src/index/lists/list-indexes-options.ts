/** What `createListIndexes` is given. */
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
  /** A list whose index has to be rebuilt is waited for, instead of being refused meanwhile. Default false. */
  readonly waitForRebuild?: boolean;
  /** Told of a file of the data directory that could not be read where it is mapped. Absent: nobody. */
  readonly onOtherUnreadable?: (path: string) => void;
  /** Who is told what happens to the lists. Absent: nobody. */
  readonly events?: EventSink;
  /** What the catalogue has of a list. Absent: nothing of it is kept beside the records. */
  readonly entryOf?: (listId: string) => CatalogueEntry | undefined;
  /** Of the whole process. Absent: one of its own. */
  readonly room?: ListRoom;
  /** How far imports may be ahead of graphs of vectors. Absent: as the service has it. */
  readonly pacing?: PacingLimits;
  /** Without a commit for so long, segments and graphs of vectors are merged as far as they may be. Absent: as the service has it. */
  readonly quietMs?: number;
  /** Where rebuilds and builds of versions say how far they are. Absent: one of its own. */
  readonly progress?: ProgressBoard;
}
