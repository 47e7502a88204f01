/** Progress and recovery of a version that is being built. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { kernel } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { loadConfig } from '../../platform/config.js';
import { ProgressBoard, systemClock, type JobProgress } from '../../platform/index.js';
import { createMetrics } from '../../platform/metrics.js';
import { RecordStoreCache } from '../../records/index.js';
import { createInlineExecutor, createListIndexes, type IngestTask, type ListIndexes } from '../index.js';
import { renamesAfter } from './version-handlers.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const SETTINGS = { account: 'test', list: 'l', language: 'en', synonym_rules: [], query_rules: [] } as const;
/** Enough records for two steps and a part of a third. */
const RECORDS = 25_000;

let dataDir: string;
let stores: RecordStoreCache;
let progress: ProgressBoard;
let indexes: ListIndexes;
/** Called before a task is run. */
let before: (task: IngestTask) => void;
/** Called after a task has run. */
let behind: (task: IngestTask) => void;

function open(): void {
  stores = new RecordStoreCache();
  progress = new ProgressBoard();
  before = () => undefined;
  behind = () => undefined;
  const inner = createInlineExecutor({ kernel, stores });
  indexes = createListIndexes({
    dataDir,
    kernel,
    executor: {
      waiting: 0,
      waitingByAccount: () => new Map(),
      run: async (task) => {
        before(task);
        const result = await inner.run(task);
        behind(task);
        return result;
      },
    },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    config: loadConfig({ argv: [], env: {} }),
    metrics: createMetrics(),
    progress,
  });
}
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-versions-'));
  open();
});
afterEach(async () => {
  await indexes.close();
  await stores.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it('The build of a version reports its progress, and continues from there after a restart', async () => {
  const list = await indexes.create('a1', SETTINGS, DEFINITION);
  const session = list.startImport('ndjson');
  const lines = Array.from({ length: RECORDS }, (_, number) => `{"name":"r${number}","title":"word ${number}"}\n`);
  await session.push(Buffer.from(lines.join('')));
  await session.end();
  const told: JobProgress[] = [];
  const begun = new Promise<void>((resolve) => {
    progress.listen((changed) => {
      const job = changed.read();
      // The import also reports progress for a while.
      if (job.kind !== 'version') return;
      told.push(job);
      if (job.done > 0) resolve();
    });
  });
  await list.changeDefinition({ ...DEFINITION, searchable_fields: [{ name: 'title', weight: 2 }] });
  await begun;
  await indexes.close();
  await stores.close();
  const last = told.at(-1);
  expect(told[0]).toMatchObject({ kind: 'version', subject: 'a1', state: 'running', done: 0, total: RECORDS });
  expect(last).toMatchObject({ state: 'stopped', total: RECORDS });

  open();
  const after: JobProgress[] = [];
  progress.listen((job) => after.push(job.read()));
  await indexes.open('a1', SETTINGS);
  await eventually(
    () => Promise.resolve(after.at(-1)?.state),
    (state) => state === 'done',
  );
  // A step that was in progress at the stop was completed as well.
  expect(after[0]?.state).toBe('running');
  expect(after[0]?.done).toBeGreaterThanOrEqual(last?.done ?? Infinity);
  expect(after.at(-1)).toMatchObject({ done: RECORDS, total: RECORDS });
  expect(progress.all()).toEqual([]);
});

it('A record whose value does not fit is counted once, however often it is written during the build', async () => {
  const list = await indexes.create('a1', SETTINGS, DEFINITION);
  const session = list.startImport('ndjson');
  const line = (number: number) => `{"name":"r${number}","size":${number < 3 ? '"none"' : number}}\n`;
  await session.push(Buffer.from(Array.from({ length: RECORDS }, (_, number) => line(number)).join('')));
  await session.end();
  let steps = 0;
  before = ({ kind }) => {
    if (kind === 'build-step' && ++steps > 1) throw new Error('The worker died.');
  };
  await list.changeDefinition({ ...DEFINITION, facets: [{ name: 'size', type: 'number', cardinality: 'Single' }] });
  await eventually(
    () => Promise.resolve(steps),
    (count) => count > 1,
  );
  for (let times = 0; times < 2; ++times) await list.write({ kind: 'put', name: 'r1', fields: { size: 'none' } });
  await indexes.close();
  await stores.close();

  open();
  const again = await indexes.open('a1', SETTINGS);
  await eventually(
    () => Promise.resolve(again.currentVersion),
    (version) => version === 2,
  );
  expect(again.versions().at(-1)).toMatchObject({ version: 2, unfit: { size: 3 } });
});

it.each([
  ['each by itself', { a: 'b' }, { c: 'd' }, { a: 'b', c: 'd' }],
  ['one behind the other', { a: 'b' }, { b: 'c' }, { a: 'c' }],
  ['there and back', { a: 'b' }, { b: 'a' }, {}],
  ['of a new field that has the name that the first left', { a: 'b' }, { a: 'c' }, { a: 'b' }],
  ['there and back, and of a field that had the name between', { a: 'b' }, { b: 'a', a: 'c' }, {}],
])('renamesAfter joins two renames: %s', (_, first, second, expected) => {
  expect(renamesAfter(first as Record<string, string>, second as Record<string, string>)).toEqual(expected);
});

it('A change of fields is accepted if its task failed after its commit, because the new version is on disk', async () => {
  const list = await indexes.create('a1', SETTINGS, DEFINITION);
  await list.write({ kind: 'put', name: 'one', fields: { title: 'word', size: 5 } });
  behind = ({ kind }) => {
    if (kind === 'start-build') throw new Error('the worker died');
  };
  const facets = [{ name: 'size', type: 'number', cardinality: 'Single' }] as const;
  expect(await list.changeDefinition({ ...DEFINITION, facets })).toBe(2);
  await eventually(
    () => Promise.resolve(list.currentVersion),
    (current) => current === 2,
  );
  before = ({ kind }) => {
    if (kind === 'start-build') throw new Error('the worker died before it');
  };
  await expect(list.changeDefinition(DEFINITION)).rejects.toMatchObject({ code: 'internal-error' });
  expect(list.versions().map(({ version }) => version)).toEqual([1, 2]);
});
