/** Webhooks as a feature: whoever subscribes is told of what happens. */
import type { Feature } from '../operations/index.js';
import { QUEUE_FORMAT } from './queue-format.js';

export const webhooks: Feature = {
  name: 'webhooks',
  environments: [{ path: 'queue', format: QUEUE_FORMAT }],
  load: async () => (await import('./webhook-parts.js')).webhookParts,
};
