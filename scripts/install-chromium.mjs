/**
 * Installs Debian's Chromium for the tests of the console, where there is apt and the right to use it; says what to do elsewhere.
 *
 *   node scripts/install-chromium.mjs              fails where there is none in the end
 *   node scripts/install-chromium.mjs --for-tests  says why they are left out, and ends well
 */
import { chromiumPath } from './lib/chromium.mjs';
import { installForTests } from './lib/debian-package.mjs';

await installForTests({
  name: 'Chromium',
  debianPackage: 'chromium-headless-shell',
  isThere: () => chromiumPath() !== undefined,
  otherwise: 'install it, or name one by GANNET_TEST_CHROMIUM',
});
