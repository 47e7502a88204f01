import type { EnvironmentFormat } from '../platform/index.js';

/** Of `data/analytics/events`. What roll-ups count more of since the release before is a new number whose upgrade does nothing: each says how much is in it. */
export const EVENTS_FORMAT = {
  kind: 'analytics',
  number: 1,
  content: 'analytics',
  databases: /^(targets|purges|raw|hours|days|progress)$/,
} as const satisfies EnvironmentFormat;
