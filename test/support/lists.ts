/** Small real lists for tests and micro benchmarks, written through the write side in the calling thread. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { kernel } from '../../native-bindings/index.js';
import type { FieldDefinition } from '../../src/catalog/index.js';
import {
  createInlineExecutor,
  createListIndexes,
  type IngestExecutor,
  type ListIndex,
  type SearchSettings,
} from '../../src/index/index.js';
import { loadConfig } from '../../src/platform/config.js';
import { systemClock } from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { RecordStoreCache } from '../../src/records/index.js';
import type { SearchOptions, SearchTask } from '../../src/search/index.js';

export interface ListFixtures {
  /** Default settings: language `en`, no rules. */
  add(
    name: string,
    definition: FieldDefinition,
    records: readonly object[],
    settings?: Partial<SearchSettings>,
  ): Promise<ListIndex>;
  close(): Promise<void>;
}

/** With an executor, its workers write instead of the calling thread. */
export async function listFixtures(executor?: IngestExecutor): Promise<ListFixtures> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gannet-lists-'));
  const stores = new RecordStoreCache();
  const indexes = createListIndexes({
    dataDir,
    kernel,
    executor: executor ?? createInlineExecutor({ kernel, stores }),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    config: loadConfig({ argv: [], env: {} }),
    metrics: createMetrics(),
  });
  return {
    async add(name, definition, records, own = {}) {
      const settings = { account: 'test', list: name, language: 'en', synonym_rules: [], query_rules: [], ...own };
      const index = await indexes.create(`id-${name}`, settings, definition);
      if (records.length === 0) return index;
      const session = index.startImport('ndjson');
      await session.push(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
      const outcome = await session.end();
      if (outcome.failed > 0) throw new Error(JSON.stringify(outcome.errors));
      return index;
    },
    async close() {
      await indexes.close();
      await stores.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Returns a search of the lists' current versions: of one list, or of several as a group. Leases are held until the
 * process ends.
 */
export function searchTask(
  lists: Readonly<Record<string, ListIndex>>,
  options: SearchOptions,
  queryId = 'query',
): SearchTask {
  const names = Object.keys(lists);
  const group = names.length > 1;
  return {
    kind: 'search',
    targets: Object.entries(lists).map(([name, index]) => ({
      generation: index.lease().handle,
      ...(group ? { listName: name } : {}),
    })),
    subject: group ? { kind: 'group', name: 'all', version: 1 } : { kind: 'list', name: names[0] ?? '', version: 1 },
    options,
    queryId,
  };
}
