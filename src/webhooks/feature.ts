/** Webhooks as a feature: whoever subscribes is told of what happens. */
import { provide, type Feature } from '../operations/index.js';
import { WebhookHost, WEBHOOKS } from './webhook-host.js';
import { webhookOperations } from './webhook-operations.js';

export const webhooks: Feature = {
  name: 'webhooks',
  operations: webhookOperations,
  environments: [{ path: 'queue', kind: 'queue' }],
  open({ config, dataDir, environment, secrets, clock, log, metrics, listen }) {
    const host = new WebhookHost({
      config,
      dataDir,
      environment,
      secrets,
      clock,
      log,
      metrics,
      deliver: listen,
    });
    return { parts: [provide(WEBHOOKS, host)], events: host, close: () => host.close() };
  },
};
