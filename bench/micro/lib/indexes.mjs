/** The service's list indexes in one thread, without the rest of the service. */
import { pino } from 'pino';
import { kernel } from '#native-bindings/index.js';
import { createInlineExecutor, createListIndexes } from '#src/index/index.js';
import { loadConfig } from '#src/platform/config.js';
import { systemClock } from '#src/platform/index.js';
import { createMetrics } from '#src/platform/metrics.js';

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
