/** The order in which the indexes of several lists are rebuilt, and when they are tried again. */
import { basename } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';
import { changeFormat, segmentFilesOf } from '../../../test/support/segment-damage.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import type { IngestExecutor, IngestTask } from '../index.js';

const DEFINITION: FieldDefinition = {
  language: 'en',
  searchable_fields: [{ name: 'text', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};
/** Several pieces for a list of a thousand records. */
const PIECES = { GANNET_INGEST_BATCH_RECORDS_MAX: '300' };

/** Lists in the order in which their rebuilds begin or go on, and are put in force. */
let begun: string[];
let done: string[];
let before: (task: IngestTask) => Promise<void> | undefined;
let lists: ListsInFolder;

/** Lets what a test holds go on, if it failed before it did so. */
let release = () => {};

afterEach(async () => {
  release();
  await lists.remove();
});

const watched = (inner: IngestExecutor): IngestExecutor => ({
  get waiting() {
    return inner.waiting;
  },
  waitingByAccount: () => inner.waitingByAccount(),
  async run(task, options) {
    await before(task);
    return inner.run(task, options);
  },
});

/** Creates lists with so many records, and opens all with segments of another format. The first piece is held until `go`. */
async function outdated(counts: Readonly<Record<string, number>>, environment: Readonly<Record<string, string>> = {}) {
  before = () => undefined;
  lists = new ListsInFolder(environment, watched).open();
  for (const [id, count] of Object.entries(counts)) {
    const session = (await lists.indexes.create(id, LIST_SETTINGS, DEFINITION)).startImport('ndjson');
    for (let number = 0; number < count; ++number)
      await session.push(Buffer.from(`{"name":"Record ${number}","fields":{"text":"gannet ${number}"}}\n`));
    await session.end();
  }
  await lists.close();
  for (const id of Object.keys(counts)) for (const file of segmentFilesOf(lists.path(id))) changeFormat(file);
  lists.open();
  [begun, done] = [[], []];
  let go = () => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  before = (task) => {
    if (task.kind === 'commit-reindex') done.push(basename(task.listPath));
    if (task.kind !== 'reindex') return undefined;
    if (begun.at(-1) !== basename(task.listPath)) begun.push(basename(task.listPath));
    return held;
  };
  return go;
}

/** Opens lists as a start does, without anybody asking for them. */
const resume = (...ids: readonly string[]) =>
  lists.indexes.resume(() => ids.map((id) => ({ id, settings: LIST_SETTINGS })));

const are = (found: () => readonly string[], count: number) =>
  expect.poll(() => found().length, { interval: 10 }).toBe(count);

it('A rebuild comes first if somebody asks for its list, and else if its list has fewer records', async () => {
  const go = await outdated({ first: 10, large: 300, medium: 200, small: 100 });
  await resume('first');
  await are(() => begun, 1);
  await resume('large', 'medium', 'small');
  await expect(lists.indexes.open('large', LIST_SETTINGS)).rejects.toThrow('waits for another list');
  go();
  await are(() => done, 4);
  expect(done).toEqual(['first', 'large', 'small', 'medium']);
});

it('A large rebuild lets short ones go first between two of its pieces', async () => {
  const go = await outdated({ large: 1000, short: 20, long: 900 }, PIECES);
  await resume('large');
  await are(() => begun, 1);
  await resume('long', 'short');
  go();
  await are(() => done, 3);
  expect([begun, done]).toEqual([
    ['large', 'short', 'large', 'long'],
    ['short', 'large', 'long'],
  ]);
  for (const id of ['large', 'short', 'long']) {
    await expect.poll(() => lists.indexes.opened(id) !== undefined).toBe(true);
    expect(await (await lists.indexes.open(id, LIST_SETTINGS)).check()).toEqual([]);
  }
});

it('A rebuild that somebody waits for is not interrupted by those that nobody waits for', async () => {
  const go = await outdated({ large: 1000, short: 20 }, PIECES);
  await expect(lists.indexes.open('large', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
  await are(() => begun, 1);
  await resume('short');
  go();
  await are(() => done, 2);
  expect(done).toEqual(['large', 'short']);
});

it('A large rebuild that was interrupted ends if the lists are closed', async () => {
  const go = await outdated({ large: 1000, short: 20 }, PIECES);
  await resume('large');
  await are(() => begun, 1);
  await resume('short');
  const held = before;
  let closed: Promise<void> | undefined;
  before = (task) => {
    const isShort = task.kind === 'reindex' && basename(task.listPath) === 'short';
    if (isShort) closed ??= lists.indexes.close();
    return held(task);
  };
  go();
  await expect.poll(() => closed !== undefined).toBe(true);
  await closed;
  expect(done).toEqual([]);
});

it('A list can be deleted while a short rebuild goes before the rest of its own, and no other one begins meanwhile', async () => {
  const go = await outdated({ large: 1000, short: 20, long: 900 }, PIECES);
  await resume('large');
  await are(() => begun, 1);
  await resume('short', 'long');
  const held = before;
  const shortHeld = new Promise<void>((resolve) => (release = resolve));
  before = (task) => {
    void held(task);
    return task.kind === 'reindex' && basename(task.listPath) === 'short' ? shortHeld : undefined;
  };
  go();
  await are(() => begun, 2);
  await lists.indexes.remove('large');
  // Another rebuild would have begun before this ends.
  await lists.indexes.create('new', LIST_SETTINGS, DEFINITION);
  expect([begun, done]).toEqual([['large', 'short'], []]);
  release();
  await are(() => done, 2);
  expect([begun, done]).toEqual([
    ['large', 'short', 'long'],
    ['short', 'long'],
  ]);
});

it('A rebuild that a full disk ended says so, and is tried again when there is room and somebody asks for the list', async () => {
  const go = await outdated({ only: 50 });
  let isFull = true;
  before = () => {
    if (isFull) throw new ServiceError('storage-full', 'The disk is full.');
    return undefined;
  };
  go();
  const refusal = () => lists.indexes.open('only', LIST_SETTINGS).catch((error: unknown) => error);
  const said = 'because the disk is full (see the log of the service). Free some space; it is tried again';
  await expect
    .poll(refusal, { interval: 10 })
    .toMatchObject({ code: 'not-ready', detail: expect.stringContaining(said) as string, retryAfterSeconds: 5 });
  isFull = false;
  const realNow = performance.now.bind(performance);
  const now = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 6000);
  try {
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining('is being rebuilt') as string });
    await expect.poll(() => lists.indexes.opened('only') !== undefined, { interval: 10 }).toBe(true);
  } finally {
    now.mockRestore();
  }
  expect(await (await lists.indexes.open('only', LIST_SETTINGS)).check()).toEqual([]);
});
