/** Reads records of one version as resources. Main thread only. */
import { recordNumberOf } from '../../platform/index.js';
import { decodeRecord, recordResource, type RecordResource, type RecordStore } from '../../records/index.js';

/** Undefined where the version has no record with this id. */
export function readRecord(store: RecordStore, version: number, id: string): RecordResource | undefined {
  const recordNumber = recordNumberOf(id);
  if (recordNumber === undefined) return undefined;
  store.refresh();
  const bytes = store.version(version).record(recordNumber);
  const record = bytes && decodeRecord(bytes);
  return record?.id === id ? recordResource(record) : undefined;
}

/** In the order of record numbers. */
export function readRecords(store: RecordStore, version: number, skip: number, size: number): RecordResource[] {
  if (size === 0) return [];
  store.refresh();
  const range = store.version(version).records.getRange({ offset: skip, limit: size });
  return Array.from(range, ({ value }) => recordResource(decodeRecord(value)));
}
