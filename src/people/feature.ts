/** People as a feature: they sign in, and work on accounts in a role. */
import type { Feature } from '../operations/index.js';

export const people: Feature = {
  name: 'people',
  load: async () => (await import('./people-parts.js')).peopleParts,
};
