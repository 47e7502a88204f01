/** What is seen of a version while it is built. */
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
import { createInlineExecutor, createListIndexes, type ListIndexes } from '../index.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const SETTINGS = { account: 'test', list: 'l', language: 'en', synonym_rules: [], query_rules: [] } as const;
/** Of two steps and a part. */
const RECORDS = 25_000;

let dataDir: string;
let stores: RecordStoreCache;
let progress: ProgressBoard;
let indexes: ListIndexes;

function open(): void {
  stores = new RecordStoreCache();
  progress = new ProgressBoard();
  indexes = createListIndexes({
    dataDir,
    kernel,
    executor: createInlineExecutor({ kernel, stores }),
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

it('says how far the build of a version is, and goes on from there after a stop', async () => {
  const list = await indexes.create('a1', SETTINGS, DEFINITION);
  const session = list.startImport('ndjson');
  const lines = Array.from({ length: RECORDS }, (_, number) => `{"name":"r${number}","title":"word ${number}"}\n`);
  await session.push(Buffer.from(lines.join('')));
  await session.end();
  const told: JobProgress[] = [];
  const begun = new Promise<void>((resolve) => {
    progress.listen((changed) => {
      const job = changed.read();
      // The import goes on for a while.
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
  // A step that was under way at the stop was finished, too.
  expect(after[0]?.state).toBe('running');
  expect(after[0]?.done).toBeGreaterThanOrEqual(last?.done ?? Infinity);
  expect(after.at(-1)).toMatchObject({ done: RECORDS, total: RECORDS });
  expect(progress.all()).toEqual([]);
});
