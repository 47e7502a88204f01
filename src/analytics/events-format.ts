import type { EnvironmentFormat } from '../platform/index.js';

/** Of `data/analytics/events`. */
export const EVENTS_FORMAT = {
  kind: 'analytics',
  number: 1,
  content: 'analytics',
  databases: /^(targets|purges|raw|hours|days|progress)$/,
} as const satisfies EnvironmentFormat;
