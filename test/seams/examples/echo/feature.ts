/** An example of a feature in its own folder: what is known of it before any other part is loaded. */
import type { Feature } from '../../../../src/operations/index.js';
import { ECHO_EVENTS, ECHO_FORMAT, ECHO_SETTINGS } from './declarations.js';

export const echo: Feature = {
  name: 'echo',
  settings: ECHO_SETTINGS,
  environments: [{ path: 'echo', format: ECHO_FORMAT }],
  events: ECHO_EVENTS,
  commands: [
    { name: 'echo say', operation: 'echo.say', arguments: ['text'] },
    {
      name: 'echo count',
      operation: 'echo.count',
      print: () =>
        Promise.resolve((answer, { count }) => `Said: ${count((answer as { readonly count: number }).count)}\n`),
    },
  ],
  load: async () => (await import('./echo-parts.js')).echoParts,
};
