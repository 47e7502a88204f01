/** Records as they are sent, and as a list tells all that it has. */
import { same } from './difference.js';
import type { NewRecord } from './operations.js';
import type { ModelRecord } from './reference-list.js';
import type { Value } from './reference-values.js';
import type { Vector } from './reference-vectors.js';
import { answered, type ReplayState } from './replay-state.js';

const LISTING_SIZE = 7;

export interface ListedRecord {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, Value>>;
  readonly vector?: Vector;
  readonly vectors?: readonly Vector[];
}
interface Sent {
  readonly name?: string;
  readonly fields: NewRecord['fields'];
  readonly vectors?: NewRecord['vectors'] | undefined;
}

/** One vector is told by itself or as the only one of several. */
export function asSent({ vectors, ...others }: Sent): object {
  if (vectors === undefined) return others;
  if (vectors === null || (vectors.length === 1 && Object.keys(others.fields).length % 2 === 0))
    return { ...others, vector: vectors?.[0] ?? null };
  return { ...others, vectors };
}

/** Both forms of a record have the same of it: undefined where there is none. */
export function asListed(record: ListedRecord | undefined) {
  if (record === undefined) return undefined;
  const { fields, vector, vectors = vector === undefined ? [] : [vector] } = record;
  // Nine digits tell a number of 32 bits from all others.
  return { fields: { ...fields }, vectors: vectors.map((each) => each.map(Math.fround)) };
}

export function asKnown(record: ModelRecord | undefined) {
  return record && { fields: Object.fromEntries(record.fields), vectors: record.vectors.map((each) => [...each]) };
}

export function recordsOf(state: ReplayState, list: number): string {
  return `/search-result/default/${state.name(list)}`;
}

/** In pages one behind the other. */
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

/** Compares all records of a list with those that are known. */
export async function readAll(state: ReplayState, list: number): Promise<void> {
  const records = await listingOf(state, list);
  const reference = state.list(list);
  same('records of a list', records.map(({ name }) => name).sort(), reference.records.map(({ name }) => name).sort());
  for (const record of records) {
    const known = asKnown(reference.find(record.name));
    same('fields of a record', { ...record.fields }, known?.fields);
    if (reference.model === 'own') same('vectors of a record', asListed(record)?.vectors, known?.vectors);
  }
  const { body } = await answered(state.client.get(`/list/default/${state.name(list)}`), 200);
  const { record_count: count, meaning } = body as { record_count: number; meaning: { embedded: number } };
  same('record_count', count, records.length);
  if (reference.model !== 'own') return;
  const having = reference.records.filter(({ vectors }) => vectors.length > 0).length;
  same('records with vectors', meaning.embedded, having);
}
