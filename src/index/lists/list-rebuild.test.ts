/** Lists whose segments have another format, are missing or damaged: their index is rebuilt from the records. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { changeFormat, SEGMENT_DAMAGE, segmentFilesOf } from '../../../test/support/segment-damage.js';
import { kernel, kernelConstant } from '../../../native-bindings/index.js';
import { MATCH_ALL, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { parseResult } from '../../../native-bindings/query-result.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import { segmentsPath, storePath, type ListState } from '../../store/index.js';
import { NAME_COLUMN, type IngestExecutor, type IngestResult, type IngestTask, type ListIndex } from '../index.js';
import { pageOf } from '../../../test/support/list-reading.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

/** Records which tasks are run, and can hold tasks of a kind back or fail them. */
class WatchedExecutor implements IngestExecutor {
  readonly kinds: IngestTask['kind'][] = [];
  before: (task: IngestTask) => Promise<void> | void = () => undefined;
  constructor(private readonly inner: IngestExecutor) {}

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }
  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    this.kinds.push(task.kind);
    await this.before(task);
    return this.inner.run(task);
  }
}

const definition: FieldDefinition = {
  language: 'en',
  searchable_fields: [
    { name: 'name', weight: 3 },
    { name: 'text', weight: 1 },
  ],
  facets: [
    { name: 'colour', type: 'string', cardinality: 'Many' },
    { name: 'year', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: 'place',
  inferred: 'no',
};
const WORDS = ['gannet', 'gannets', 'puffin', 'diving', 'dived', 'dive', 'cliff', 'cliffs', 'herring', '東京タワー'];

const PAGE_BYTES = 4096;

let lists: ListsInFolder;
let executor: WatchedExecutor;
let list: ListIndex;

const logging = (write: (line: string) => void) => ({ log: pino({ level: 'info' }, { write }) });
const pathOf = (id?: string) => lists.path(id);

beforeEach(async () => {
  lists = new ListsInFolder({ GANNET_VERSIONS_KEPT: '2' }, (inner) => (executor = new WatchedExecutor(inner))).open();
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

function fieldsOf(number: number) {
  const word = (step: number) => WORDS[(number * step) % WORDS.length];
  return {
    text: `${word(1)} and ${word(3)} ${word(7)} ${'again '.repeat(number % 4)}`,
    colour: number % 3 === 0 ? ['Red', 'green'] : ['Blue'],
    year: 1990 + (number % 20),
    ...(number % 5 === 0 ? {} : { place: { latitude: 50 + (number % 300) / 10, longitude: -(number % 300) / 10 } }),
  };
}

const put = (name: string, number: number) => list.write({ kind: 'put', name, fields: fieldsOf(number) });

/** Imports records into one segment, so that remains of deleted documents cannot cause differences. */
async function importRecords(begin: number, end: number): Promise<void> {
  const session = list.startImport('ndjson');
  for (let number = begin; number < end; ++number) {
    await session.push(Buffer.from(`${JSON.stringify({ name: `Record ${number}`, fields: fieldsOf(number) })}\n`));
  }
  expect((await session.end()).failed).toBe(0);
}

/**
 * Returns everything that searches get from a version: hits with scores, counts, orders, stems, typos, completions,
 * names.
 */
function answers(from: ListIndex, version?: number) {
  const lease = from.lease(version);
  const { handle } = lease;
  try {
    const found = WORDS.map((word) => {
      const term = kernel.analyse(word)[0]?.term ?? word;
      return search(handle, [term]);
    });
    return {
      found,
      all: search(handle, undefined),
      expanded: kernel.expand(handle, ['gannet', 'dive', 'pufin'], {
        editsMax: [1, 1, 1],
        stemsMax: 10,
        typosMax: 10,
        prefixesMax: 10,
        compoundsMax: 0,
      }),
      names: kernel.suggestNames(handle, NAME_COLUMN, 'record 1', 0, 20),
      completed: kernel.completeWord(handle, 'gan', 1, 20),
    };
  } finally {
    lease.release();
  }
}

function search(generation: number, terms: readonly string[] | undefined) {
  const plan = new QueryPlanWriter().write({
    needTotal: true,
    skip: 0,
    size: 1000,
    groups: terms === undefined ? [] : [{ occur: 'must', boost: 1, alternatives: [{ weight: 1, terms: [...terms] }] }],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  });
  const { total, hits } = parseResult(kernel.search(generation, plan));
  return { total, hits: Array.from({ length: hits.count }, (_, at) => [hits.recordNumber(at), hits.score(at)]) };
}

/** Returns what does not depend on deleted documents that are still in a segment. */
function matches(from: ListIndex, version?: number) {
  const { found, all } = answers(from, version);
  return [...found, all].map(({ total, hits }) => ({ total, records: hits.map(([record]) => record).sort() }));
}

/** Makes each worker die that gets a further build step. The returned function says whether one has died. */
function stopBuildAfterSteps(last: number): () => boolean {
  let steps = 0;
  executor.before = (task) => {
    if (task.kind === 'build-step' && ++steps > last) throw new ServiceError('internal-error', 'The worker died.');
  };
  return () => steps > last;
}

async function eventually(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 10 }).toBe(true);
}

/** Opens the list again; it is refused until its index is rebuilt. */
async function reopen(id = 'a1'): Promise<ListIndex> {
  await expect(lists.indexes.open(id, LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
  return opened(id);
}

async function opened(id = 'a1'): Promise<ListIndex> {
  await eventually(() => lists.indexes.opened(id) !== undefined);
  return lists.indexes.open(id, LIST_SETTINGS);
}

describe('a list', () => {
  it.each(Object.entries(SEGMENT_DAMAGE))('with a segment that is %s answers as before', async (_, damage) => {
    await importRecords(0, 200);
    const before = answers(list);
    expect(before.all.total).toBe(200);
    expect(before.expanded[1]?.stems.length).toBeGreaterThan(0);
    await lists.close();
    for (const file of segmentFilesOf(pathOf())) damage(file);
    lists.open();
    list = await reopen();
    expect(answers(list)).toEqual(before);
    expect(await list.check()).toEqual([]);
    expect((await put('Record 7', 8)).outcome).toBe('updated');
    expect((await put('new', 9)).outcome).toBe('created');
    expect(await list.check()).toEqual([]);
  });

  it('is restored with deletions, frozen versions and a half-built version', async () => {
    // One step of a build takes 10,000 records.
    const recordCount = 10_050;
    await importRecords(0, recordCount);
    for (const number of [3, 4, 5]) await put(`Record ${number}`, number + 50);
    await list.changeDefinition({ ...definition, searchable_fields: [{ name: 'text', weight: 1 }] });
    await eventually(() => list.currentVersion === 2);
    const { records } = await pageOf(list, 10, 5);
    for (const { id } of records) await list.write({ kind: 'delete', id });
    const stopped = stopBuildAfterSteps(1);
    await list.changeDefinition({ ...definition, facets: [] });
    await eventually(stopped);
    await put('while it is built', 1);
    await put('Record 1', 2);
    const before = [matches(list, 1), matches(list, 2)];
    const counts = [recordCount, recordCount - 5 + 1, 10_000];
    expect(list.versions().map(({ record_count }) => record_count)).toEqual(counts);
    await lists.close();
    for (const file of segmentFilesOf(pathOf())) changeFormat(file);
    lists.open();
    stopBuildAfterSteps(0);
    list = await reopen();
    expect(executor.kinds.filter((kind) => kind === 'commit-reindex')).toHaveLength(3);
    expect([matches(list, 1), matches(list, 2)]).toEqual(before);
    expect(list.versions().map(({ record_count }) => record_count)).toEqual(counts);
    expect(await list.check()).toEqual([]);
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    await eventually(() => list.currentVersion === 3);
    expect([list.versions().at(-1)?.record_count, await list.check()]).toEqual([counts[1], []]);
  });

  it('is rebuilt if the stems of its language changed, and left alone otherwise', async () => {
    const format = kernelConstant('FormatVersion');
    const polish = { ...LIST_SETTINGS, language: 'pl' };
    await importRecords(0, 5);
    const shop = await lists.indexes.create('b1', polish, { ...definition, language: 'pl' });
    await shop.write({ kind: 'put', name: 'one', fields: { text: 'książki' } });
    await lists.close();
    for (const file of segmentFilesOf(pathOf('b1'))) changeFormat(file, format, format + 0x10000);
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(executor.kinds).toEqual([]);
    await expect(lists.indexes.open('b1', polish)).rejects.toMatchObject({ code: 'not-ready' });
    await eventually(() => lists.indexes.opened('b1') !== undefined);
    const [file = ''] = segmentFilesOf(pathOf('b1'));
    expect(() => changeFormat(file, format, format + 0x10000)).not.toThrow();
  });

  it('has only those versions rebuilt that need it, and a clone keeps its own files', async () => {
    await importRecords(0, 50);
    const clone = await lists.indexes.clone('a1', 'b1', LIST_SETTINGS);
    await list.changeDefinition({ ...definition, searchable_fields: [{ name: 'text', weight: 1 }] });
    await eventually(() => list.currentVersion === 2);
    const before = [matches(list, 1), matches(list, 2), matches(clone)];
    await lists.close();
    const [first, ...others] = segmentFilesOf(pathOf());
    rmSync(first as string);
    lists.open();
    list = await reopen();
    expect(executor.kinds.filter((kind) => kind === 'commit-reindex')).toHaveLength(1);
    const same = await lists.indexes.open('b1', LIST_SETTINGS);
    expect([matches(list, 1), matches(list, 2), matches(same)]).toEqual(before);
    expect([await list.check(), await same.check()]).toEqual([[], []]);
    for (const file of others) expect(statSync(file).nlink).toBeGreaterThan(0);
  });

  it('without records opens after its segment is discarded', async () => {
    // Without this, a merge could remove the segment before the list is closed.
    executor.before = ({ kind }) => {
      if (kind === 'merge') throw new ServiceError('overloaded', 'No merge now.');
    };
    await put('only', 1);
    const [only] = (await pageOf(list, 0, 1)).records;
    await list.write({ kind: 'delete', id: only?.id ?? '' });
    await lists.close();
    const files = segmentFilesOf(pathOf());
    expect(files).toHaveLength(1);
    for (const file of files) changeFormat(file);
    lists.open();
    list = await reopen();
    expect([list.versions()[0]?.record_count, segmentFilesOf(pathOf())]).toEqual([0, []]);
  });
});

describe('a rebuild', () => {
  const damage = async (id = 'a1') => {
    await lists.close();
    for (const file of segmentFilesOf(pathOf(id))) changeFormat(file);
  };

  it('reports its progress while the list is refused, and other lists are served', async () => {
    await importRecords(0, 30);
    await lists.indexes.create('b1', LIST_SETTINGS, definition);
    await damage();
    const lines: string[] = [];
    lists.open(logging((line) => lines.push(line)));
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    executor.before = (task) => (task.kind === 'commit-reindex' ? held : undefined);
    const refused = await lists.indexes.open('a1', LIST_SETTINGS).catch((error: unknown) => error as ServiceError);
    expect(refused).toMatchObject({ code: 'not-ready', retryAfterSeconds: 5 });
    expect((refused as ServiceError).detail).toContain('30 records');
    expect((await lists.indexes.open('b1', LIST_SETTINGS)).versions()).toHaveLength(1);
    await eventually(() => executor.kinds.includes('commit-reindex'));
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toThrow('30 of 30 records are done');
    expect(lists.indexes.outline('a1')?.versions()).toMatchObject([{ version: 1, record_count: 30 }]);
    go();
    list = await opened();
    expect(await list.check()).toEqual([]);
    expect(lines.join()).toContain('unsupported-format');
    expect(lines.join()).toContain("A list's index was rebuilt");
  });

  it('of one list waits for that of another', async () => {
    await importRecords(0, 10);
    const other = await lists.indexes.clone('a1', 'b1', LIST_SETTINGS);
    expect(other.currentVersion).toBe(1);
    await damage();
    lists.open();
    let atWork = 0;
    let most = 0;
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    executor.before = async () => {
      most = Math.max(most, (atWork += 1));
      await held;
      await new Promise((resolve) => setTimeout(resolve, 5));
      atWork -= 1;
    };
    for (const id of ['a1', 'b1'])
      await expect(lists.indexes.open(id, LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await expect(lists.indexes.open('b1', LIST_SETTINGS)).rejects.toThrow('waits for another list');
    go();
    const both = [await opened('a1'), await opened('b1')];
    expect(most).toBe(1);
    for (const each of both) expect(await each.check()).toEqual([]);
  });

  it('that is stopped keeps the old state, and starts again', async () => {
    await importRecords(0, 30);
    await damage();
    const old = segmentFilesOf(pathOf());
    lists.open();
    let stopped: Promise<void> | undefined;
    executor.before = (task) => {
      if (task.kind === 'reindex') stopped = lists.indexes.close();
    };
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await eventually(() => stopped !== undefined);
    await stopped;
    expect(executor.kinds).toEqual(['reindex']);
    expect(segmentFilesOf(pathOf())).toEqual(expect.arrayContaining(old));
    await lists.close();
    lists.open();
    list = await reopen();
    expect([list.versions()[0]?.record_count, await list.check()]).toEqual([30, []]);
  });

  it('whose worker dies at its commit keeps the list closed until the next start', async () => {
    await importRecords(0, 30);
    await damage();
    const lines: string[] = [];
    lists.open(logging((line) => lines.push(line)));
    executor.before = (task) => {
      if (task.kind === 'commit-reindex') throw new ServiceError('internal-error', 'The worker died.');
    };
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await eventually(() => lines.join().includes('could not be rebuilt'));
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'internal-error' });
    await lists.close();
    lists.open();
    list = await reopen();
    expect([list.versions()[0]?.record_count, await list.check()]).toEqual([30, []]);
    expect(segmentFilesOf(pathOf())).toHaveLength(1);
  });

  it('names a record that is damaged in the store, and changes nothing', async () => {
    await importRecords(0, 30);
    await damage();
    const files = segmentFilesOf(pathOf());
    const store = new RecordStore(pathOf());
    const version = store.version(1).prepare();
    store.transaction(() => {
      version.putRecord(17, Buffer.from('no record'));
    });
    await store.close();
    const lines: string[] = [];
    lists.open(logging((line) => lines.push(line)));
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await eventually(() => lines.join().includes('could not be rebuilt'));
    expect(lines.join()).toContain('Record 17 of version 1 cannot be read');
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'internal-error' });
    expect(segmentFilesOf(pathOf())).toEqual(files);
  });

  it('ends if its list is deleted', async () => {
    await importRecords(0, 30);
    await damage();
    lists.open();
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await lists.indexes.remove('a1');
    expect(readdirSync(join(lists.dataDir, 'lists'))).toEqual([]);
    expect(lists.indexes.outline('a1')).toBeUndefined();
  });

  it('that waits for another ends at once if its list is deleted', async () => {
    await importRecords(0, 10);
    await lists.indexes.clone('a1', 'b1', LIST_SETTINGS);
    await damage();
    lists.open();
    let go = () => {};
    const held = new Promise<void>((resolve) => (go = resolve));
    executor.before = () => held;
    for (const id of ['a1', 'b1'])
      await expect(lists.indexes.open(id, LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    await lists.indexes.remove('b1');
    expect(readdirSync(join(lists.dataDir, 'lists'))).toEqual(['a1']);
    go();
    list = await opened();
    expect(await list.check()).toEqual([]);
    expect(readdirSync(join(lists.dataDir, 'lists'))).toEqual(['a1']);
  });

  it('is retried if the queue of tasks was full', async () => {
    await importRecords(0, 10);
    await damage();
    lists.open();
    const refusedOnce = new Set(['reindex', 'commit-reindex']);
    executor.before = ({ kind }) => {
      if (refusedOnce.delete(kind)) throw new ServiceError('overloaded', 'Too many tasks are waiting.');
    };
    list = await reopen();
    expect([refusedOnce.size, await list.check()]).toEqual([0, []]);
  });

  it('is waited for if waitForRebuild is set', async () => {
    await importRecords(0, 30);
    await damage();
    lists.open({ waitForRebuild: true });
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(await list.check()).toEqual([]);
  });
});

describe('reindexing an open list on demand', () => {
  it('serves searches and writes meanwhile, and loses no record', async () => {
    await importRecords(0, 100);
    for (const number of [3, 4]) await put(`Record ${number}`, number + 50);
    const old = segmentFilesOf(pathOf());
    const counts: number[] = [];
    const { records } = await pageOf(list, 20, 3);
    const removed = async (at: number) => list.write({ kind: 'delete', id: records[at]?.id ?? '' });
    // Records are written before the first record is read and after the last one was.
    executor.before = async (task) => {
      if (task.kind === 'reindex') {
        executor.before = () => undefined;
        counts.push(answers(list).all.total);
        await Promise.all([put('Record 8', 9), put('new', 1), removed(0)]);
      }
    };
    const inner = executor.run.bind(executor);
    executor.run = async (task) => {
      const result = await inner(task);
      if (task.kind === 'reindex') {
        await Promise.all([put('Record 9', 10), put('newer', 1), put('new', 2), removed(1)]);
        await removed(2);
        counts.push(answers(list).all.total);
      }
      return result;
    };
    expect(await list.reindex()).toBe(100);
    expect(counts).toEqual([100, 99]);
    expect(list.versions()[0]?.record_count).toBe(99);
    expect(await list.check()).toEqual([]);
    const before = matches(list);
    await eventually(() => segmentFilesOf(pathOf()).every((file) => !old.includes(file)));
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect([matches(list), await list.check()]).toEqual([before, []]);
  });

  it('is not needed for damage that only a search would meet: opening the list repairs it', async () => {
    await importRecords(0, 100);
    const before = answers(list);
    await lists.close();
    const [file] = segmentFilesOf(pathOf());
    // The entry of a term, after the size of its key and the key: only a search for that term reads it.
    const bytes = readFileSync(file as string);
    const node = Buffer.from('\x07\0Tpuffin', 'latin1');
    const value = bytes.indexOf(node) + node.length;
    bytes.fill(0xff, value, value + 16);
    writeFileSync(file as string, bytes);
    lists.open();
    list = await reopen();
    expect(answers(list)).toEqual(before);
  });

  it('is refused while one is in progress, and ends with the service', async () => {
    await importRecords(0, 100);
    let closed: Promise<void> | undefined;
    executor.before = (task) => {
      if (task.kind === 'reindex') closed = lists.indexes.close();
    };
    const first = list.reindex();
    await expect(list.reindex()).rejects.toMatchObject({ code: 'conflict' });
    await expect(first).rejects.toMatchObject({ code: 'shutting-down' });
    await closed;
    expect(executor.kinds).not.toContain('commit-reindex');
  });

  it('is retried on demand after the rebuild had failed', async () => {
    await importRecords(0, 30);
    await lists.close();
    for (const file of segmentFilesOf(pathOf())) changeFormat(file);
    lists.open();
    executor.before = (task) => {
      if (task.kind === 'reindex') throw new ServiceError('internal-error', 'The worker died.');
    };
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    const refusal = () => lists.indexes.open('a1', LIST_SETTINGS).catch((error: unknown) => error);
    await expect.poll(refusal, { interval: 10 }).toMatchObject({ code: 'internal-error' });
    executor.before = () => undefined;
    await expect(lists.indexes.reindex('a1', LIST_SETTINGS)).rejects.toMatchObject({ code: 'not-ready' });
    list = await opened();
    expect(await list.check()).toEqual([]);
  });
});

it('A rebuild is retried by later requests after a disk error, and the log and all answers say so', async () => {
  await importRecords(0, 30);
  await lists.close();
  for (const file of segmentFilesOf(pathOf())) changeFormat(file);
  const lines: string[] = [];
  lists.open(logging((line) => lines.push(line)));
  executor.before = (task) => {
    const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
    if (task.kind === 'reindex') throw error;
  };
  const refusal = () => lists.indexes.open('a1', LIST_SETTINGS).catch((error: unknown) => error);
  await expect.poll(refusal, { interval: 10 }).toMatchObject({ detail: expect.stringContaining('tried again') });
  const said = lines.find((line) => line.includes("A list's index could not be rebuilt"));
  expect(said).toContain('has it tried again');
  expect(said).not.toContain('stays closed');
  let nowMs = performance.now() + 6000;
  // It stands still otherwise: a busy machine may take longer than the wait.
  const now = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  try {
    // The disk fails again: the next wait is twice as long, and nothing is tried after 6 s.
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining('is being rebuilt') });
    await expect.poll(refusal, { interval: 10 }).toMatchObject({ detail: expect.stringContaining('tried again') });
    expect(lines.filter((line) => line.includes('from 10 s on'))).toHaveLength(1);
    executor.before = () => undefined;
    nowMs += 6000;
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining('tried again') });
    nowMs += 6000;
    // Nobody has used the list: viewing its outline does not change what it answers next.
    expect([1, 2].map(() => lists.indexes.outline('a1'))).toEqual([undefined, undefined]);
    expect(await refusal()).toMatchObject({ detail: expect.stringContaining('is being rebuilt') });
    list = await opened();
  } finally {
    now.mockRestore();
  }
  expect(await list.check()).toEqual([]);
});

