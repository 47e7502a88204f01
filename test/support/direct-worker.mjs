/** Process for the tests of direct lines. */
import { directLine } from '#src/platform/hosts/serve-direct-line.js';
import { serveHost } from '#src/platform/hosts/serve-host.js';
import { directForms } from './direct-forms.mjs';

serveHost(
  () => ({
    answers: { echo: (ask) => ask, die: () => process.exit(7) },
    notices: {},
  }),
  directLine(directForms),
);
