/**
 * Commits leave vectors without a graph, merges make the graphs, and imports wait for them, whatever fails meanwhile.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, parseResult, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import {
  LIST_DEFINITION,
  LIST_SETTINGS,
  ListsWithModels,
  putRequest as put,
} from '../../../test/support/lists-with-models.js';
import { hashedVector, ScriptedEmbedder, ScriptedModels } from '../../../test/support/scripted-models.js';
import { ServiceError } from '../../platform/index.js';
import type { IngestExecutor, IngestResult, IngestTask, ListIndex } from '../index.js';

const DIMENSIONS = 8;
/** More vectors than are left without a graph. */
const MANY = 4500;
const SETTINGS = { ...LIST_SETTINGS, model: 'own' };
/** No vectors may be without a graph, and imports wait for the merge without a time limit. */
const STRICT = { comparedBytesMax: 0, waitMsMax: 2 ** 30 };

/** Holds merges of vectors back until the test releases them, or makes them fail. */
class HeldMerges implements IngestExecutor {
  isHeld = false;
  failure: Error | undefined;
  begun = 0;
  private goOn: (() => void)[] = [];

  inner!: IngestExecutor;

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }

  release(): void {
    this.isHeld = false;
    for (const goOn of this.goOn.splice(0)) goOn();
  }

  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    if (task.kind === 'merge-vectors') {
      this.begun += 1;
      if (this.isHeld) await new Promise<void>((resolve) => this.goOn.push(resolve));
      if (this.failure !== undefined) throw this.failure;
    }
    return this.inner.run(task);
  }
}

let merges: HeldMerges;
let lists: ListsWithModels;
beforeEach(() => {
  merges = new HeldMerges();
  lists = new ListsWithModels(new ScriptedModels({ mini: new ScriptedEmbedder() }), {}, (inner) => {
    merges.inner = inner;
    return merges;
  });
});
afterEach(async () => {
  merges.release();
  await lists.remove();
});

async function strict(): Promise<ListIndex> {
  await lists.close();
  lists.open({ pacing: STRICT });
  return lists.create('own');
}

const line = (name: string, text = name) =>
  `${JSON.stringify({ name, fields: { title: name }, vector: Array.from(hashedVector(text, DIMENSIONS)) })}\n`;
const lines = (prefix: string, count = MANY, textOf = (name: string) => name) =>
  new TextEncoder().encode(
    Array.from({ length: count }, (_, n) => line(`${prefix}${n}`, textOf(`${prefix}${n}`))).join(''),
  );

async function imported(list: ListIndex, bytes: Uint8Array) {
  const session = list.startImport('ndjson');
  await session.push(bytes);
  return session.end();
}

function segmentsOf(list: ListIndex) {
  const lease = list.lease();
  try {
    return kernel.generationVectors(lease.handle);
  } finally {
    lease.release();
  }
}
const lacking = (list: ListIndex) => segmentsOf(list).filter(({ lacksGraph }) => lacksGraph).length;
const hasGraphs = (list: ListIndex) => segmentsOf(list).every(({ comparedBytes }) => comparedBytes === 0);

/** Returns how many records have the vector of this text. */
function found(list: ListIndex, text: string): number {
  const lease = list.lease();
  try {
    const nowhere = { occur: 'should', boost: 1, alternatives: [{ weight: 1, terms: ['nowhere'] }] } as const;
    const options = { needTotal: true, skip: 0, size: 10, groups: [nowhere], filter: MATCH_ALL, sort: [], facets: [] };
    const meaning = { weight: 1, floor: 0.999, farthest: 0, nearest: 1, wanted: 10, width: 20 };
    const vector = hashedVector(text, DIMENSIONS);
    return parseResult(kernel.search(lease.handle, new QueryPlanWriter().write(options), { ...meaning, vector })).hits
      .count;
  } finally {
    lease.release();
  }
}