describe('a store of another format', () => {
  it('is refused by its number and left as it is', async () => {
    await importRecords(0, 10);
    await lists.close();
    const store = new RecordStore(pathOf());
    const state = store.state() as ListState;
    store.transaction(() => {
      store.putState({ ...state, format: 99 });
    });
    await store.close();
    const data = join(storePath(pathOf()), 'data.mdb');
    const hash = () => createHash('sha256').update(readFileSync(data)).digest('hex');
    const before = [hash(), readdirSync(segmentsPath(pathOf()))];
    lists.open();
    await expect(lists.indexes.open('a1', LIST_SETTINGS)).rejects.toMatchObject({
      code: 'list-format',
      cause: expect.objectContaining({
        message: expect.stringContaining('has format 99, and this release reads format 1') as string,
      }) as Error,
    });
    await lists.close();
    expect([hash(), readdirSync(segmentsPath(pathOf()))]).toEqual(before);
  });
});

it('A rebuild is retried if it meets an unreadable page of the records', async () => {
  await importRecords(0, 30);
  await lists.close();
  for (const file of segmentFilesOf(pathOf())) changeFormat(file);
  const store = join(storePath(pathOf()), 'data.mdb');
  const whole = readFileSync(store);
  const zeroed = Buffer.from(whole);
  for (let at = zeroed.indexOf('again again'); at >= 0; at = zeroed.indexOf('again again')) {
    const page = at - (at % PAGE_BYTES);
    zeroed.fill(0, page, page + PAGE_BYTES);
  }
  writeFileSync(store, zeroed);
  lists.open();
  const refusal = () => lists.indexes.open('a1', LIST_SETTINGS).catch((error: unknown) => error);
  await expect.poll(refusal, { interval: 10 }).toMatchObject({
    code: 'not-ready',
    detail: expect.stringContaining('tried again'),
  });
});

