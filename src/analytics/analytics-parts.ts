/** Opens analytics: its operations, the thread that counts, and the deletion of what belongs to a list or group. */
import { existsSync } from 'node:fs';
import type { UnfinishedWork } from '../catalog/index.js';
import { provide, type FeatureParts } from '../operations/index.js';
import { createAnalyticsExecutor } from './analytics-executor.js';
import { analyticsOperations } from './analytics-operations.js';
import { ANALYTICS, createAnalytics } from './analytics.js';
import { analyticsFolder, eventsFolder } from './folder.js';
import { groupTarget, listTarget, type AnalyticsTarget } from './targets.js';

export const analyticsParts: FeatureParts = {
  operations: analyticsOperations,
  open({ config, clock, faults, log, metrics }) {
    const events = eventsFolder(analyticsFolder(config));
    const executor = createAnalyticsExecutor({ config, faults, log, metrics });
    const running = createAnalytics({ config, executor, isRecorded: () => existsSync(events), clock, log, metrics });
    return {
      parts: [provide(ANALYTICS, running)],
      forget: (work) => {
        const target = targetOf(work);
        return target === undefined ? Promise.resolve(true) : running.forget(target);
      },
      start: () => {
        running.start();
      },
      async close() {
        await running.close();
        await executor.close();
      },
    };
  },
};

/** Returns the target of deleted data; undefined for an account, whose data are deleted with its lists and groups. */
function targetOf({ subject, id, account, name }: UnfinishedWork): AnalyticsTarget | undefined {
  if (subject === 'account') return undefined;
  return subject === 'list' ? listTarget({ id }) : groupTarget({ account, name, created_utc: id });
}
