/**
 * Installs Debian's Chromium for the tests of the console if there is apt and the right to use it. Otherwise says what to do.
 *
 *   node scripts/install-chromium.mjs              fails if it is not there in the end
 *   node scripts/install-chromium.mjs --for-tests  says why tests are skipped, and succeeds
 */
import { chromiumPath } from './lib/chromium.mjs';
import { installForTests } from './lib/debian-package.mjs';

await installForTests({
  name: 'Chromium',
  debianPackage: 'chromium-headless-shell',
  isThere: () => chromiumPath() !== undefined,
  otherwise: 'install it, or name one by GANNET_TEST_CHROMIUM',
});
