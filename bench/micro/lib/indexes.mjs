/** The list indexes of the service in one thread, without the rest of it. */
import { pino } from 'pino';
import { kernel } from '../../../dist/native-bindings/index.js';
import { createInlineExecutor, createListIndexes } from '../../../dist/src/index/index.js';
import { loadConfig } from '../../../dist/src/platform/config.js';
import { systemClock } from '../../../dist/src/platform/index.js';
import { createMetrics } from '../../../dist/src/platform/metrics.js';

export function openIndexes(dataDir, stores, options = {}) {
  return createListIndexes({
    dataDir,
    kernel,
    executor: createInlineExecutor({ kernel, stores }),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    config: loadConfig({ argv: [], env: {} }),
    metrics: createMetrics(),
    ...options,
  });
}
