/**
 * Handlers of the ingest tasks that write records: small writes, bulk batches, deletion by a filter. Each is one
 * commit.
 */
import { ServiceError, serialiseError } from '../../platform/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { sourceTest, type InferenceSample, type RecordInput } from '../../records/index.js';
import { currentVersionOf } from '../../store/index.js';
import type {
  BulkBatchTask,
  CsvHeader,
  DeleteMatchingTask,
  ImportBatch,
  IngestResults,
  RemoveUnlistedTask,
  ReportImportsTask,
  WriteAnswer,
  WriteBatchTask,
} from '../contract/ingest-tasks.js';
import { EventRecorder } from './event-recorder.js';
import { ListCommit } from './list-commit.js';
import { csvRecords, jsonRecords, namedRecords, samplesOf, type RawRecord } from '../import/raw-records.js';
import { isListed } from '../import/listed-records.js';
import type { WriteRequest } from '../contract/types.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';

export function writeBatch({ kernel, stores }: IngestContext, task: WriteBatchTask): IngestResults['write-batch'] {
  const store = stores.get(task.listPath);
  const writer = new ListCommit({ ...task, kernel, store, samples: () => task.requests.flatMap(sampleOf) });
  const answers = task.requests.map((request): WriteAnswer => {
    try {
      return { ok: true, result: writer.apply(request) };
    } catch (error) {
      if (error instanceof ServiceError) return { ok: false, error: serialiseError(error) };
      throw error;
    }
  });
  return { commit: writer.commit(), answers };
}

function sampleOf(request: WriteRequest): InferenceSample[] {
  return request.kind === 'put' ? [{ named: request.name !== undefined, fields: request.fields, flat: false }] : [];
}

interface BulkError {
  readonly line: number;
  readonly name: string | null;
  readonly detail: string;
}

/** Header of a CSV file without any row; it has no records either. */
const NO_HEADER: CsvHeader = { bytes: new Uint8Array(), separator: ',' };

export function bulkBatch({ kernel, stores, rests }: IngestContext, task: BulkBatchTask): IngestResults['bulk-batch'] {
  const store = stores.get(task.listPath);
  const read = (definition: FieldDefinition, toldMax: number): Iterable<RawRecord> => {
    const records =
      task.format === 'csv'
        ? csvRecords(task.csvHeader ?? NO_HEADER, task.records, { definition, toldMax, nameFrom: task.nameFrom })
        : jsonRecords(task.records, toldMax);
    return task.nameFrom === undefined ? records : namedRecords(records, task.nameFrom);
  };

  const before = currentVersionOf(requiredState(store)).definition;
  const givesWay = task.givesWay === true;
  const rest = (givesWay ? rests?.ofOnePiece() : undefined) ?? withoutRest;
  // Patches do not say which fields whole records have, so no definition is inferred from them.
  const samples = () => (task.patch === true ? [] : samplesOf(read(before, 0)));
  // A batch that gives way uses one processor, so its segment is not built in a second thread.
  const writer = new ListCommit({ ...task, kernel, store, isLarge: !givesWay, samples });
  try {
    // The definition may have just been inferred, and CSV cells are read by it.
    return putAll(writer, task, { records: read(writer.definition, task.errorsMax), rest });
  } catch (error) {
    writer.discard();
    throw error;
  }
}

const withoutRest = () => undefined;

/**
 * Puts the records and commits. Throws `plan-limit` if there is no room for all of them; the batch is then retried as a
 * whole.
 */
