/** Reads the records of a list that is open in this process from its store, as search workers do. */
import type { ListIndex } from '../../src/index/index.js';
import { recordNumberOf } from '../../src/platform/index.js';
import { decodeRecord, recordResource, RecordStore, type RecordResource } from '../../src/records/index.js';

/** Returns records of the current version in the order of their numbers, and the total. */
export async function pageOf(list: ListIndex, skip: number, size: number) {
  const total = list.versions().find(({ version }) => version === list.currentVersion)?.record_count ?? 0;
  const records = await withStore(list, (store) =>
    size === 0
      ? []
      : Array.from(store.version(list.currentVersion).range({ offset: skip, limit: size }), ({ value }) =>
          recordResource(decodeRecord(value)),
        ),
  );
  return { total, records };
}

/** Undefined if the current version has no record with this id. */
export function recordOf(list: ListIndex, id: string): Promise<RecordResource | undefined> {
  return withStore(list, (store) => {
    const number = recordNumberOf(id);
    const bytes = number === undefined ? undefined : store.version(list.currentVersion).record(number);
    const record = bytes && decodeRecord(bytes);
    return record?.id === id ? recordResource(record) : undefined;
  });
}

async function withStore<Result>(list: ListIndex, read: (store: RecordStore) => Result): Promise<Result> {
  const store = new RecordStore(list.listPath);
  try {
    return read(store);
  } finally {
    await store.close();
  }
}
