import type { EnvironmentFormat } from '../platform/index.js';

/**
 * Format of `data/analytics/events`. When roll-ups count more than in the release before, the number increases with an
 * upgrade that does nothing, since each roll-up says how much it contains.
 */
export const EVENTS_FORMAT = {
  kind: 'analytics',
  number: 1,
  content: 'analytics',
  databases: /^(targets|purges|raw|hours|days|progress)$/,
} as const satisfies EnvironmentFormat;
