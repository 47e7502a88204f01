/**
 * Reads stored records, one at a time or by pages, spliced from their JSON fragments. A page starts after a record
 * number, so it keeps its place whatever is written or deleted meanwhile. Belongs to one thread.
 */
import { RECORDS_PAGE_BYTES_MAX, recordNumberOf } from '../../platform/index.js';
import {
  DamagedRecordError,
  fittingFields,
  leftOutMember,
  readWholeRecord,
  resourceBytesOf,
  storedIdOf,
  unknownId,
  type RecordParts,
  type RecordStoreCache,
  type VersionStore,
} from '../../records/index.js';
import { servingSpaceOf } from '../../store/index.js';
import {
  DamagedVectorsError,
  decodeVectors,
  spaceStore,
  type SpaceStore,
  type StoredVectors,
} from '../../vectors/index.js';
import type { ResponseWriter } from '../response/response-writer.js';
import type { RecordsTask, RecordTask } from '../types.js';
import type { ListContexts } from './list-context.js';

const RECORD_NUMBER_MAX = 0xffff_ffff;
/** Significant digits that distinguish any two 32-bit floats. */
const FLOAT_DIGITS = 9;
/** Longest text of a float: sign, leading zeros and point before the digits, and a comma after them. */
const FLOAT_TEXT_MAX = FLOAT_DIGITS + 9;

export class RecordLister {
  constructor(
    private readonly contexts: Pick<ListContexts, 'get'>,
    private readonly stores: RecordStoreCache,
  ) {}

  /** Appends a page of records and returns the number of records in the version. */
  page(task: RecordsTask, writer: ResponseWriter): number {
    return this.reading(task, (store) => {
      const total = store.recordCount();
      writer.ascii(`{"total_count":${total},"results":[`);
      const vectors = task.vectors === true ? this.vectorsOf(task) : undefined;
      const next = writeRecords(store, within(task, store), writer, vectors);
      writer.ascii(next === undefined || task.name !== undefined ? ']}' : `],"next":"${next}"}`);
      return total;
    });
  }

  /** Appends one record and returns 1. Throws `record-not-found` or DamagedRecordError. */
  record(task: RecordTask, writer: ResponseWriter): number {
    const recordNumber = recordNumberOf(task.id);
    return this.reading(task, (store, list) => {
      const bytes = recordNumber === undefined ? undefined : store.record(recordNumber);
      if (bytes !== undefined) {
        const { id, parts } = readWholeRecord(bytes);
        if (id === task.id) {
          writeRecord(parts, writer, task.fieldsBytesMax);
          return 1;
        }
      }
      throw unknownId(store, task.id, `The list '${list}' has no record with this id`);
    });
  }

  /** Returns the vectors as of the last commit, like the records. Undefined if the version has none. */
  private vectorsOf({ target }: RecordsTask): SpaceStore | undefined {
    const { listPath, version } = this.contexts.get(target.generation).settings;
    const store = this.stores.get(listPath);
    const state = store.state();
    const space = state === undefined ? undefined : servingSpaceOf(state);
    if (space === undefined) return undefined;
    const vectors = spaceStore(store, version, space.number);
    return vectors.exists ? vectors : undefined;
  }

  /** Runs `read` on the last commit, and releases the snapshot afterwards. */
  private reading({ target }: RecordsTask | RecordTask, read: (store: VersionStore, list: string) => number): number {
    const { listPath, version, list } = this.contexts.get(target.generation).settings;
    try {
      return read(this.stores.get(listPath).version(version), list);
    } finally {
      this.stores.get(listPath);
    }
  }
}

/** Narrows a task with a name to the page of that record, or to an empty page if there is none. */
function within(task: RecordsTask, store: VersionStore): RecordsTask {
  if (task.name === undefined) return task;
  const number = store.recordNumberOfName(task.name);
  return number === undefined ? { ...task, size: 0 } : { ...task, after: number - 1, size: Math.min(task.size, 1) };
}

