import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { loadConfig } from '../platform/config.js';
import { StorageFaults } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createAnalyticsExecutor } from './analytics-executor.js';

const dataDir = mkdtempSync(join(tmpdir(), 'gannet-analytics-executor-'));
afterAll(() => {
  rmSync(dataDir, { recursive: true, force: true });
});

it('A new analytics thread reports storage as readable that an earlier one reported as unreadable', async () => {
  const log = pino({ level: 'silent' });
  const faults = new StorageFaults(log);
  faults.met('analytics/events', 'The disk cannot read it.');
  const config = loadConfig({ argv: [], env: { GANNET_DATA_DIR: dataDir } });
  const executor = createAnalyticsExecutor({ config, faults, log, metrics: createMetrics() });
  try {
    await executor.run({ kind: 'roll-up', nowMs: 0 });
    expect(faults.unreadable()).toEqual([]);
  } finally {
    await executor.close();
  }
});
