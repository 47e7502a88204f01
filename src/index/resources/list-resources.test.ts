/** The files of a list, read by a scripted reader: when they are read, and what is kept of the outcome. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
} from '../../../test/support/lists-with-models.js';
import { ScriptedModels } from '../../../test/support/scripted-models.js';
import type { FieldDefinition } from '../../catalog/index.js';
import type { FileReader, ReadingOutcome, ReadingRequest } from '../../extracts/index.js';
import { ProgressBoard } from '../../platform/index.js';
import type { ListIndex } from '../index.js';

const URL_A = 'https://example.com/a.pdf';
const HOUR_MS = 3_600_000;
const POLL = { interval: 5 };
const definition: FieldDefinition = { ...LIST_DEFINITION, resources: [{ name: 'report', kind: 'document' }] };

class ScriptedReader implements FileReader {
  readonly framesBy = '';
  readonly parallelMax = 2;
  readonly retryMs = [1, 1];
  readonly asked: ReadingRequest[] = [];
  readonly signals: AbortSignal[] = [];
  outcome: (request: ReadingRequest) => Promise<ReadingOutcome> = () => Promise.resolve(readAs('Text'));

  constructor(readonly checkMs = HOUR_MS) {}

  pictureModel(): undefined {
    return undefined;
  }

  async read(request: ReadingRequest, signal: AbortSignal): Promise<ReadingOutcome> {
    this.asked.push(request);
    this.signals.push(signal);
    // Nothing else in this reader lets other work have a turn.
    await new Promise((resolve) => setImmediate(resolve));
    return this.outcome(request);
  }
}

const FILE = { validators: { etag: '"1"' }, hash: 'h' };
const readAs = (text: string): ReadingOutcome => ({
  kind: 'read',
  file: FILE,
  content: { kind: 'document', pageCount: 1, truncated: false, pages: [{ page: 1, text }] },
});
const unreachable = (afterMs?: number): ReadingOutcome => ({
  kind: 'unreachable',
  error: 'timed-out',
  detail: 'Nobody answers.',
  afterMs,
});

let lists: ListsWithModels;
let reader: ScriptedReader;
let list: ListIndex;
beforeEach(async () => {
  lists = new ListsWithModels(new ScriptedModels({}));
  reader = new ScriptedReader();
  lists.indexes.useReader(reader);
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

const settled = () => expect.poll(() => list.files.status()?.pending, POLL).toBe(0);
const textOf = async (name: string) => (await list.files.texts(name, { max: 10 }))?.map(({ pages }) => pages[0]?.text);

describe('files of a list', () => {
  it('are read once, and checked again with their known validators when that is due', async () => {
    await list.write(put('one', { report: URL_A }));
    await list.write(put('two', { report: URL_A }));
    await settled();
    expect(reader.asked).toMatchObject([{ account: 'default', url: URL_A, kind: 'document', known: undefined }]);
    expect([await textOf('one'), await textOf('two')]).toEqual([['Text'], ['Text']]);
    reader.outcome = () => Promise.resolve({ kind: 'unchanged', file: FILE });
    await list.files.changed([URL_A, 'https://example.com/nobody-links-to-it.pdf']);
    await expect.poll(() => reader.asked.length, POLL).toBe(2);
    expect(reader.asked[1]?.known).toEqual(FILE);
    await settled();
    expect(await textOf('one')).toEqual(['Text']);
  });

  it('are pending from a report of their change until they were checked', async () => {
    await list.write(put('one', { report: URL_A }));
    await settled();
    for (const outcome of [{ kind: 'unchanged', file: FILE } as const, readAs('Other')]) {
      let answer = (): void => undefined;
      const told = new Promise<ReadingOutcome>((resolve) => (answer = () => resolve(outcome)));
      reader.outcome = () => told;
      const before = reader.asked.length;
      await list.files.changed([URL_A]);
      expect(list.files.status()).toMatchObject({ pending: 1, read: 0, failed: 0 });
      await expect.poll(() => reader.asked.length, POLL).toBe(before + 1);
      expect(list.files.status()).toMatchObject({ pending: 1 });
      answer();
      await settled();
      expect(list.files.status()).toMatchObject({ read: 1, failed: 0 });
    }
    expect(await textOf('one')).toEqual(['Other']);
  });

  it('are a job exactly as long as one is to be read or put into the index', async () => {
    await lists.close();
    const progress = new ProgressBoard();
    lists.open({ progress });
    lists.indexes.useReader(reader);
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    for (const text of ['Text', 'Other', 'Third']) {
      let answer = (): void => undefined;
      const told = new Promise<ReadingOutcome>((resolve) => (answer = () => resolve(readAs(text))));
      reader.outcome = () => told;
      await list.write(put('one', { report: `${URL_A}?${text}` }));
      await expect.poll(() => progress.all(), POLL).toMatchObject([{ kind: 'resources', subject: 'a1' }]);
      answer();
      await expect.poll(() => textOf('one'), POLL).toEqual([text]);
      await settled();
      await expect.poll(() => progress.all(), POLL).toEqual([]);
    }
  });

  it('are checked again regularly', async () => {
    await lists.close();
    lists.open();
    const often = new ScriptedReader(20);
    lists.indexes.useReader(often);
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    await list.write(put('one', { report: URL_A }));
    await expect.poll(() => often.asked.length, POLL).toBeGreaterThan(3);
  });

  it('are retried a limited number of times, and keep what was read before', async () => {
    await list.write(put('one', { report: URL_A }));
    await settled();
    reader.outcome = () => Promise.resolve(unreachable());
    expect(await list.files.refresh(false)).toBe(1);
    await settled();
    expect(reader.asked).toHaveLength(1 + 1 + reader.retryMs.length);
    expect(list.files.status()).toMatchObject({ read: 0, failed: 1, errors: [{ url: URL_A, error: 'timed-out' }] });
    expect(await textOf('one')).toEqual(['Text']);
  });

  it('wait for as long as their host asks, and other files do not', async () => {
    reader.outcome = ({ url }) => Promise.resolve(url === URL_A ? unreachable(HOUR_MS) : readAs('Other'));
    await list.write(put('one', { report: URL_A }));
    await expect.poll(() => reader.asked.length, POLL).toBe(1);
    // The same host, and so the same lane.
    await list.write(put('two', { report: 'https://example.com/b.pdf' }));
    await expect.poll(() => list.files.status()?.read, POLL).toBe(1);
    expect(list.files.status()).toMatchObject({ pending: 1, failed: 0 });
    expect(reader.asked).toHaveLength(2);
  });

  it('fail if the reader itself throws', async () => {
    reader.outcome = () => Promise.reject(new Error('a bug'));
    await list.write(put('one', { report: URL_A }));
    await settled();
    expect(list.files.status()).toMatchObject({ failed: 1, errors: [{ detail: 'a bug' }] });
  });

  it('are interrupted when the list is closed, and read when it is open again', async () => {
    let answer = (outcome: ReadingOutcome): void => void outcome;
    reader.outcome = () =>
      new Promise((resolve, reject) => {
        answer = resolve;
        const signal = reader.signals.at(-1);
        const stop = (): void => reject(new Error('stopped'));
        // Closing may have come first, and a signal fires only once.
        if (signal?.aborted === true) stop();
        else signal?.addEventListener('abort', stop);
      });
    await list.write(put('one', { report: URL_A }));
    await expect.poll(() => reader.asked.length, POLL).toBe(1);
    await lists.close();
    expect(reader.signals[0]?.aborted).toBe(true);
    answer(readAs('Too late'));
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect(list.files.status()).toMatchObject({ pending: 1, read: 0 });
    const next = new ScriptedReader();
    lists.indexes.useReader(next);
    await settled();
    expect(next.asked).toHaveLength(1);
    expect(await textOf('one')).toEqual(['Text']);
  });

  it('are found in records of an earlier release, which stored no links', async () => {
    await list.write(put('one', { report: URL_A }));
    await list.write(put('two', { title: 'Without' }));
    await list.write(put('three', { report: 'https://example.com/c.pdf' }));
    await settled();
    await lists.close();
    // A store of an earlier release has none of these databases.
    await lists.inStore((store) => {
      const names = Array.from(store.environment.root.getKeys(), String);
      for (const name of names.filter((each) => /^(?:extract|links|reading|attach)/.test(each)))
        store.environment.database(name, { encoding: 'binary' }).dropSync();
    });
    lists.open();
    reader = new ScriptedReader();
    lists.indexes.useReader(reader);
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    await expect.poll(() => list.files.status()?.read, POLL).toBe(2);
    expect(reader.asked.map(({ url }) => url).sort()).toEqual([URL_A, 'https://example.com/c.pdf']);
    expect(await textOf('one')).toEqual(['Text']);
    await list.write(put('two', { report: URL_A }));
    expect(reader.asked).toHaveLength(2);
  });
});

it('A list without document fields reads no files and has no databases for them', async () => {
  const plain = await lists.indexes.create('a2', { ...LIST_SETTINGS, list: 'plain' }, LIST_DEFINITION);
  await plain.write(put('one', { report: URL_A }));
  expect(plain.files.status()).toBeUndefined();
  expect(await plain.files.refresh(false)).toBe(0);
  expect(plain.files.linksBelow('')).toBe(false);
  const names = await lists.inStore((store) => Array.from(store.environment.root.getKeys(), String), 'a2');
  expect(names.filter((name) => /^(?:extract|links|reading|attach)/.test(name))).toEqual([]);
  expect(reader.asked).toEqual([]);
});
