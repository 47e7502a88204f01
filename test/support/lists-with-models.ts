/** Lists in a separate folder, with models that a test scripts; without threads. */
import type { IngestExecutor, ListIndex, ListIndexesOptions, WriteRequest } from '../../src/index/index.js';
import type { FieldDefinition } from '../../src/catalog/index.js';
import { recordNumberOf } from '../../src/platform/index.js';
import { RecordStore } from '../../src/records/index.js';
import type { ListState } from '../../src/store/index.js';
import { decodeVectors, SpaceStore } from '../../src/vectors/index.js';
import type { ScriptedModels } from './scripted-models.js';
import { LIST_SETTINGS, ListsInFolder, NEVER_QUIET_MS } from './lists-in-folder.js';

export { LIST_SETTINGS };
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

export class ListsWithModels extends ListsInFolder {
  constructor(
    readonly models: ScriptedModels,
    environment: Readonly<Record<string, string>> = {},
    executor?: (inner: IngestExecutor) => IngestExecutor,
  ) {
    super(environment, executor);
    this.open();
  }

  override open(options: Partial<ListIndexesOptions> = {}): this {
    super.open({ quietMs: NEVER_QUIET_MS, ...options });
    this.indexes.useModels(this.models);
    return this;
  }

  /** Returns the list `a1` after a restart. */
  async reopen(model: string): Promise<ListIndex> {
    await this.close();
    this.open();
    return this.indexes.open('a1', { ...LIST_SETTINGS, model });
  }

  create(model: string | null): Promise<ListIndex> {
    return this.indexes.create('a1', { ...LIST_SETTINGS, model }, LIST_DEFINITION);
  }

  /** Reads a list's store as another process would. */
  async inStore<Result>(read: (store: RecordStore, state: ListState) => Result, id = 'a1'): Promise<Result> {
    const store = new RecordStore(this.path(id));
    try {
      return read(store, store.state() as ListState);
    } finally {
      await store.close();
    }
  }

  /** Returns the vectors of the current version in the newest space, by record number. */
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