it('A failed rebuild is started again when the store of its list becomes readable', async () => {
  await importRecords(0, 30);
  await lists.close();
  for (const file of segmentFilesOf(pathOf())) changeFormat(file);
  lists.open();
  executor.before = ({ kind }) => {
    if (kind === 'reindex') throw new ServiceError('unprocessable', 'Zeros lie where a page could not be read.');
  };
  const code = () =>
    lists.indexes.open('a1', LIST_SETTINGS).then(
      () => 'open',
      (error: unknown) => (error as ServiceError).code,
    );
  await expect.poll(code, { interval: 10 }).toBe('internal-error');
  executor.before = () => undefined;
  const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
  lists.indexes.closeDamaged('a1', LIST_SETTINGS, error);
  await expect.poll(code, { interval: 10 }).toBe('open');
});

it('A rebuild that reads zeros is started again if the store of its list was mapped anew meanwhile', async () => {
  await importRecords(0, 30);
  await lists.close();
  for (const file of segmentFilesOf(pathOf())) changeFormat(file);
  lists.open();
  let readZeros: (() => void) | undefined;
  executor.before = async ({ kind }) => {
    if (kind !== 'reindex') return;
    await new Promise<void>((resolve) => (readZeros = resolve));
    throw new ServiceError('unprocessable', 'Zeros lie where a page could not be read.');
  };
  const code = () =>
    lists.indexes.open('a1', LIST_SETTINGS).then(
      () => 'open',
      (error: unknown) => (error as ServiceError).code,
    );
  await expect.poll(code, { interval: 10 }).toBe('not-ready');
  await expect.poll(() => readZeros).toBeDefined();
  const error = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', errno: -5, syscall: 'read' });
  lists.indexes.closeDamaged('a1', LIST_SETTINGS, error);
  expect(await code()).toBe('list-damaged');
  await expect.poll(code, { interval: 10 }).toBe('not-ready');
  executor.before = () => undefined;
  readZeros?.();
  await expect.poll(code, { interval: 10 }).toBe('open');
});
