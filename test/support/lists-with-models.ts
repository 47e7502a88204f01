/** Lists in a folder of their own, with models that a test scripts; no threads. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { kernel } from '../../native-bindings/index.js';
import { createInlineExecutor, createListIndexes, type ListIndex, type ListIndexes } from '../../src/index/index.js';
import type { SearchSettings, WriteRequest } from '../../src/index/index.js';
import type { FieldDefinition } from '../../src/catalog/index.js';
import { loadConfig } from '../../src/platform/config.js';
import { recordNumberOf, systemClock } from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { RecordStore, RecordStoreCache } from '../../src/records/index.js';
import type { ListState } from '../../src/store/index.js';
import { decodeVectors, SpaceStore } from '../../src/vectors/index.js';
import type { ScriptedModels } from './scripted-models.js';

export const LIST_SETTINGS: SearchSettings = {
  account: 'default',
  list: 'things',
  language: 'en',
  synonym_rules: [],
  query_rules: [],
};
export const LIST_DEFINITION: FieldDefinition = {
  searchable_fields: [
    { name: 'title', weight: 2 },
    { name: 'text', weight: 1 },
  ],
  facets: [{ name: 'price', type: 'number', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};

export class ListsWithModels {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'gannet-models-'));
  indexes!: ListIndexes;
  private stores!: RecordStoreCache;

  constructor(
    readonly models: ScriptedModels,
    private readonly environment: Readonly<Record<string, string>> = {},
  ) {
    this.open();
  }

  open(): void {
    const { dataDir } = this;
    this.stores = new RecordStoreCache();
    this.indexes = createListIndexes({
      dataDir,
      kernel,
      executor: createInlineExecutor({ kernel, stores: this.stores }),
      clock: systemClock,
      log: pino({ level: 'silent' }),
      config: loadConfig({ argv: [], env: { GANNET_DATA_DIR: dataDir, ...this.environment } }),
      metrics: createMetrics(),
    });
    this.indexes.useModels(this.models);
  }

  async close(): Promise<void> {
    await this.indexes.close();
    await this.stores.close();
  }

  /** The list `a1` after a restart. */
  async reopen(model: string): Promise<ListIndex> {
    await this.close();
    this.open();
    return this.indexes.open('a1', { ...LIST_SETTINGS, model });
  }

  create(model: string | null): Promise<ListIndex> {
    return this.indexes.create('a1', { ...LIST_SETTINGS, model }, LIST_DEFINITION);
  }

  async remove(): Promise<void> {
    await this.close();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  path(id = 'a1'): string {
    return join(this.dataDir, 'lists', id);
  }

  /** What a list's store says, read as another process would. */
  async inStore<Result>(read: (store: RecordStore, state: ListState) => Result, id = 'a1'): Promise<Result> {
    const store = new RecordStore(this.path(id));
    try {
      return read(store, store.state() as ListState);
    } finally {
      await store.close();
    }
  }

  /** By record number, the vectors of the current version in the newest space. */
  storedVectors(id = 'a1'): Promise<Record<string, number[][]>> {
    return this.inStore((store, state) => {
      const space = state.meaning?.spaces.at(-1);
      if (space === undefined) return {};
      const { vectors } = new SpaceStore(store, state.currentVersion, space.number);
      return Object.fromEntries(
        Array.from(vectors.getRange(), ({ key, value }) => {
          const { count, dimensions, values } = decodeVectors(value);
          const rows = Array.from({ length: count }, (_, row) =>
            Array.from(values.subarray(row * dimensions, (row + 1) * dimensions)),
          );
          return [key, rows];
        }),
      );
    }, id);
  }
}

export function putRequest(
  name: string,
  fields: Record<string, unknown>,
  vectors?: readonly (readonly number[])[],
): WriteRequest {
  const given = vectors?.map((vector) => Float32Array.from(vector));
  return { kind: 'put', name, fields, ...(given === undefined ? {} : { vectors: given }) };
}

export async function written(list: ListIndex, request: WriteRequest): Promise<{ id: string; number: number }> {
  const { record } = await list.write(request);
  return { id: record.id, number: recordNumberOf(record.id) as number };
}

export async function importLines(list: ListIndex, lines: readonly string[]) {
  const session = list.startImport('ndjson');
  await session.push(new TextEncoder().encode(lines.join('\n')));
  return session.end();
}