/** Writes a page. Returns the record number after which the next page starts, or undefined if this page is the last. */
function writeRecords(
  store: VersionStore,
  task: RecordsTask,
  writer: ResponseWriter,
  vectors: SpaceStore | undefined,
): number | undefined {
  const { after, skip, size, bytesMax } = task;
  const pageBytesMax = bytesMax ?? RECORDS_PAGE_BYTES_MAX;
  if (size === 0 || after >= RECORD_NUMBER_MAX) return undefined;
  const begin = writer.length;
  let written = 0;
  let last: number | undefined;
  // Reads one record more than wanted, to know whether there is a next page.
  for (const { key, value } of store.range({ start: after + 1, offset: skip, limit: size + 1 })) {
    const before = writer.length;
    const recordBytes = resourceBytesOf(value);
    const isFull = written === size || (written > 0 && before - begin + recordBytes > pageBytesMax);
    if (isFull) return last;
    if (written > 0) writer.ascii(',');
    const end = written > 0 ? begin + pageBytesMax : Infinity;
    const vectorsOf = vectors === undefined ? undefined : () => vectors.get(key);
    if (!writeReadable(value, writer, { recordBytes, bytesMax: bytesMax ?? Infinity, end }, vectorsOf)) {
      writer.truncate(before);
      return last;
    }
    written += 1;
    last = key;
  }
  return undefined;
}

interface Room {
  /** Bytes of the record in the response, without its vectors. */
  readonly recordBytes: number;
  /** Limit for a record's response bytes plus its stored vectors. */
  readonly bytesMax: number;
  /** Length of the writer at which the page ends. */
  readonly end: number;
}

/**
 * Writes a record with its vectors. In place of a record that is damaged or too long (with its vectors), writes an
 * object with its id and an error. `vectorsOf`, which is undefined if the version has no vectors, may invalidate
 * `bytes`, so it is called after the record is written. Returns false if the page has no room for the vectors.
 */
function writeReadable(
  bytes: Uint8Array,
  writer: ResponseWriter,
  room: Room,
  vectorsOf: (() => Uint8Array | undefined) | undefined,
): boolean {
  const begin = writer.length;
  const { recordBytes } = room;
  const known = vectorsOf === undefined ? undefined : (storedIdOf(bytes) ?? null);
  const tell = (error: string): true => {
    const id = known === undefined ? (storedIdOf(bytes) ?? null) : known;
    writer.truncate(begin);
    writer.text(JSON.stringify({ id, error }));
    return true;
  };
  const tellLong = (allBytes: number) => tell(`The record has ${allBytes} bytes, more than bytes_max.`);
  try {
    const { parts } = readWholeRecord(bytes);
    if (recordBytes > room.bytesMax) return tellLong(recordBytes);
    writeRecord(parts, writer);
    const vectors = vectorsOf?.();
    if (vectors === undefined) return true;
    if (recordBytes + vectors.length > room.bytesMax) return tellLong(recordBytes + vectors.length);
    const decoded = decodeVectors(vectors);
    if (writer.length + decoded.values.length * FLOAT_TEXT_MAX > room.end) return false;
    writer.truncate(writer.length - 1);
    writeVectors(decoded, writer);
    writer.ascii('}');
    return true;
  } catch (error) {
    if (!(error instanceof DamagedRecordError || error instanceof DamagedVectorsError)) throw error;
    return tell(`The record is damaged on disk: ${error.message}.`);
  }
}

/** Writes vectors as in a record's input: `vector`, or `vectors` if there are several. */
function writeVectors({ count, dimensions, values }: StoredVectors, writer: ResponseWriter): void {
  writer.ascii(count === 1 ? ',"vector":' : ',"vectors":[');
  for (let first = 0; first < values.length; first += dimensions) {
    if (first > 0) writer.ascii(',');
    const vector = Array.from(values.subarray(first, first + dimensions), (value) =>
      Number(value.toPrecision(FLOAT_DIGITS)),
    );
    writer.ascii(JSON.stringify(vector));
  }
  if (count > 1) writer.ascii(']');
}

function writeRecord(parts: RecordParts, writer: ResponseWriter, fieldsBytesMax = Infinity): void {
  const { bytes, fieldsBegin, end } = parts;
  writer.ascii('{');
  parts.writeHead(writer);
  writer.ascii(',"fields":');
  if (end - fieldsBegin <= fieldsBytesMax) {
    writer.bytes(bytes, fieldsBegin, end);
  } else {
    const { json, leftOut } = fittingFields(parts.fields, { bytesMax: fieldsBytesMax });
    writer.text(`${json}${leftOutMember(leftOut)}`);
  }
  writer.ascii(',');
  parts.writeAsOf(writer);
  writer.ascii(',');
  parts.writeTimes(writer);
  writer.ascii('}');
}