describe('graphs of vectors', () => {
  it('are made once, by a merge after the commit, and vectors without one are found meanwhile', async () => {
    merges.isHeld = true;
    const list = await lists.create('own');
    await imported(list, lines('a'));
    expect(lacking(list)).toBe(1);
    expect(found(list, 'a77')).toBe(1);
    await imported(list, lines('b'));
    expect(found(list, 'b77')).toBe(1);
    merges.release();
    await expect.poll(() => lacking(list)).toBe(0);
    expect(hasGraphs(list)).toBe(true);
    // One merge is for the first segment alone, and one for what was written meanwhile.
    await expect.poll(() => merges.begun).toBe(2);
    for (const name of ['a77', 'b77']) expect(found(list, name)).toBe(1);
    const reopened = await lists.reopen('own');
    expect(hasGraphs(reopened)).toBe(true);
    await reopened.write(put('small', { title: 'Small' }, [Array.from(hashedVector('small', DIMENSIONS))]));
    expect(found(reopened, 'small')).toBe(1);
    expect(merges.begun).toBe(2);
  });

  it('are merged further when nothing is written any more', async () => {
    const list = await lists.create('own');
    for (const prefix of ['a', 'b', 'c']) {
      await imported(list, lines(prefix));
      await expect.poll(() => hasGraphs(list)).toBe(true);
    }
    // There are fewer segments than a tier merges, and each search goes through all of them.
    const before = segmentsOf(list).length;
    expect(before).toBeGreaterThan(1);
    await lists.close();
    lists.open({ quietMs: 1 });
    const quiet = await lists.indexes.open('a1', SETTINGS);
    await expect.poll(() => segmentsOf(quiet).length).toBe(1);
    for (const name of ['a77', 'b77', 'c77']) expect(found(quiet, name)).toBe(1);
    await quiet.write(put('small', { title: 'Small' }, [Array.from(hashedVector('small', DIMENSIONS))]));
    expect(found(quiet, 'small')).toBe(1);
  });

  it('are merged one quiet list at a time, and delay no imports, neither of that list nor of others', async () => {
    const list = await lists.create('own');
    for (const prefix of ['a', 'b']) {
      await imported(list, lines(prefix));
      await expect.poll(() => hasGraphs(list)).toBe(true);
    }
    const other = await lists.indexes.create('a2', SETTINGS, LIST_DEFINITION);
    for (const prefix of ['a', 'b']) {
      await imported(other, lines(prefix));
      await expect.poll(() => hasGraphs(other)).toBe(true);
    }
    await lists.close();
    merges.isHeld = true;
    const before = merges.begun;
    lists.open({ quietMs: 1, pacing: STRICT });
    const [one, two] = await Promise.all(['a1', 'a2'].map((id) => lists.indexes.open(id, SETTINGS)));
    await expect.poll(() => merges.begun).toBe(before + 1);
    // The merge that is held back would make no graph.
    for (const quiet of [one, two]) await imported(quiet as ListIndex, lines('c', 10));
    merges.release();
    for (const quiet of [one, two]) {
      await expect.poll(() => segmentsOf(quiet as ListIndex).length).toBeLessThanOrEqual(2);
      for (const name of ['a77', 'b77', 'c7']) expect(found(quiet as ListIndex, name)).toBe(1);
    }
  });

  it('are not made for few vectors, nor again and again for many equal ones', async () => {
    const list = await lists.create('own');
    await imported(
      list,
      lines('equal', MANY, () => 'equal'),
    );
    for (let n = 0; n < 3; ++n)
      await list.write(put(`s${n}`, { title: 'Small' }, [Array.from(hashedVector(`s${n}`, DIMENSIONS))]));
    expect(merges.begun).toBe(0);
    expect(segmentsOf(list)).toHaveLength(4);
    expect(found(list, 's2')).toBe(1);
  });

  it('are made after a restart if merges failed before it', async () => {
    merges.failure = new ServiceError('storage-full', 'No room.');
    const list = await lists.create('own');
    await imported(list, lines('a'));
    await expect.poll(() => merges.begun).toBe(1);
    expect(lacking(list)).toBe(1);
    const again = await lists.reopen('own');
    await expect.poll(() => merges.begun).toBe(2);
    expect(lacking(again)).toBe(1);
    expect(found(again, 'a4')).toBe(1);
    merges.failure = undefined;
    const last = await lists.reopen('own');
    await expect.poll(() => hasGraphs(last)).toBe(true);
    expect(found(last, 'a4')).toBe(1);
  });

  it('are not waited for when their list is deleted, and harm no later list', async () => {
    merges.isHeld = true;
    const list = await lists.create('own');
    await imported(list, lines('a'));
    await expect.poll(() => merges.begun).toBe(1);
    const folder = join(lists.dataDir, 'lists', 'a1');
    expect(existsSync(folder)).toBe(true);
    await lists.indexes.remove('a1');
    const others = await lists.indexes.create('a2', SETTINGS, LIST_DEFINITION);
    merges.release();
    await imported(others, lines('b'));
    await expect.poll(() => lacking(others)).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it('are made in a clone as well', async () => {
    merges.isHeld = true;
    const list = await lists.create('own');
    await imported(list, lines('a'));
    const copy = await lists.indexes.clone('a1', 'a2', { ...SETTINGS, list: 'copy' });
    expect([lacking(list), lacking(copy)]).toEqual([1, 1]);
    expect(found(copy, 'a5')).toBe(1);
    merges.release();
    for (const each of [list, copy]) await expect.poll(() => hasGraphs(each)).toBe(true);
    expect(found(copy, 'a5')).toBe(1);
  });
});

describe('an import that is faster than merges', () => {
  /** Starts an import whose second batch waits; `outcome` is its result. */
  async function waiting() {
    merges.isHeld = true;
    const list = await strict();
    await imported(list, lines('a'));
    await expect.poll(() => merges.begun).toBe(1);
    const session = list.startImport('ndjson');
    await session.push(lines('b', 10));
    const outcome = session.end();
    let isOver = false;
    const over = () => (isOver = true);
    void outcome.then(over, over);
    // If its batch were in the queue, it would be committed before this write.
    await list.write(put('small', { title: 'Small' }, [Array.from(hashedVector('small', DIMENSIONS))]));
    expect([found(list, 'small'), found(list, 'b5'), isOver]).toEqual([1, 0, false]);
    return { list, outcome };
  }

  it('waits for graphs, while searches and small writes do not', async () => {
    const { list, outcome } = await waiting();
    merges.release();
    expect(await outcome).toMatchObject({ created: 10, failed: 0 });
    expect(found(list, 'b5')).toBe(1);
  });

  it('keeps the order of its batches', async () => {
    merges.isHeld = true;
    const list = await strict();
    await imported(list, lines('a'));
    await expect.poll(() => merges.begun).toBe(1);
    const session = list.startImport('ndjson');
    await session.push(new TextEncoder().encode(line('same', 'first')), 1);
    const rest = session.push(new TextEncoder().encode(line('same', 'second')), 1);
    merges.release();
    await rest;
    expect(await session.end()).toMatchObject({ created: 1, updated: 1 });
    expect([found(list, 'first'), found(list, 'second')]).toEqual([0, 1]);
  });

  it('continues if a merge fails, for example because the disk is full', async () => {
    const { list, outcome } = await waiting();
    merges.failure = new ServiceError('storage-full', 'No room.');
    merges.release();
    expect(await outcome).toMatchObject({ created: 10 });
    expect(await imported(list, lines('c', 10))).toMatchObject({ created: 10 });
    expect(lacking(list)).toBe(1);
  });

  it('is finished when the list is closed', async () => {
    const { outcome } = await waiting();
    const closed = lists.close();
    // What was accepted is written before the merge is done.
    expect(await outcome).toMatchObject({ created: 10 });
    merges.release();
    await closed;
    lists.open();
    const list = await lists.indexes.open('a1', SETTINGS);
    expect(found(list, 'b5')).toBe(1);
    await expect.poll(() => lacking(list)).toBe(0);
  });

  it('is answered when the list is deleted', async () => {
    const { outcome } = await waiting();
    const removed = lists.indexes.remove('a1');
    const [told] = await Promise.allSettled([outcome]);
    if (told.status === 'rejected') expect(told.reason).toBeInstanceOf(ServiceError);
    else expect(told.value).toMatchObject({ created: 10 });
    merges.release();
    await removed;
  });

  it('leaves room for others when its client has left', async () => {
    merges.isHeld = true;
    const list = await strict();
    await imported(list, lines('a'));
    await expect.poll(() => merges.begun).toBe(1);
    // Twice as many imports as there may be at a time.
    for (let n = 0; n < 16; ++n) {
      const session = list.startImport('ndjson');
      await session.push(lines(`left${n}-`, 1), 1);
      session.abort();
    }
    expect(found(list, 'left0-0')).toBe(0);
    merges.release();
    expect(await imported(list, lines('c', 10))).toMatchObject({ created: 10 });
    expect(found(list, 'left15-0')).toBe(1);
  });
});
