/** Opens a copy of a data directory in this process, and compares index and records of every list in it. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { kernel } from '../../native-bindings/index.js';
import { createInlineExecutor, createListIndexes } from '../../src/index/index.js';
import { loadConfig } from '../../src/platform/config.js';
import { systemClock } from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';
import { RecordStoreCache } from '../../src/records/index.js';

/** Returns problems; empty if index and records agree. The directory itself is not touched. */
export async function checkCopyOf(dataDir: string): Promise<string[]> {
  const copy = mkdtempSync(join(tmpdir(), 'gannet-check-'));
  cpSync(join(dataDir, 'lists'), join(copy, 'lists'), { recursive: true });
  const stores = new RecordStoreCache();
  const indexes = createListIndexes({
    dataDir: copy,
    kernel,
    executor: createInlineExecutor({ kernel, stores }),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    config: loadConfig({ argv: [], env: { GANNET_DATA_DIR: copy } }),
    metrics: createMetrics(),
  });
  const problems: string[] = [];
  try {
    for (const id of readdirSync(join(copy, 'lists'))) {
      const settings = { account: 'default', list: id, language: 'en', synonym_rules: [], query_rules: [] };
      const list = await indexes.open(id, settings);
      problems.push(...(await list.check()));
    }
  } finally {
    await indexes.close();
    await stores.close();
    rmSync(copy, { recursive: true, force: true });
  }
  return problems;
}
