/** What a list's commits and merges record about the terms that they add and remove. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { kernel, type GenerationHandle } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { ListIndex } from '../index.js';
import { LIST_SETTINGS, ListsInFolder, NEVER_QUIET_MS } from '../../../test/support/lists-in-folder.js';

const definition: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};
/** So many records that merges of later writes leave their segment alone. */
const RECORDS = 1100;

let lists: ListsInFolder;
let list: ListIndex;
beforeEach(async () => {
  lists = new ListsInFolder({ GANNET_INGEST_MERGE_FAN_IN: '3' }).open({ quietMs: NEVER_QUIET_MS });
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
  const session = list.startImport('ndjson');
  const lines = Array.from({ length: RECORDS }, (_, index) => `{"name":"n${index}","title":"gannet tern"}\n`);
  await session.push(new TextEncoder().encode(lines.join('')));
  await session.end();
});
afterEach(() => lists.remove());

const write = (name: string, title: string) => list.write({ kind: 'put', name, fields: { title } });

function underLease<Result>(look: (generation: GenerationHandle) => Result): Result {
  const lease = list.lease();
  try {
    return look(lease.handle);
  } finally {
    lease.release();
  }
}
const inForce = () => underLease((generation) => kernel.vocabulary(generation));
const segmentCount = () => underLease((generation) => kernel.generationInfo(generation).segments.length);
/** Returns the words that may have other forms than with that vocabulary. */
const affected = (words: readonly string[], name: number) =>
  underLease((generation) => {
    const flags = kernel.affectedWords(generation, words, words.map(() => 1), words.map(() => name)); // prettier-ignore
    return words.filter((_, index) => flags[index] === 1);
  });
/** Waits until a merge has made one segment of what was written. */
const merged = () => expect.poll(() => segmentCount(), { interval: 10 }).toBe(2);

it('The vocabulary stays the same while writes bring only known words, and through their merge', async () => {
  const before = inForce().name;
  await write('a', 'tern');
  expect(inForce().name).toBe(before);
  await write('n1', 'gannet gannet');
  await write('c', 'tern gannet');
  await merged();
  expect(inForce().name).toBe(before);
});

it('The vocabulary names the words that a write adds', async () => {
  const before = inForce();
  await write('a', 'tern cormorant');
  const { name, root } = inForce();
  expect([name === before.name, root === before.root]).toEqual([false, true]);
  const words = ['cormorant', 'cormorants', 'cormorent', 'tern'];
  expect(affected(words, before.name)).toEqual(['cormorant', 'cormorants', 'cormorent']);
  expect(affected(words, name)).toEqual([]);
});

/** Words that may stand for the one that is removed, and one that may not. */
const WORDS = ['cormorants', 'cormorant', 'tern'];

it('The vocabulary names the words that a merge removes, and what is known about others is kept', async () => {
  await Promise.all([write('a', 'tern cormorant'), write('b', 'tern')]);
  const { root, name } = inForce();
  await write('a', 'tern');
  await write('c', 'gannet');
  await merged();
  expect(inForce().root).toBe(root);
  expect(affected(WORDS, name)).toEqual(['cormorants', 'cormorant']);
});

it('The vocabulary names the words of a segment that is removed because all its records were deleted', async () => {
  const { record } = await write('a', 'cormorant');
  const { root, name } = inForce();
  await list.write({ kind: 'delete', id: record.id });
  await expect.poll(() => segmentCount(), { interval: 10 }).toBe(1);
  expect(inForce().root).toBe(root);
  expect(affected(WORDS, name)).toEqual(['cormorants', 'cormorant']);
});

it('What is known about words is kept while a record is written again and again', async () => {
  const { root, name } = inForce();
  for (let count = 0; count < 6; count += 1) await write('counter', `tern ${count}`);
  await expect.poll(() => segmentCount(), { interval: 10 }).toBeLessThan(4);
  expect(inForce().root).toBe(root);
  expect(affected(['tern', 'gannets', '3', '5', '6'], name)).toEqual(['3', '5']);
});
