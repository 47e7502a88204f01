import type { EnvironmentFormat } from '../platform/index.js';

/** Format of `data/queue`. */
export const QUEUE_FORMAT = {
  kind: 'queue',
  number: 1,
  content: 'deliveries of webhooks',
  databases: /^(deliveries|schedule|set-aside|marks|log)$/,
} as const satisfies EnvironmentFormat;
