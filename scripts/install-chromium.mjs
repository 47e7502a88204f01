/**
 * Installs Debian's Chromium for the tests of the console, where there is apt and the right to use it; says what to do elsewhere.
 * Tests that need it are left out without.
 */
import { existsSync } from 'node:fs';
import { run } from './lib/steps.mjs';

if (existsSync('/usr/bin/chromium')) {
  process.stdout.write('Chromium: there\n');
} else if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
  const update = await run('apt-get', ['update'], { inherit: true });
  const install = ['install', '--yes', '--no-install-recommends', 'chromium'];
  process.exitCode = update.code === 0 ? (await run('apt-get', install, { inherit: true })).code : update.code;
} else {
  process.stderr.write('Install Chromium, or name one that is there: GANNET_TEST_CHROMIUM=/path/to/chromium\n');
  process.exitCode = 1;
}
