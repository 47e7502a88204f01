/** Lists with the built-in model: it is learned from their own records, and again when there are twice as many. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi, type MockInstance } from 'vitest';
import {
  importLines,
  LIST_DEFINITION as definition,
  LIST_SETTINGS as settings,
  ListsWithModels,
  putRequest as put,
} from '../../../test/support/lists-with-models.js';
import { kernel } from '../../../native-bindings/index.js';
import { SeededRandom } from '../../../test/support/random.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';
import { BuiltInModels } from '../../vectors/index.js';
import type { IngestExecutor, ListIndex } from '../index.js';
import { LEARNED_RECORDS_MIN } from './built-in-learner.js';

const BUILT_IN = 'built-in';
const TOPICS = [
  'sea bird wave gull cliff',
  'bank rate loan credit bond',
  'leaf root moss fern soil',
  'gear axle brake wheel',
];

let lists: ListsWithModels;
let run: MockInstance<IngestExecutor['run']>;
beforeEach(() => {
  lists = new ListsWithModels(new ScriptedModels(), {}, (inner) => {
    run = vi.spyOn(inner, 'run');
    return inner;
  });
});
afterEach(() => lists.remove());

const learnings = () => run.mock.calls.filter(([{ kind }]) => kind === 'learn-model').length;

function recordLines(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, at) => {
    const random = new SeededRandom(from + at);
    const words = TOPICS[(from + at) % TOPICS.length]?.split(' ') ?? [];
    const title = Array.from({ length: 4 }, () => `${words[random.below(words.length)]}${random.below(4)}`).join(' ');
    return JSON.stringify({ name: `r${from + at}`, title });
  });
}

const untilReady = (list: ListIndex, embedded: number) =>
  expect.poll(() => list.meaning(), { interval: 5 }).toMatchObject({ state: 'ready', embedded });
const spaces = () =>
  lists.inStore((_, state) =>
    (state.meaning?.spaces ?? []).map(({ number, state: is, learnedFrom }) => [number, is, learnedFrom]),
  );
const modelsInStore = () =>
  lists.inStore((store, state) =>
    (state.meaning?.spaces ?? []).map(({ modelVersion }) => BuiltInModels.of(store).get(modelVersion)?.learnedFrom),
  );

it('The built-in model says how many records it needs, learns from them, and gives each record a vector', async () => {
  const list = await lists.create(BUILT_IN);
  await importLines(list, recordLines(10));
  expect(list.meaning()).toEqual({
    state: 'off',
    embedded: 0,
    pending: 0,
    failed: 0,
    error: `It learns from ${LEARNED_RECORDS_MIN} records on; there are 10.`,
  });
  await importLines(list, recordLines(90, 10));
  await untilReady(list, 100);
  expect(await spaces()).toEqual([[1, 'serving', 100]]);
  await list.write(put('later', { title: 'sea1 wave2 gull3' }));
  await untilReady(list, 101);
  await list.write(put('strange', { title: 'unheard of' }));
  await expect.poll(() => list.meaning()).toMatchObject({ embedded: 101, failed: 1, error: 'unknown-words' });
});

it('The built-in model is learned again when the list has doubled, and replaces the old one when all vectors are there', async () => {
  const list = await lists.create(BUILT_IN);
  await importLines(list, recordLines(80));
  await untilReady(list, 80);
  const before = list.searchedBy(1)?.modelVersion;
  expect(before).toBeDefined();
  await importLines(list, recordLines(79, 80));
  await untilReady(list, 159);
  expect(list.searchedBy(1)?.modelVersion).toBe(before);
  await importLines(list, recordLines(1, 159));
  await expect.poll(() => list.searchedBy(1)?.modelVersion).not.toBe(before);
  await untilReady(list, 160);
  await expect.poll(spaces).toEqual([[2, 'serving', 160]]);
  expect(await modelsInStore()).toEqual([160]);
  const left = await lists.inStore((store) => [
    store.environment.database('vectors-v1-s1').getStats(),
    Array.from(store.environment.database('built-in-models').getKeys()).length,
  ]);
  expect(left).toMatchObject([{ entryCount: 0 }, 1]);
  await lists.reopen(BUILT_IN);
  const named = await lists.inStore((store) => store.environment.database('manifest-v1-s2').getKeysCount());
  const files = readdirSync(join(lists.path(), 'segments')).filter((name) => name.endsWith('.gvs'));
  expect(files).toHaveLength(named);
});

it('The built-in model is kept through restarts, versions, clones and other models, and learned again if it is lost', async () => {
  let list = await lists.create(BUILT_IN);
  await importLines(list, recordLines(100));
  await untilReady(list, 100);
  const vectors = await lists.storedVectors();
  const version = list.searchedBy(1)?.modelVersion;

  list = await lists.reopen(BUILT_IN);
  expect(list.meaning()).toMatchObject({ state: 'ready', embedded: 100 });
  await list.changeDefinition({ ...definition, facets: [] });
  await expect.poll(() => list.currentVersion).toBe(2);
  await untilReady(list, 100);
  expect(await lists.storedVectors()).toEqual(vectors);
  const clone = await lists.indexes.clone('a1', 'a2', { ...settings, list: 'copy', model: BUILT_IN });
  await clone.write(put('new', { title: 'sea1 wave2 gull3' }));
  await untilReady(clone, 101);
  expect(await spaces()).toEqual([[1, 'serving', 100]]);

  await list.applySettings({ ...settings, model: null });
  expect(list.meaning()?.state).toBe('off');
  await list.applySettings({ ...settings, model: BUILT_IN });
  await untilReady(list, 100);
  await expect.poll(() => list.searchedBy(2)?.modelVersion).toBe(version);

  await lists.close();
  await lists.inStore((store) => store.environment.database('built-in-models').clearSync());
  lists.open();
  list = await lists.indexes.open('a1', { ...settings, model: BUILT_IN });
  await list.write(put('after', { title: 'sea1 wave2 gull3' }));
  await untilReady(list, 101);
  expect(await modelsInStore()).toEqual([101]);
  expect(existsSync(lists.path())).toBe(true);
});

const strangeLines = (count: number) =>
  Array.from({ length: count }, (_, n) => JSON.stringify({ name: `s${n}`, title: `word${n}` }));
const NOTHING_IN_COMMON = { state: 'off', error: 'The records have no words in common to learn from.' };

it('The built-in model reports records without common words, and is tried again with a quarter more records, not each commit', async () => {
  const list = await lists.create(BUILT_IN);
  await importLines(list, strangeLines(70));
  await expect.poll(() => list.meaning()).toMatchObject(NOTHING_IN_COMMON);
  for (let n = 70; n < 80; n += 1) await list.write(put(`s${n}`, { title: `word${n}` }));
  expect(list.meaning()).toMatchObject(NOTHING_IN_COMMON);
  expect(learnings()).toBe(1);
  await importLines(list, recordLines(20));
  await expect.poll(() => list.meaning(), { interval: 5 }).toMatchObject({ state: 'ready', pending: 0 });
  expect(learnings()).toBe(2);
});

it('The built-in model is tried again for a new version, whose texts may have more words in common', async () => {
  const list = await lists.create(BUILT_IN);
  await importLines(list, strangeLines(70));
  await expect.poll(() => list.meaning()).toMatchObject(NOTHING_IN_COMMON);
  await list.changeDefinition({ ...definition, searchable_fields: [{ name: 'name', weight: 1 }] });
  await expect.poll(learnings).toBe(2);
});

it('The built-in model is completed although the list is closed again and again, and only one model remains', async () => {
  let list = await lists.create(BUILT_IN);
  for (let from = 0; from < 320; from += 40) {
    await importLines(list, recordLines(40, from));
    list = await lists.reopen(BUILT_IN);
  }
  // A model that was learned from half of the records or fewer serves until the next one is there.
  await expect
    .poll(async () => (await spaces()).map(([, state, learnedFrom]) => [state, Number(learnedFrom) > 160]))
    .toEqual([['serving', true]]);
  await expect.poll(() => list.meaning(), { interval: 5 }).toMatchObject({ state: 'ready', pending: 0 });
  const { embedded = 0, failed = 0 } = list.meaning() ?? {};
  expect(embedded + failed).toBe(320);
});

it("The built-in model is learned again once if a release changes the stems of the list's language", async () => {
  const list = await lists.create(BUILT_IN);
  await importLines(list, recordLines(100));
  await untilReady(list, 100);
  const revision = vi.spyOn(kernel, 'stemsRevision').mockReturnValue(7);
  try {
    await lists.reopen(BUILT_IN);
    const revisions = () =>
      lists.inStore((_, state) => (state.meaning?.spaces ?? []).map(({ stemsRevision }) => stemsRevision));
    await expect.poll(revisions, { interval: 20 }).toEqual([7]);
    // Counted since the list was opened: each opening has a spy of its own.
    expect(learnings()).toBe(1);
    const again = await lists.reopen(BUILT_IN);
    await again.write(put('later', { title: 'sea1 wave2 gull3' }));
    await untilReady(again, 101);
    expect(learnings()).toBe(0);
  } finally {
    revision.mockRestore();
  }
});
