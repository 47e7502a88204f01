/** The feature of analytics: counts what was searched for, found and clicked, reports it, and teaches suggestions. */
import type { Feature } from '../operations/index.js';
import { EVENTS_FORMAT } from './events-format.js';

export const analytics: Feature = {
  name: 'analytics',
  environments: [{ path: 'analytics/events', format: EVENTS_FORMAT }],
  load: async () => (await import('./analytics-parts.js')).analyticsParts,
};
