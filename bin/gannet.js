#!/usr/bin/env node
// The program: hands the composition root to the command line, which loads it only for the commands that need it.
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// From Node.js 22 on, compiled code of libraries is kept between starts; where the folder is not writable, nothing happens.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compile-cache', import.meta.url)));

const bundle = bundleFolder();
const commandLine = join(bundle, 'src', 'cli', 'index.cjs');
const loader = join(bundle, 'load-bundle.cjs');
const built = [
  commandLine,
  loader,
  fileURLToPath(new URL('../native-bindings/build/Release/gannet_kernel.node', import.meta.url)),
  fileURLToPath(new URL('../native-bindings/build-lmdb/build/Release/lmdb.node', import.meta.url)),
];

/** Where the link leads now: a set-up that puts another one in its place leaves this one for who runs from it. */
function bundleFolder() {
  const link = fileURLToPath(new URL('../dist/bundle', import.meta.url));
  try {
    return realpathSync(link);
  } catch {
    return link;
  }
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(3);
}

/** An older Node.js fails somewhere within, by a function that it does not have. */
function assertNode() {
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(engines?.node ?? '') ?? [];
  const [hasMajor, hasMinor] = process.versions.node.split('.').map(Number);
  if (hasMajor > Number(major) || (hasMajor === Number(major) && hasMinor >= Number(minor))) return;
  fail(
    `Node.js ${process.versions.node} is too old: install Node.js ${major}.${minor} or newer (24 is recommended), or put it first in PATH.`,
  );
}

/** What was compiled and cannot be loaded is damaged. */
function load(file) {
  try {
    return createRequire(import.meta.url)(loader).loadBundled(file);
  } catch (error) {
    fail(`Gannet cannot be loaded: ${error.message.split('\n', 1)[0]} \`npm run setup\` makes anew what is damaged.`);
  }
}

/** The set-up that is at work, and since how many seconds; undefined where none is, or one that was killed. */
function runningSetUp() {
  const { signedProcess, signPath } = createRequire(import.meta.url)('./set-up-sign.cjs');
  const root = fileURLToPath(new URL('..', import.meta.url));
  const pid = signedProcess(root);
  const since = statSync(signPath(root), { throwIfNoEntry: false });
  if (pid === undefined || since === undefined) return undefined;
  // The clock may have been set back since.
  return { pid, seconds: Math.max(0, Math.round((Date.now() - since.mtimeMs) / 1000)) };
}

assertNode();
if (!built.every((file) => existsSync(file))) {
  const running = runningSetUp();
  fail(
    running === undefined
      ? 'Gannet is not built yet: run `npm run setup` first.'
      : `Gannet is not built yet: a set-up is at work on it (process ${running.pid}, since ${running.seconds} s; some minutes the first time). Call it again when that has ended.`,
  );
}
const { runCommandLine } = load(commandLine);
process.exitCode = await runCommandLine(process.argv, async () => load(join(bundle, 'src', 'main.cjs')));
