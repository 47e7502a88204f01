/** Reads all records page by page during writes: each record that exists all the time must come exactly once. */
import { holdsTrue, same } from './difference.js';
import type { Operation, Write } from './operations.js';
import { recordsOf, type ListedRecord } from './replay-listing.js';
import { answered, type ReplayState } from './replay-state.js';

type Walk = Extract<Operation, { kind: 'walk' }>;

/** `write` sends a write and applies it to the reference. */
export async function walk(
  state: ReplayState,
  { list, size, beside, writes }: Walk,
  write: (write: Write) => Promise<void>,
): Promise<void> {
  const reference = state.list(list);
  // Identified by serial: a record that is renamed meanwhile remains the same record.
  const staying = new Set(reference.records.map(({ serial }) => serial));
  const names = new Map<string, Set<number>>();
  const serials = new Map<string, number>();
  const remember = () => {
    for (const { name, serial } of reference.records) names.set(name, (names.get(name) ?? new Set()).add(serial));
    const there = new Set(reference.records.map(({ serial }) => serial));
    for (const serial of staying) if (!there.has(serial)) staying.delete(serial);
  };
  const seen: ListedRecord[] = [];
  const left = [...writes];
  let after: string | undefined;
  remember();
  do {
    const query = { size, ...(after === undefined ? {} : { after }) };
    const page = answered(state.client.get(recordsOf(state, list), query), 200);
    for (const each of left.splice(0, beside)) {
      await write(each);
      remember();
    }
    const { results, next } = (await page).body as { results: ListedRecord[]; next?: string };
    holdsTrue('records of a page', results.length === size || (next === undefined && results.length < size), () => [
      results.length,
      size,
      next,
    ]);
    seen.push(...results);
    after = next;
  } while (after !== undefined);
  same('records that a walk has twice', seen.length, new Set(seen.map(({ id }) => id)).size);
  for (const { id, name } of seen) {
    const known = names.get(name);
    holdsTrue('record of a walk that never was', known !== undefined, () => name);
    for (const serial of known ?? []) serials.set(`${serial} ${id}`, serial);
  }
  const met = new Set(serials.values());
  const missing = reference.records.filter(({ serial }) => staying.has(serial) && !met.has(serial));
  same(
    'records that a walk misses',
    missing.map(({ name }) => name),
    [],
  );
}
