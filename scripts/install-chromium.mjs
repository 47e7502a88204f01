/**
 * Installs Debian's Chromium for the tests of the console, where there is apt and the right to use it; says what to do elsewhere.
 *
 *   node scripts/install-chromium.mjs              fails where there is none in the end
 *   node scripts/install-chromium.mjs --for-tests  says why they are left out, and ends well
 */
import { existsSync } from 'node:fs';
import { chromiumPath } from './lib/chromium.mjs';
import { lastLines, run } from './lib/steps.mjs';

/** What hangs is given up: the tests go on without. */
const SECONDS_MAX = 300;

/** Undefined where there is one; otherwise why there is none. */
async function whyNone() {
  if (chromiumPath() !== undefined) return undefined;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return 'there is no Chromium, and it can be installed as root of Debian only: install it, or name one by GANNET_TEST_CHROMIUM';
  }
  const apt = (...args) => run('timeout', [String(SECONDS_MAX), 'apt-get', '--quiet', '--yes', ...args]);
  for (const args of [['update'], ['install', '--no-install-recommends', 'chromium']]) {
    const { code, output } = await apt(...args);
    if (code !== 0) return `apt-get ${args[0]} failed: ${lastLines(output.trim(), 1)}`;
  }
  return undefined;
}

const reason = await whyNone();
if (process.argv.includes('--for-tests')) {
  process.stdout.write(reason === undefined ? 'Chromium: there\n0 passed, 0 failed\n' : `skipped: ${reason}\n`);
} else if (reason === undefined) {
  process.stdout.write('Chromium: there\n');
} else {
  process.stderr.write(`${reason}\n`);
  process.exitCode = 1;
}
