/** The pools with their real threads, which run what `npm run build` compiled into dist. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Piscina } from 'piscina';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listFixtures, searchTask, type ListFixtures } from '../../test/support/lists.js';
import { kernel } from '../../native-bindings/index.js';
import type { FieldDefinition } from '../catalog/index.js';
import type { ListIndex } from '../index/index.js';
import { loadConfig } from '../platform/config.js';
import { createRequestMemory, memoryBudget, NEVER, OwnMemory, SearchActivity } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import type { SearchOptions } from '../search/index.js';
import { createIngestExecutor } from './ingest-executor.js';
import { ingestTransferList } from './ingest-transfer.js';
import { readBatchAnswer } from './batch-answer.js';
import { createSearchPool, type RunningSearchPool } from './search-pool.js';
import { StopFlags } from './stop-flags.js';
import { workerFile } from './worker-pool.js';
import { pageOf } from '../../test/support/list-reading.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [{ name: 'number', type: 'number', cardinality: 'Single' }],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const RECORDS = Array.from({ length: 500 }, (_, number) => ({
  name: `r${number}`,
  title: `word${number % 10} common`,
  number,
}));
// The deadline is long enough for any busy machine.
const config = loadConfig({ argv: [], env: { GANNET_SEARCH_THREADS: '2', GANNET_SEARCH_DEADLINE_MS: '600000' } });
const budget = memoryBudget(config);
const requestMemory = createRequestMemory(budget);
const memory = new OwnMemory({ budgetBytes: budget.bytes, releaseFreeMemory: () => undefined });
const ingest = { config, heap: budget.heaps.ingest, memory };
const silent = pino({ level: 'silent' });

describe('the search pool', () => {
  let fixtures: ListFixtures;
  let list: ListIndex;
  let pool: RunningSearchPool;
  const metrics = createMetrics();

  beforeAll(async () => {
    if (!existsSync(workerFile('search'))) throw new Error('dist is missing: run `npm run build`');
    fixtures = await listFixtures();
    list = await fixtures.add('numbers', DEFINITION, RECORDS);
    pool = createSearchPool({
      activity: new SearchActivity(),
      config,
      log: silent,
      heap: budget.heaps.search,
      requestMemory,
      dearThreadsMax: 1,
      metrics,
      testing: true,
    });
    await pool.warmUp();
  });
  afterAll(async () => {
    await pool.close();
    await fixtures.close();
  });

  const search = async (options: SearchOptions, signal = NEVER) => {
    const { body, totalCount } = await pool.search(searchTask({ numbers: list }, options), signal, 'own');
    const response = JSON.parse(Buffer.from(body).toString()) as { total_count: number; results: { name: string }[] };
    expect(response.total_count).toBe(totalCount);
    return response;
  };

  it('gives each of many searches its own answer', async () => {
    const answers = await Promise.all(RECORDS.map(({ number }) => search({ filter: `number = ${number}` })));
    expect(answers.map(({ results }) => results[0]?.name)).toEqual(RECORDS.map(({ name }) => name));
  });

  it('returns the error of a search to its caller', async () => {
    const [good, bad] = await Promise.allSettled([search({ query: 'word1' }), search({ filter: 'nmber = 1' })]);
    expect(good).toMatchObject({ status: 'fulfilled', value: { total_count: 50 } });
    expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'invalid-filter', status: 400 } });
  });

  it('has a worker that always begins the first search of a batch, and returns what it has no time for', async () => {
    const workerData = { testing: true, analyticsFolder: '' };
    const worker = new Piscina({ filename: workerFile('search'), workerData, maxThreads: 1 });
    const lease = list.lease();
    const flags = new StopFlags(kernel);
    const tasks = ['word1', 'word2', 'word3'].map((query) => searchTask({ numbers: list }, { query }));
    const stops = tasks.flatMap(() => [flags.take(), Infinity]);
    const run = async (sliceMs: number) => {
      const answer = (await worker.run({ kind: 'batch', tasks, stops, sliceMs })) as ArrayBuffer;
      return readBatchAnswer(answer, tasks.length).map((reply) =>
        'unfinished' in reply ? reply.unfinished : reply.ok,
      );
    };
    expect(await run(Infinity)).toEqual([true, true, true]);
    // The first search may or may not use all of its time.
    expect((await run(0)).slice(1)).toEqual(['unbegun', 'unbegun']);
    lease.release();
    await worker.close();
  });

  it.each(['throw', 'exit', 'memory'] as const)('continues after a worker died (%s)', async (how) => {
    let answered = 0;
    let lost = 0;
    let stop = false;
    const traffic = (async () => {
      while (!stop) {
        const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => search({ query: 'common' })));
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') answered += 1;
          else {
            expect(outcome.reason).toMatchObject({ code: 'internal-error' });
            lost += 1;
          }
        }
      }
    })();
    await pool.killWorker(how);
    stop = true;
    await traffic;
    expect(answered).toBeGreaterThan(0);
    // At most the batches of the dead worker are lost.
    expect(lost).toBeLessThanOrEqual(40);
    const after = await Promise.all(Array.from({ length: 100 }, () => search({ query: 'word3' })));
    for (const { total_count } of after) expect(total_count).toBe(50);
    const deaths = (await metrics.workerDeaths.get()).values.find(({ labels }) => labels.pool === 'search');
    expect(deaths?.value).toBeGreaterThan(0);
  });

  describe('with answers longer than a worker builds without reserving memory', () => {
    const TEXT = 'x'.repeat(50_000);
    const SLOW_MS = 100_000;
    const answers = (mib: number) => {
      const limits = { ...config.limits, answer_bytes_max: mib * 2 ** 20 };
      const budget = memoryBudget({ ...config, limits, memory: { ...config.memory, mib: 512 } });
      // On a slow machine, each of eight answers waits for those before it.
      return createRequestMemory(budget, { waitMs: SLOW_MS });
    };
    let long: ListIndex;
    beforeAll(async () => {
      const records = Array.from({ length: 300 }, (_, number) => ({ name: `l${number}`, number, text: TEXT }));
      long = await fixtures.add('long', DEFINITION, records);
    });

    const searchLong = (from: RunningSearchPool, size: number) =>
      from.search(searchTask({ long }, { size, highlight: false, ranking: 'none' }), NEVER, 'own');

    it('answers or refuses each search by itself, and releases its memory', async () => {
      const room = answers(12);
      const ordinary = createSearchPool({
        activity: new SearchActivity(),
        config,
        log: silent,
        heap: budget.heaps.search,
        requestMemory: room,
        dearThreadsMax: 1,
        metrics,
      });
      // The answers that a worker builds without reserving fit together into the memory kept for them; otherwise, one
      // would be refused.
      const sizes = [1, 300, 200, 3, 280, 100, 50, 1];
      const outcomes = await Promise.allSettled(
        sizes.map(async (size) => {
          const answer = await searchLong(ordinary, size);
          const { results } = JSON.parse(Buffer.from(answer.body).toString()) as { results: unknown[] };
          answer.room?.release();
          return results.length;
        }),
      );
      expect(outcomes).toEqual(
        sizes.map((size) =>
          size * TEXT.length > 12 * 2 ** 20
            ? {
                status: 'rejected',
                reason: expect.objectContaining({ code: 'answer-too-large', status: 422 }) as unknown,
              }
            : { status: 'fulfilled', value: size },
        ),
      );
      expect(room.answers.usedBytes).toBe(0);
      await ordinary.close();
    });

    it('answers many searches that are too long together, but not by themselves', async () => {
      const room = answers(16);
      const ordinary = createSearchPool({
        activity: new SearchActivity(),
        config,
        log: silent,
        heap: budget.heaps.search,
        requestMemory: room,
        dearThreadsMax: 1,
        metrics,
      });
      const outcomes = await Promise.all(Array.from({ length: 40 }, () => searchLong(ordinary, 15)));
      expect(outcomes.map(({ totalCount }) => totalCount)).toEqual(outcomes.map(() => 300));
      await ordinary.close();
    });

    it('keeps a long answer until it is released, and frees its memory then', async () => {
      const answer = await searchLong(pool, 200);
      expect(requestMemory.answers.usedBytes).toBe(answer.body.byteLength);
      answer.room?.release();
      expect([requestMemory.answers.usedBytes, answer.body.byteLength]).toEqual([0, 0]);
    });
  });

  it('does not die on demand unless it is for testing', async () => {
    const ordinary = createSearchPool({
      activity: new SearchActivity(),
      config,
      log: silent,
      heap: budget.heaps.search,
      requestMemory,
      dearThreadsMax: 1,
      metrics,
    });
    await expect(ordinary.killWorker('exit')).rejects.toThrow();
    await ordinary.close();
  });

  it('refuses searches when it is closing, and finishes those it has', async () => {
    const closing = createSearchPool({
      activity: new SearchActivity(),
      config,
      log: silent,
      heap: budget.heaps.search,
      requestMemory,
      dearThreadsMax: 1,
      metrics,
    });
    const accepted = closing.search(searchTask({ numbers: list }, { query: 'common' }), NEVER, 'own');
    const closed = closing.close();
    await expect(closing.search(searchTask({ numbers: list }, {}), NEVER, 'own')).rejects.toMatchObject({
      code: 'shutting-down',
    });
    expect((await accepted).totalCount).toBe(500);
    await closed;
  });
});

interface Merged {
  readonly isQuiet?: boolean;
  readonly holdsBytes?: number;
  readonly signal?: AbortSignal;
}

/** Returns a pool of its own for merges of vectors. */
async function mergesWith(mergeBytesMax: number | undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-merges-'));
  const metrics = createMetrics();
  const executor = createIngestExecutor({ ...ingest, mergeBytesMax, log: silent, metrics });
  let listPath = '';
  const fixtures = await listFixtures({
    waiting: 0,
    waitingByAccount: () => new Map(),
    run(task, options) {
      ({ listPath } = task);
      return executor.run(task, options);
    },
  });
  await fixtures.add('merged', DEFINITION, RECORDS);
  let newSegment = 1001;
  return {
    merge(count: number, { isQuiet = false, holdsBytes = 1000, signal = NEVER }: Merged = {}) {
      newSegment += 1;
      const path = join(folder, String(newSegment));
      const records = Uint32Array.from({ length: count }, (_each, number) => number);
      const vectors = Float32Array.from({ length: count * 64 }, (_each, place) => Math.sin(place * place));
      const places = new Uint32Array(count);
      kernel.buildVectorSegment(path, { dimensions: 64, vectors, records, places }, { graph: false });
      const segment = kernel.openVectorSegment(path);
      const generation = kernel.publishGeneration({ vectors: { add: [{ segment }] }, settings: '{}' });
      const sources = [{ id: 1, handle: segment }];
      const task = { kind: 'merge-vectors', listPath, generation, sources, newSegment, holdsBytes, isQuiet } as const;
      return executor.run(task, { signal });
    },
    async waiting() {
      const { values } = await metrics.poolWaiting.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.pool, value]));
    },
    async close() {
      await fixtures.close();
      await executor.close();
      rmSync(folder, { recursive: true });
    },
  };
}

