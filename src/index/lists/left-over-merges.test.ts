/** Merges that outlive the list in which they began: it was closed without them and opened again. */
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { segmentFilesOf } from '../../../test/support/segment-damage.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';
import { LIST_DEFINITION, ListsWithModels, putRequest } from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { ServiceError } from '../../platform/index.js';
import { SpaceStore } from '../../vectors/index.js';
import { segmentFile, segmentsPath, vectorSegmentFile } from '../../store/index.js';
import type { IngestExecutor, IngestResult, IngestTask, ListIndex } from '../index.js';
import { forgetSegmentNumbers, segmentNumbers } from '../segments/segment-numbers.js';

/** Holds the first merge back before it writes anything. */
class HeldMerge implements IngestExecutor {
  /** The number of the segment that the merge writes. */
  segment: number | undefined;
  ended = false;
  inner!: IngestExecutor;
  private readonly held: Promise<void>;
  private goOn!: () => void;

  constructor(private readonly kind: 'merge' | 'merge-vectors') {
    this.held = new Promise((resolve) => (this.goOn = resolve));
  }

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }

  release(): void {
    this.goOn();
  }

  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    if (task.kind !== this.kind || this.segment !== undefined) return this.inner.run(task);
    this.segment = task.newSegment;
    await this.held;
    const result = await this.inner.run(task);
    this.ended = true;
    return result;
  }
}

async function eventually(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 10 }).toBe(true);
}

describe('a merge that ends after its list was opened again', () => {
  const merge = new HeldMerge('merge');
  let lists: ListsInFolder;
  beforeEach(() => {
    lists = new ListsInFolder({ GANNET_INGEST_MERGE_FAN_IN: '3' }, (inner) => {
      merge.inner = inner;
      return merge;
    }).open();
  });
  afterEach(async () => {
    merge.release();
    await lists.remove();
  });

  it('replaces and removes no segment in use if the list was closed because a segment was damaged', async () => {
    let list = await lists.indexes.create('a1', LIST_SETTINGS, LIST_DEFINITION);
    for (const name of ['a', 'b', 'c']) await list.write(putRequest(name, { title: name }));
    await eventually(() => merge.segment !== undefined);
    const closed = list;
    damage(segmentFilesOf(lists.path())[0] as string);
    await eventually(() => isRefused(closed));
    list = await whenOpen();
    expect(await list.check()).toEqual([]);
    await list.write(putRequest('d', { title: 'd' }));
    merge.release();
    await eventually(() => merge.ended && !existsSync(segmentFile(lists.path(), merge.segment ?? 0)));
    expect(await list.check()).toEqual([]);
    await lists.close();
    lists.open();
    // The list opens at once, because nothing must be rebuilt.
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect([list.versions()[0]?.record_count, await list.check()]).toEqual([4, []]);
  });

  function isRefused(list: ListIndex): boolean {
    try {
      list.lease().release();
      return lists.indexes.opened('a1') === undefined;
    } catch {
      return true;
    }
  }

  async function whenOpen(): Promise<ListIndex> {
    for (;;) {
      try {
        return await lists.indexes.open('a1', LIST_SETTINGS);
      } catch (error) {
        expect(error).toMatchObject({ code: 'not-ready' });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }
});

describe('a merge of vectors that ends after its list was opened again', () => {
  it('is not waited for, and replaces and removes no segment in use', async () => {
    const merge = new HeldMerge('merge-vectors');
    const lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, (inner) => {
      merge.inner = inner;
      return merge;
    });
    const line = (name: string) =>
      `${JSON.stringify({ name, fields: { title: name }, vector: Array.from(hashedVector(name, 8)) })}\n`;
    try {
      let list = await lists.create('own');
      const session = list.startImport('ndjson');
      // More vectors than are left without a graph.
      await session.push(Buffer.from(Array.from({ length: 4500 }, (_, n) => line(`a${n}`)).join('')));
      await session.end();
      await eventually(() => merge.segment !== undefined);
      list = await lists.reopen('own');
      for (const name of ['b', 'c', 'd'])
        await list.write(putRequest(name, { title: name }, [Array.from(hashedVector(name, 8))]));
      merge.release();
      await eventually(() => merge.ended && !existsSync(vectorSegmentFile(lists.path(), merge.segment ?? 0)));
      expect(await list.check()).toEqual([]);
      list = await lists.reopen('own');
      expect(await list.check()).toEqual([]);
      await lists.inStore((store, state) => {
        const space = state.meaning?.spaces[0];
        expect(space?.indexed).toEqual([1]);
        const ids = new SpaceStore(store, 1, space?.number ?? 0).segments().map(({ id }) => id);
        expect(ids.length).toBeGreaterThan(0);
        expect(ids.filter((id) => !existsSync(vectorSegmentFile(lists.path(), id)))).toEqual([]);
      });
    } finally {
      merge.release();
      await lists.remove();
    }
  });
});

describe('a vector index whose worker dies after its commit', () => {
  it('keeps the files that the store names', async () => {
    let deaths = 0;
    const lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, (inner) => ({
      waiting: 0,
      waitingByAccount: () => new Map(),
      run: async (task) => {
        const result = await inner.run(task);
        if (task.kind !== 'commit-vector-index' || ++deaths > 1) return result;
        throw new ServiceError('internal-error', 'The worker died.');
      },
    }));
    const vectorFiles = () => readdirSync(segmentsPath(lists.path())).filter((file) => file.endsWith('.gvs'));
    try {
      const list = await lists.create('own');
      await list.write(putRequest('a', { title: 'a' }, [Array.from(hashedVector('a', 8))]));
      await lists.close();
      for (const file of vectorFiles()) rmSync(join(segmentsPath(lists.path()), file));
      lists.open();
      const opened = await lists.indexes.open('a1', { ...LIST_SETTINGS, model: 'own' });
      await eventually(() => deaths > 0 && opened.meaning()?.state === 'ready');
      expect([deaths, vectorFiles().length, await opened.check()]).toEqual([1, 1, []]);
      await lists.reopen('own');
      expect([deaths, vectorFiles().length]).toEqual([1, 1]);
    } finally {
      await lists.remove();
    }
  });
});

describe('segmentNumbers', () => {
  it('never gives a number twice, even after the files are gone, and none below those on disk', () => {
    const path = '/lists/of-a-test';
    const numbers = segmentNumbers(path, 3);
    expect([numbers(), numbers()]).toEqual([3, 4]);
    const again = segmentNumbers(path, 1);
    expect([again(), numbers(), again()]).toEqual([5, 6, 7]);
    expect(segmentNumbers(path, 20)()).toBe(20);
    expect(segmentNumbers('/lists/another', 1)()).toBe(1);
    forgetSegmentNumbers(path);
    expect(segmentNumbers(path, 1)()).toBe(1);
  });
});

/** Overwrites a few bytes in place, as a failing disk would. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([0xff, 0xff, 0xff, 0xff]), 0, 4, 4096 * 2 + 16);
  closeSync(file);
}
