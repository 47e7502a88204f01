/** The feature of webhooks: delivers events to subscribers. */
import type { Feature } from '../operations/index.js';
import { QUEUE_FORMAT } from './queue-format.js';
import type { StoredSubscription } from './types.js';

export const webhooks: Feature = {
  name: 'webhooks',
  environments: [{ path: 'queue', format: QUEUE_FORMAT }],
  sealed: [
    {
      collection: 'webhooks',
      called: 'webhook',
      sealedOf: ({ secret, previous_secret, previous_secret_until: until }: StoredSubscription, nowMs) =>
        until !== null && Date.parse(until) > nowMs ? [secret, previous_secret] : [secret],
    },
  ],
  load: async () => (await import('./webhook-parts.js')).webhookParts,
};
