/** What becomes of a list when ingest workers die or merges fail at the worst moments. */
import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { ServiceError } from '../../platform/index.js';
import { segmentsPath } from '../../store/index.js';
import type { IngestExecutor, IngestResult, IngestTask, ListIndex } from '../index.js';
import { LIST_SETTINGS, ListsInFolder } from '../../../test/support/lists-in-folder.js';

/** An executor whose worker dies before or after the next task of a kind. */
class DyingExecutor implements IngestExecutor {
  private death: { readonly kind: IngestTask['kind']; readonly when: 'before' | 'after' } | undefined;
  constructor(private readonly inner: IngestExecutor) {}

  dieAt(kind: IngestTask['kind'], when: 'before' | 'after'): void {
    this.death = { kind, when };
  }
  get survived(): boolean {
    return this.death !== undefined;
  }

  get waiting(): number {
    return this.inner.waiting;
  }
  waitingByAccount() {
    return this.inner.waitingByAccount();
  }
  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    const death = this.death?.kind === task.kind ? this.death : undefined;
    if (death !== undefined) this.death = undefined;
    if (death?.when === 'before') throw new ServiceError('internal-error', 'The worker died.');
    const result = await this.inner.run(task);
    if (death?.when === 'after') throw new ServiceError('internal-error', 'The worker died.');
    return result;
  }
}

const definition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
} as const;

let lists: ListsInFolder;
let executor: DyingExecutor;
let list: ListIndex;

beforeEach(async () => {
  const environment = { GANNET_INGEST_MERGE_FAN_IN: '3' };
  lists = new ListsInFolder(environment, (inner) => (executor = new DyingExecutor(inner))).open();
  list = await lists.indexes.create('a1', LIST_SETTINGS, definition);
});
afterEach(() => lists.remove());

const put = (name: string) => list.write({ kind: 'put', name, fields: { title: `word ${name}` } });
const recordCount = () => list.versions()[0]?.record_count;
const segmentFiles = () =>
  readdirSync(segmentsPath(lists.path()), { encoding: 'utf8', recursive: true }).filter(
    (file) => file !== 'unfinished',
  );
async function eventually(condition: () => boolean): Promise<void> {
  await expect.poll(condition, { interval: 10 }).toBe(true);
}

describe('a worker that dies', () => {
  it.each([
    ['before', 1],
    ['after', 2],
  ] as const)('%s its commit leaves memory and disk consistent', async (when, expected) => {
    await put('a');
    executor.dieAt('write-batch', when);
    await expect(put('b')).rejects.toMatchObject({ code: 'internal-error' });
    expect(recordCount()).toBe(expected);
    expect(await list.check()).toEqual([]);
    // The same write again is an update if the first one was committed after all.
    expect((await put('b')).outcome).toBe(when === 'after' ? 'updated' : 'created');
    expect(await list.check()).toEqual([]);
  });

  it.each([
    ['merge', 'before'],
    ['merge', 'after'],
    ['commit-merge', 'before'],
    ['commit-merge', 'after'],
  ] as const)('in a %s, %s its work, loses no record and no segment in use', async (kind, when) => {
    executor.dieAt(kind, when);
    for (const name of ['a', 'b', 'c', 'd']) await put(name);
    await eventually(() => !executor.survived);
    expect((await put('e')).outcome).toBe('created');
    expect([recordCount(), await list.check()]).toEqual([5, []]);
    await lists.close();
    lists.open();
    list = await lists.indexes.open('a1', LIST_SETTINGS);
    expect([recordCount(), await list.check()]).toEqual([5, []]);
    expect(segmentFiles().every((file) => file.endsWith('.mdb'))).toBe(true);
  });

  it('in a build step only delays the build', async () => {
    await put('a');
    executor.dieAt('build-step', 'after');
    await list.changeDefinition({ ...definition, searchable_fields: [{ name: 'title', weight: 2 }] });
    await eventually(() => !executor.survived);
    await put('b');
    expect([list.currentVersion, await list.check()]).toEqual([2, []]);
  });
});

describe('a lease', () => {
  it('keeps its generation searchable through merges, and its files until it is released', async () => {
    await put('a');
    const lease = list.lease();
    for (const name of ['b', 'c', 'd', 'e', 'f', 'g']) await put(name);
    await eventually(() => (list.sequence(1) ?? 0) > lease.sequence + 6);
    expect(kernel.generationInfo(lease.handle).liveCount).toBe(1);
    expect(Array.from(kernel.locate(lease.handle, Uint32Array.of(1)))[1]).toBe(0);
    const files = segmentFiles().length;
    lease.release();
    lease.release();
    await eventually(() => segmentFiles().length < files);
  });
});
