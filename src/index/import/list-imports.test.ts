import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { ListsInFolder } from '../../../test/support/lists-in-folder.js';
import { LIST_DEFINITION, LIST_SETTINGS } from '../../../test/support/lists-with-models.js';
import { ProgressBoard } from '../../platform/index.js';
import type { ImportSession, IngestExecutor, IngestResult, IngestTask } from '../index.js';

/** Records which tasks are run, and holds the batches of imports back until the test releases them. */
class HeldBatches implements IngestExecutor {
  readonly kinds: string[] = [];
  readonly waiting = 0;
  readonly waitingByAccount = () => new Map<string, number>();
  release = () => {};
  private readonly released = new Promise<void>((resolve) => (this.release = resolve));

  constructor(private readonly inner: IngestExecutor) {}

  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    this.kinds.push(task.kind);
    if (task.kind === 'bulk-batch') await this.released;
    return this.inner.run(task);
  }
}

let executor: HeldBatches;
let lists: ListsInFolder;
let board: ProgressBoard;
beforeEach(() => {
  board = new ProgressBoard();
  lists = new ListsInFolder({}, (inner) => (executor = new HeldBatches(inner))).open({ progress: board });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await lists.remove();
});

it('A small write is committed before the next batch of an import that is in progress', async () => {
  const list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
  const session = list.startImport('ndjson');
  const batchOf = (name: string) => session.push(Buffer.from(`${JSON.stringify({ name, title: name })}\n`), 1);
  await batchOf('one');
  const second = batchOf('two');
  await expect.poll(() => executor.kinds).toContain('bulk-batch');
  const written = list.write({ kind: 'put', name: 'three', fields: {} });
  executor.release();
  await Promise.all([second, written]);
  expect(await session.end()).toMatchObject({ created: 2, failed: 0 });
  const order = executor.kinds.filter((kind) => kind === 'bulk-batch' || kind === 'write-batch');
  expect(order).toEqual(['bulk-batch', 'write-batch', 'bulk-batch']);
});

const ONE = Buffer.from('{"name":"one"}\n');
it.each([
  ['its last batch', (session: ImportSession) => session.push(ONE).then(() => session.end())],
  ['a batch with all that was left', (session: ImportSession) => session.push(ONE, 1).then(() => session.end())],
  [
    'being broken off',
    async (session: ImportSession) => {
      await session.push(ONE, 1);
      await session.committed();
      session.abort();
    },
  ],
])('The progress of an import is shown for at most a second after it ended with %s', async (_, importTo) => {
  executor.release();
  const list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await importTo(list.startImport('ndjson'));
  expect(board.read('import', 'a1')).toMatchObject({ done: 1 });
  vi.advanceTimersByTime(1_000);
  // A limit of three seconds would still show it.
  await expect.poll(() => board.read('import', 'a1')).toBeUndefined();
});

it('The progress of an import is shown from its acceptance, even while its only batch waits for its turn', async () => {
  const list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
  const session = list.startImport('ndjson');
  await session.push(ONE);
  const ended = session.end();
  expect(board.read('import', 'a1')).toMatchObject({ state: 'waiting', done: 0, started_utc: null });
  executor.release();
  await ended;
  expect(board.read('import', 'a1')).toMatchObject({ state: 'running', done: 1 });
});

it('A first import commits small batches, and so does any import shortly after small writes', async () => {
  executor.release();
  // Commits take no time by this clock, so the next batch may be large.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  const list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
  const text = 'w'.repeat(1000);
  const imported = async (name: string) => {
    executor.kinds.length = 0;
    const session = list.startImport('ndjson');
    for (let n = 0; n < 6000; n += 1000) {
      const lines = Array.from({ length: 1000 }, (_, i) => `${JSON.stringify({ name: `${name}${n + i}`, text })}\n`);
      await session.push(Buffer.from(lines.join('')));
    }
    expect(await session.end()).toMatchObject({ created: 6000 });
    return executor.kinds.filter((kind) => kind === 'bulk-batch').length;
  };
  expect(await imported('first')).toBe(2);
  expect(await imported('alone')).toBe(1);
  await list.write({ kind: 'put', name: 'small', fields: {} });
  expect(await imported('beside')).toBe(2);
});
