/** Lists in a separate folder that are opened repeatedly, as by restarts, in the calling thread. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { kernel } from '../../native-bindings/index.js';
import {
  createInlineExecutor,
  createListIndexes,
  type IngestExecutor,
  type ListIndexes,
  type ListIndexesOptions,
  type SearchSettings,
} from '../../src/index/index.js';
import { loadConfig } from '../../src/platform/config.js';
import { systemClock } from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { RecordStoreCache } from '../../src/records/index.js';

export const LIST_SETTINGS: SearchSettings = {
  account: 'default',
  list: 'things',
  language: 'en',
  synonym_rules: [],
  query_rules: [],
};

/** As `quietMs`: prevents merges merely because a test takes long. Tests of merges set their own. */
export const NEVER_QUIET_MS = 2 ** 31 - 1;

export class ListsInFolder {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'gannet-lists-'));
  indexes!: ListIndexes;
  private stores!: RecordStoreCache;

  /** `executor` wraps the one that does the work, each time the lists are opened. */
  constructor(
    private readonly environment: Readonly<Record<string, string>> = {},
    private readonly executor: (inner: IngestExecutor) => IngestExecutor = (inner) => inner,
  ) {}

  open(options: Partial<ListIndexesOptions> = {}): this {
    this.stores = new RecordStoreCache();
    this.indexes = createListIndexes({
      dataDir: this.dataDir,
      kernel,
      executor: this.executor(createInlineExecutor({ kernel, stores: this.stores })),
      clock: systemClock,
      log: pino({ level: 'silent' }),
      config: loadConfig({ argv: [], env: { GANNET_DATA_DIR: this.dataDir, ...this.environment } }),
      metrics: createMetrics(),
      ...options,
    });
    return this;
  }

  async close(): Promise<void> {
    await this.indexes.close();
    await this.stores.close();
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  path(id = 'a1'): string {
    return join(this.dataDir, 'lists', id);
  }
}
