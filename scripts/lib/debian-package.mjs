/** Installs a package of Debian for tests, where there is apt and the right to use it. */
import { existsSync } from 'node:fs';
import { lastLines, run } from './steps.mjs';

/** What hangs is given up: the tests go on without. */
const SECONDS_MAX = 300;

/**
 * `isThere` says whether it need not be installed; `otherwise` what to do where it cannot be. With `--for-tests` among the arguments of the program it says
 * why tests are left out, and ends well; otherwise it fails where there is none in the end.
 */
export async function installForTests({ name, debianPackage, isThere, otherwise }) {
  const reason = await whyNone({ name, debianPackage, isThere, otherwise });
  if (process.argv.includes('--for-tests')) {
    process.stdout.write(reason === undefined ? `${name}: there\n0 passed, 0 failed\n` : `skipped: ${reason}\n`);
  } else if (reason === undefined) {
    process.stdout.write(`${name}: there\n`);
  } else {
    process.stderr.write(`${reason}\n`);
    process.exitCode = 1;
  }
}

/** Undefined where there is one; otherwise why there is none. */
async function whyNone({ name, debianPackage, isThere, otherwise }) {
  if (isThere()) return undefined;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return `there is no ${name}, and it can be installed as root of Debian only: ${otherwise}`;
  }
  const apt = (...args) => run('timeout', [String(SECONDS_MAX), 'apt-get', '--quiet', '--yes', ...args]);
  for (const args of [['update'], ['install', '--no-install-recommends', debianPackage]]) {
    const { code, output } = await apt(...args);
    if (code !== 0) return `apt-get ${args[0]} failed: ${lastLines(output.trim(), 1)}`;
  }
  return undefined;
}