function putAll(
  writer: ListCommit,
  task: BulkBatchTask,
  { records, rest }: { readonly records: Iterable<RawRecord>; readonly rest: () => void },
): IngestResults['bulk-batch'] {
  const outcome = { created: 0, updated: 0, unchanged: 0, failed: 0 };
  const errors: BulkError[] = [];
  const listed = new Set<number>();
  let unreadable = 0;
  const put = putOf(task, listed);
  for (const { line, input, name } of records) {
    try {
      outcome[put(writer, readable(input))] += 1;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'plan-limit') throw error;
      outcome.failed += 1;
      if (name === null) unreadable += 1;
      if (errors.length < task.errorsMax) errors.push({ line, name, detail: error.detail });
    }
    // A refused record counts as listed, too, so that the stored one stays as it was.
    const recordNumber = task.source === undefined || name === null ? undefined : writer.numberOf(name);
    if (recordNumber !== undefined) listed.add(recordNumber);
    rest();
  }
  const { created, updated } = outcome;
  writer.countImport(task.importId, { created, updated }, task.final);
  const commit = writer.commit(rest);
  return { commit, outcome: { ...outcome, errors, listed: Uint32Array.from(listed), unreadable } };
}

type Put = (writer: ListCommit, input: RecordInput) => 'created' | 'updated' | 'unchanged';

function putOf({ source, patch }: ImportBatch, listed: ReadonlySet<number>): Put {
  if (source !== undefined) return putFrom(source, listed);
  return patch === true ? patchAny : putAny;
}

const putAny: Put = (writer, input) => writer.put(input).outcome;

const patchAny: Put = (writer, input) => {
  writer.patchNamed(input);
  return 'updated';
};

function putFrom(source: string, listed: ReadonlySet<number>): Put {
  return (writer, input) => {
    const { name } = input;
    if (name === undefined) throw new ServiceError('invalid-record', 'A record of a source must have a name.');
    const recordNumber = writer.numberOf(name);
    if (recordNumber !== undefined && listed.has(recordNumber))
      throw new ServiceError(
        'invalid-record',
        'The source has more than one record of this name; the first one is used.',
      );
    return writer.putFromSource({ ...input, name, source });
  };
}

/**
 * Writes the events of bulk calls that were aborted, or whose last batch was sent before it was known to be the last.
 */
export function reportImports({ stores }: IngestContext, task: ReportImportsTask): IngestResults['report-imports'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const events = new EventRecorder(task.events, task.nowMs, before.events);
  for (const importId of task.importIds) events.endImport(importId);
  const state = { ...before, sequence: before.sequence + 1, ...events.prepare(store) };
  store.transaction(() => {
    events.apply(store);
    store.putState(state);
  });
  return state;
}

function readable(input: RecordInput | ServiceError): RecordInput {
  if (input instanceof ServiceError) throw input;
  return input;
}

export function deleteMatching(
  { kernel, stores }: IngestContext,
  task: DeleteMatchingTask,
): IngestResults['delete-matching'] {
  const store = stores.get(task.listPath);
  const recordNumbers = kernel.collectRecordNumbers(task.current.generation, task.plan);
  const writer = new ListCommit({ ...task, kernel, store, samples: () => [] });
  let deleted = 0;
  for (const recordNumber of recordNumbers) if (writer.removeByNumber(recordNumber)) deleted += 1;
  return { commit: writer.commit(), deleted };
}

/** Limits of one task, so that other writers get their turns. */
const REMOVED_MAX = 10_000;
const LOOKED_AT_MAX = 500_000;

export function removeUnlisted(
  { kernel, stores }: IngestContext,
  task: RemoveUnlistedTask,
): IngestResults['remove-unlisted'] {
  const store = stores.get(task.listPath);
  const isOfSource = sourceTest(task.source);
  const unlisted: number[] = [];
  let lookedAt = 0;
  let cursor: number | undefined;
  const records = store.version(task.current.version);
  for (const { key, value } of records.range({ start: task.cursor })) {
    if (unlisted.length >= REMOVED_MAX || lookedAt >= LOOKED_AT_MAX) {
      cursor = key;
      break;
    }
    lookedAt += 1;
    if (!isListed(task.listed, key) && isOfSource(value)) unlisted.push(key);
  }
  const writer = new ListCommit({ ...task, kernel, store, samples: () => [] });
  let removed = 0;
  for (const recordNumber of unlisted) if (writer.removeByNumber(recordNumber)) removed += 1;
  return { commit: writer.commit(), removed, cursor };
}