describe('the ingest pool', () => {
  it.each([false, true])(
    'writes lists in its own threads and finishes before it closes (thread for small tasks: %s)',
    async (own) => {
      const executor = createIngestExecutor({
        ...ingest,
        hasThreadForSmall: own,
        log: silent,
        metrics: createMetrics(),
      });
      const fixtures = await listFixtures(executor);
      const list = await fixtures.add('pooled', DEFINITION, RECORDS);
      expect((await pageOf(list, 0, 1)).total).toBe(RECORDS.length);
      const written = await Promise.all(
        ['a', 'b', 'c'].map((name) => list.write({ kind: 'put', name, fields: { title: 'single' } })),
      );
      expect(written.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
      await expect(list.write({ kind: 'put', name: 'd', fields: { number: 'no number' } })).rejects.toMatchObject({
        code: 'invalid-record',
      });
      await fixtures.close();
      await executor.close();
    },
  );

  it('lets batches of imports wait for memory, but not single writes of other lists', async () => {
    const scarce = new OwnMemory({ budgetBytes: 1, releaseFreeMemory: () => undefined, measure: () => 2 });
    const executor = createIngestExecutor({ ...ingest, memory: scarce, log: silent, metrics: createMetrics() });
    const fixtures = await listFixtures(executor);
    const [imported, written] = [
      await fixtures.add('imported', DEFINITION, []),
      await fixtures.add('written', DEFINITION, []),
    ];
    let release = (): void => undefined;
    const underWay = scarce.run(() => new Promise<void>((resolve) => (release = resolve)));
    const session = imported.startImport('ndjson');
    await session.push(Buffer.from(RECORDS.map((record) => `${JSON.stringify(record)}\n`).join('')));
    let ended = false;
    const outcome = session.end().finally(() => (ended = true));
    await written.write({ kind: 'put', name: 'a', fields: { title: 'single' } });
    await expect.poll(() => scarce.waiting).toBe(1);
    expect(ended).toBe(false);
    release();
    await underWay;
    expect(await outcome).toMatchObject({ created: RECORDS.length });
    await fixtures.close();
    await executor.close();
  });

  it.each([
    ['overtakes one that nobody waits for', budget.mergeBytesMax, ['small', 'quiet']],
    ['waits for one that holds all that merges may hold', 1, ['quiet', 'small']],
    ['waits for one where there is no thread for it', undefined, ['quiet', 'small']],
  ])('runs a merge of a few vectors that %s', async (_, mergeBytesMax, order) => {
    const merges = await mergesWith(mergeBytesMax);
    const ended: string[] = [];
    const done = [
      merges.merge(30_000, { isQuiet: true }).then(() => ended.push('quiet')),
      merges.merge(10).then(() => ended.push('small')),
    ];
    await Promise.all(done);
    expect(ended).toEqual(order);
    await merges.close();
  });

  it('runs a merge without memory before those that wait for memory, which can be aborted meanwhile', async () => {
    const merges = await mergesWith(1);
    const ended: string[] = [];
    const gone = new AbortController();
    const quiet = merges.merge(30_000, { isQuiet: true }).then(() => ended.push('quiet'));
    const givenUp = merges.merge(10, { signal: gone.signal }).catch((error: unknown) => ended.push(String(error)));
    const small = merges.merge(10).then(() => ended.push('small'));
    // No request is refused because of these merges.
    expect(await merges.waiting()).toEqual({ ingest: 0, 'ingest-later': 1 });
    await merges.merge(10, { holdsBytes: 0 }).then(() => ended.push('without'));
    gone.abort('given up');
    await Promise.all([quiet, givenUp, small]);
    expect(ended).toEqual(['without', 'given up', 'quiet', 'small']);
    await merges.close();
  });

  it('pauses between records while searches run if a commit gives way to them', async () => {
    const activity = new SearchActivity();
    const { shared: searches } = activity;
    const executor = createIngestExecutor({ ...ingest, searches, log: silent, metrics: createMetrics() });
    const lists = await listFixtures(executor);
    const list = await lists.add('synced', DEFINITION, []);
    const written = async (name: string) => {
      const session = list.startSync(`feed:${name}`, 'ndjson');
      await session.push(Buffer.from(`${JSON.stringify({ name, fields: { title: name } })}\n`), 1 << 18);
      expect(await session.end()).toMatchObject({ created: 1 });
    };
    await written('before');
    expect(activity.rests).toBe(0);
    activity.begin();
    await written('beside');
    activity.end();
    const { rests } = activity;
    expect(rests).toBeGreaterThan(0);
    await written('afterwards');
    expect(activity.rests).toBe(rests);
    await lists.close();
    await executor.close();
  });

  it('answers internal-error for a task that cannot be done, and logs why', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(line) });
    const executor = createIngestExecutor({ ...ingest, log, metrics: createMetrics() });
    const task = { kind: 'drop-version', listPath: '/no\0path', version: 1 } as const;
    await expect(executor.run(task)).rejects.toMatchObject({ code: 'internal-error' });
    expect(lines.join('')).toContain('drop-version');
    await executor.close();
  });

  it('transfers the buffers of raw records, and copies those that are shared', () => {
    const whole = new Uint8Array(8);
    const shared = Buffer.from('pooled');
    const record = { bytes: whole, ends: new Uint32Array([8]), lines: new Uint32Array([1]) };
    const list = ingestTransferList({
      kind: 'bulk-batch',
      records: [record, { ...record, bytes: shared }],
      csvHeader: new Uint8Array(3),
    } as unknown as Parameters<typeof ingestTransferList>[0]);
    expect(list).toEqual([whole.buffer, record.ends.buffer, record.lines.buffer]);
  });
});
