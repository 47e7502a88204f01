/** Opens webhooks: their operations, and the host of the thread that delivers. */
import { provide, type FeatureParts } from '../operations/index.js';
import { WebhookHost, WEBHOOKS } from './webhook-host.js';
import { webhookOperations } from './webhook-operations.js';

export const webhookParts: FeatureParts = {
  operations: webhookOperations,
  open({ config, dataDir, environment, secrets, clock, faults, log, metrics, progress, listen }) {
    const host = new WebhookHost({
      config,
      dataDir,
      environment,
      secrets,
      clock,
      faults,
      log,
      metrics,
      progress,
      deliver: listen,
    });
    return {
      parts: [provide(WEBHOOKS, host)],
      events: host,
      async forget({ subject, account }) {
        if (subject === 'account') await host.subscriptions.deleteOf(account);
        return true;
      },
      troubles: () => host.troubles(),
      close: () => host.close(),
    };
  },
};
