/**
 * Records as they are stored, one at a time and by pages, spliced from their fragments. A page begins behind a record number, which
 * keeps its place whatever is written or deleted meanwhile. Belongs to one thread.
 */
import { RECORDS_PAGE_BYTES_MAX, recordNumberOf, ServiceError } from '../../platform/index.js';
import {
  DamagedRecordError,
  readWholeRecord,
  storedIdOf,
  type RecordParts,
  type RecordStoreCache,
  type VersionStore,
} from '../../records/index.js';
import type { ResponseWriter } from '../response/response-writer.js';
import type { RecordsTask, RecordTask } from '../types.js';
import type { ListContexts } from './list-context.js';

const RECORD_NUMBER_MAX = 0xffff_ffff;

export class RecordLister {
  constructor(
    private readonly contexts: Pick<ListContexts, 'get'>,
    private readonly stores: RecordStoreCache,
  ) {}

  /** Appends a page of records and returns how many the version has. */
  page(task: RecordsTask, writer: ResponseWriter): number {
    return this.reading(task, (store) => {
      const total = store.recordCount();
      writer.ascii(`{"total_count":${total},"results":[`);
      const next = writeRecords(store, task, writer);
      writer.ascii(next === undefined ? ']}' : `],"next":"${next}"}`);
      return total;
    });
  }

  /** Appends one record and returns 1. Throws `record-not-found`, and DamagedRecordError. */
  record(task: RecordTask, writer: ResponseWriter): number {
    const recordNumber = recordNumberOf(task.id);
    return this.reading(task, (store, list) => {
      const bytes = recordNumber === undefined ? undefined : store.record(recordNumber);
      if (bytes !== undefined) {
        const { id, parts } = readWholeRecord(bytes);
        if (id === task.id) {
          writeRecord(parts, writer);
          return 1;
        }
      }
      throw new ServiceError('record-not-found', `The list '${list}' has no record with this id.`);
    });
  }

  /** Reads the last commit; no snapshot is held after. */
  private reading({ target }: RecordsTask | RecordTask, read: (store: VersionStore, list: string) => number): number {
    const { listPath, version, list } = this.contexts.get(target.generation).settings;
    try {
      return read(this.stores.get(listPath).version(version), list);
    } finally {
      this.stores.get(listPath);
    }
  }
}

/** Returns behind which record number the next page begins; undefined where this is the last one. */
function writeRecords(store: VersionStore, task: RecordsTask, writer: ResponseWriter): number | undefined {
  const { after, skip, size, bytesMax } = task;
  const pageBytesMax = bytesMax ?? RECORDS_PAGE_BYTES_MAX;
  if (size === 0 || after >= RECORD_NUMBER_MAX) return undefined;
  const begin = writer.length;
  let written = 0;
  let last: number | undefined;
  // One more than is wanted tells whether there is a next page.
  for (const { key, value } of store.records.getRange({ start: after + 1, offset: skip, limit: size + 1 })) {
    const isFull = written === size || (written > 0 && writer.length - begin + value.length > pageBytesMax);
    if (isFull) return last;
    if (written > 0) writer.ascii(',');
    writeReadable(value, writer, bytesMax ?? Infinity);
    written += 1;
    last = key;
  }
  return undefined;
}

/** A record that is damaged, or longer than a page, is told as such among the others. */
function writeReadable(bytes: Uint8Array, writer: ResponseWriter, bytesMax: number): void {
  let parts: RecordParts;
  let id: string;
  try {
    ({ parts, id } = readWholeRecord(bytes));
  } catch (error) {
    if (!(error instanceof DamagedRecordError)) throw error;
    const damage = { id: storedIdOf(bytes) ?? null, error: `The record is damaged on disk: ${error.message}.` };
    writer.text(JSON.stringify(damage));
    return;
  }
  if (bytes.length <= bytesMax) writeRecord(parts, writer);
  else writer.text(JSON.stringify({ id, error: `The record has ${bytes.length} bytes, more than bytes_max.` }));
}

function writeRecord(parts: RecordParts, writer: ResponseWriter): void {
  const { bytes, headBegin, asOfBegin, timesBegin, fieldsBegin, end } = parts;
  writer.ascii('{');
  writer.bytes(bytes, headBegin, asOfBegin);
  writer.ascii(',"fields":');
  writer.bytes(bytes, fieldsBegin, end);
  if (timesBegin > asOfBegin) {
    writer.ascii(',');
    writer.bytes(bytes, asOfBegin, timesBegin);
  }
  writer.ascii(',');
  writer.bytes(bytes, timesBegin, fieldsBegin);
  writer.ascii('}');
}
