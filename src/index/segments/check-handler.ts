/** Compares the store of a version with its index. For the operation `list.check` and the durability test. */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import { planOfTerm, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { recordNumberOf } from '../../platform/index.js';
import {
  decodeRecord,
  parseFields,
  RecordWords,
  type RecordStore,
  type StoredRecord,
  type VersionStore,
} from '../../records/index.js';
import { extractStore } from '../../extracts/index.js';
import type { SegmentManifest } from '../../store/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { partStore } from '../parts/part-store.js';
import type { CheckTask, IngestResults } from '../contract/ingest-tasks.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import { checkPictures } from './check-pictures.js';

/** Maximum number of reported problems; one fault may show in every record. */
const PROBLEMS_MAX = 100;
/** Longer words are stored as a hash, which is tested elsewhere. */
const PROBE_WORD_CHARACTERS_MAX = 100;

export function check({ kernel, stores }: IngestContext, task: CheckTask): IngestResults['check'] {
  const problems: string[] = [];
  const report = (problem: string) => {
    if (problems.length < PROBLEMS_MAX) problems.push(`version ${task.version}: ${problem}`);
  };
  const store = stores.get(task.listPath);
  const version = store.version(task.version);
  const { definition } = requiredVersion(requiredState(store), task.version);

  const indexed = liveNumbers(kernel, { ...task, manifest: version, of: 'record' }, report);

  checkPages(kernel, { store, task, definition }, report);
  if (task.pictures !== undefined) checkPictures(kernel, { store, ...task, pictures: task.pictures }, report);

  checkWords(store, report);
  for (const { url, page } of extractStore(store).damagedPages()) report(`page ${page} of ${url} cannot be read`);
  const names = new Map<number, string>();
  for (const { key, value } of version.range()) {
    const problem = recordProblem(key, value, version, names);
    if (problem !== undefined) report(problem);
    if (!indexed.has(key)) report(`record ${key} is stored and not indexed`);
  }
  for (const recordNumber of indexed.keys()) {
    if (!names.has(recordNumber)) report(`record ${recordNumber} is indexed and not stored`);
  }
  const nameCount = version.names.getCount();
  if (nameCount !== names.size) report(`${nameCount} names for ${names.size} records`);

  const step = Math.max(1, Math.floor(names.size / Math.max(1, task.sampleSize)));
  let index = 0;
  for (const recordNumber of names.keys()) {
    index += 1;
    if (index % step !== 0) continue;
    const bytes = version.record(recordNumber);
    const term = bytes && probeTerm(kernel, decodeRecord(bytes), definition);
    if (term === undefined) continue;
    const found = kernel.collectRecordNumbers(task.generation, new QueryPlanWriter().write(planOfTerm(term, true)));
    if (!found.includes(recordNumber)) report(`record ${recordNumber} is not found by its word '${term}'`);
  }
  return problems;
}

type Report = (problem: string) => void;

interface CheckedIndex extends Pick<CheckTask, 'segments'> {
  readonly generation: GenerationHandle | undefined;
  readonly manifest: SegmentManifest;
  /** What the document numbers identify, for messages. */
  readonly of: string;
}

/** Returns the numbers of the live documents of an index, with the segment of each. */
function liveNumbers(
  kernel: IngestContext['kernel'],
  { generation, segments, manifest, of }: CheckedIndex,
  report: Report,
): Map<number, number> {
  const live = new Map<number, number>();
  for (const { id, handle } of generation === undefined ? [] : segments) {
    const deleted = kernel.generationDeletions(generation as GenerationHandle, handle);
    const stored = manifest.deletedDocuments(id, kernel.recordNumbers(handle).length);
    if (!sameBits(deleted, stored)) report(`segment ${id}: the deletions in force are not those on disk`);
    kernel.recordNumbers(handle).forEach((number, document) => {
      if (((deleted?.[document >> 3] ?? 0) >> (document & 7)) & 1) return;
      const other = live.get(number);
      if (other !== undefined) report(`${of} ${number} is live in segments ${other} and ${id}`);
      live.set(number, id);
    });
  }
  return live;
}

/** Compares the pages attached to records with the index of pages. */
function checkPages(
  kernel: IngestContext['kernel'],
  of: { readonly store: RecordStore; readonly task: CheckTask; readonly definition: FieldDefinition },
  report: Report,
): void {
  const { store, task } = of;
  if (task.pages === undefined) return;
  const part = partStore(store, task.version, 'pages');
  const live = liveNumbers(kernel, { ...task.pages, manifest: part, of: 'page' }, report);
  const version = store.version(task.version);
  for (const { key, value } of part.rows.getRange()) {
    const bytes = version.record(key);
    const fields = bytes === undefined ? {} : parseFields(decodeRecord(bytes).fieldsJson);
    if (bytes === undefined) report(`pages are attached to record ${key}, which is not stored`);
    for (const { field, url, first, count } of value) {
      if (fields[field] !== url) report(`record ${key} has pages of what it does not link to: ${url}`);
      for (let number = first; number < first + count; ++number) {
        if (!live.delete(number)) report(`page ${number} of record ${key} is attached and not indexed`);
      }
    }
  }
  for (const number of live.keys()) report(`page ${number} is indexed and attached to no record`);
}

/**
 * Checks the dictionaries of the list. Reads them again, because those read before may have been damaged on disk since.
 */
function checkWords(store: RecordStore, report: Report): void {
  const words = new RecordWords(store);
  const count = words.count();
  if (count === undefined) {
    report('how many dictionaries of words the list has is lost: it learns no other');
    return;
  }
  const whole = new Set(words.whole(count).map(({ number }) => number));
  for (let number = 1; number <= count; number += 1) {
    if (!whole.has(number)) report(`dictionary ${number} of words is damaged or lost: what it packs cannot be read`);
  }
}

function sameBits(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  const length = Math.max(left?.length ?? 0, right?.length ?? 0);
  for (let index = 0; index < length; ++index) if ((left?.[index] ?? 0) !== (right?.[index] ?? 0)) return false;
  return true;
}

function recordProblem(
  recordNumber: number,
  bytes: Uint8Array,
  version: VersionStore,
  names: Map<number, string>,
): string | undefined {
  try {
    const stored = decodeRecord(bytes);
    parseFields(stored.fieldsJson);
    names.set(recordNumber, stored.name);
    if (recordNumberOf(stored.id) !== recordNumber) return `record ${recordNumber} has the id ${stored.id} of another`;
    if (version.recordNumberOfName(stored.name) !== recordNumber)
      return `the name of record ${recordNumber} does not lead to it`;
    return undefined;
  } catch (error) {
    return `record ${recordNumber} cannot be read: ${String(error)}`;
  }
}

/** Returns the first word of the record's first searchable text. */
function probeTerm(
  kernel: IngestContext['kernel'],
  stored: StoredRecord,
  definition: FieldDefinition,
): string | undefined {
  const fields = parseFields(stored.fieldsJson);
  for (const { name } of definition.searchable_fields) {
    const value = name === 'name' ? stored.name : fields[name];
    const text: unknown = Array.isArray(value) ? (value as unknown[])[0] : value;
    if (typeof text !== 'string') continue;
    const term = kernel.analyse(segmentForKernel(text))[0]?.term;
    if (term !== undefined && term.length <= PROBE_WORD_CHARACTERS_MAX) return term;
  }
  return undefined;
}
