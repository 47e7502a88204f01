/** Sends records, reads complete listings, and compares them with the reference. */
import { same } from './difference.js';
import type { NewRecord } from './operations.js';
import type { ModelRecord, ReferenceList } from './reference-list.js';
import type { Value } from './reference-values.js';
import type { Vector } from './reference-vectors.js';
import { answered, type ReplayState } from './replay-state.js';
import { whenEmbedded } from './text-model.js';

const LISTING_SIZE = 7;

export interface ListedRecord {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, Value>>;
  readonly vector?: Vector;
  readonly vectors?: readonly Vector[];
  readonly created_utc: string;
  readonly modified_utc: string;
}
interface Sent {
  readonly name?: string;
  readonly fields: NewRecord['fields'];
  readonly vectors?: NewRecord['vectors'] | undefined;
}

/** Returns the body to send. A single vector is sent either as `vector` or as the only one of `vectors`. */
export function asSent({ vectors, ...others }: Sent): object {
  if (vectors === undefined) return others;
  if (vectors === null || (vectors.length === 1 && Object.keys(others.fields).length % 2 === 0))
    return { ...others, vector: vectors?.[0] ?? null };
  return { ...others, vectors };
}

/** Rounds to 32-bit floats, which the nine digits of an answer identify uniquely. */
function vectorsOf({ vector, vectors = vector === undefined ? [] : [vector] }: ListedRecord): number[][] {
  return vectors.map((each) => each.map(Math.fround));
}

/** Returns what can be compared with the result of `asKnown`; undefined if there is no record. */
export function asListed(record: ListedRecord | undefined, withVectors = true) {
  if (record === undefined) return undefined;
  if (!withVectors) return { fields: { ...record.fields } };
  return { fields: { ...record.fields }, vectors: vectorsOf(record) };
}

export function asKnown(record: ModelRecord | undefined, withVectors = true) {
  if (record !== undefined && !withVectors) return { fields: Object.fromEntries(record.fields) };
  return record && { fields: Object.fromEntries(record.fields), vectors: record.vectors.map((each) => [...each]) };
}

export function recordsOf(state: ReplayState, list: number): string {
  return `/search-result/default/${state.name(list)}`;
}

/** Reads all records, page by page. */
export async function listingOf(state: ReplayState, list: number): Promise<ListedRecord[]> {
  const records: ListedRecord[] = [];
  let after: string | undefined;
  do {
    const size = LISTING_SIZE * (1 + (records.length % 50));
    const query = { size, vectors: true, ...(after === undefined ? {} : { after }) };
    const { body } = await answered(state.client.get(recordsOf(state, list), query), 200);
    const page = body as { results: ListedRecord[]; next?: string };
    records.push(...page.results);
    after = page.next;
  } while (after !== undefined);
  return records;
}

/** Compares all records of a list with the reference. */
export async function readAll(state: ReplayState, list: number): Promise<void> {
  const reference = state.list(list);
  const meaning = reference.model === null ? undefined : await whenEmbedded(state.service, state.name(list));
  const records = await listingOf(state, list);
  same('records of a list', records.map(({ name }) => name).sort(), reference.records.map(({ name }) => name).sort());
  for (const record of records) {
    const isOwn = reference.model === 'own';
    const known = asKnown(reference.find(record.name), isOwn);
    same(isOwn ? 'fields and vectors of a record' : 'fields of a record', asListed(record, isOwn), known);
  }
  tellTimes(reference, records);
  const { body } = await answered(state.client.get(`/list/default/${state.name(list)}`), 200);
  same('record_count', (body as { record_count: number }).record_count, records.length);
  if (meaning === undefined) return;
  const embedded = records.map((record) => ({ name: record.name, vectors: vectorsOf(record) }));
  if (reference.model === 'texts') state.textModel.check(embedded, reference);
  same('records with vectors', meaning.embedded, embedded.filter(({ vectors }) => vectors.length > 0).length);
}

/** Returns the names of records in the order they are stored, and tells the reference their times. */
export async function storedNames(state: ReplayState, list: number): Promise<string[]> {
  const records = await listingOf(state, list);
  tellTimes(state.list(list), records);
  return records.map(({ name }) => name);
}

function tellTimes(reference: ReferenceList, records: readonly ListedRecord[]): void {
  const all = records.map((told) => ({ told, record: reference.find(told.name) }));
  reference.times.tell(all.flatMap(({ told, record }) => (record === undefined ? [] : [{ told, record }])));
}
