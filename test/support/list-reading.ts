/** The records of a list that is open in this process, read from its store as the search workers read them. */
import type { ListIndex } from '../../src/index/index.js';
import { recordNumberOf } from '../../src/platform/index.js';
import { decodeRecord, recordResource, RecordStore, type RecordResource } from '../../src/records/index.js';

/** Those of the current version in the order of their numbers, and how many there are. */
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

/** Undefined where the current version has no record with this id. */
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
