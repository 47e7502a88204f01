/** Installs a Debian package for tests, if there is apt and the right to use it. */
import { existsSync } from 'node:fs';
import { lastLines, run } from './steps.mjs';

/** Time after which a command of apt is given up. The tests run without the package then. */
const SECONDS_MAX = 300;

/**
 * Installs the package unless `isThere` returns true. `otherwise` says what to do if it cannot be installed. With the argument `--for-tests` the program
 * then says why tests are skipped and succeeds; otherwise it fails.
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

/** Returns undefined if the package is there in the end, otherwise the reason why not. */
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
