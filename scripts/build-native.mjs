/**
 * Builds the native addon (native-bindings/build/Release/gannet_kernel.node) if it is missing or stale. Run as a program
 * (`npm run build:native`) it always builds. The set-up script calls `nativeState` and `buildNative`.
 */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HARDENING, hardenedSources } from '../native-bindings/lmdb-js/harden.mjs';
import { CompiledCount } from './lib/compiled-count.mjs';
import { filesUnder, hashOf, readJson, readStamp, writeStamp } from './lib/stamps.mjs';
import { isProgram, lastLines, run, step, StepError } from './lib/steps.mjs';
import { checkNode, checkToolchain } from './lib/toolchain.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'native-bindings');
const addonPath = join(folder, 'build', 'Release', 'gannet_kernel.node');
/** Program through which the service starts other programs. */
const launcherPath = join(folder, 'build', 'Release', 'end_with_parent');
const stampPath = join(folder, 'build', 'gannet.stamp');
/** lmdb-js with the checks of native-bindings/lmdb-js. `src/platform/lmdb.ts` loads it instead of the package's own build. */
const lmdbFolder = join(folder, 'build-lmdb');
const lmdbPath = join(lmdbFolder, 'build', 'Release', 'lmdb.node');
const lmdbStampPath = join(lmdbFolder, 'gannet.stamp');
const SOURCE = /\.(?:cc|cpp|cxx|c|hh|hpp|h|inc|gyp|gypi)$/;

/** Returns what the binary depends on besides its sources. A change of it needs a full rebuild. */
function environment() {
  const versionOf = (name) => readJson(join(root, 'node_modules', name, 'package.json'))?.version ?? null;
  return {
    abi: process.versions.modules,
    napi: process.versions.napi,
    platform: process.platform,
    arch: process.arch,
    compiler: process.env.CXX ?? null,
    packages: ['lmdb', 'node-addon-api', 'node-gyp', 'node-snowball'].map((name) => [name, versionOf(name)]),
  };
}

function lmdbStamp() {
  return hashOf(HARDENING, environment());
}

function lmdbIsCurrent() {
  return existsSync(lmdbPath) && readStamp(lmdbStampPath) === lmdbStamp();
}

/** Returns the stamp and the state: `current`, `changed` (some sources) or `rebuild` (missing, or another Node or compiler). */
export function nativeState() {
  const skip = new Set(['build', 'build-lmdb', 'build-test', 'test', 'fuzz', 'lmdb-js']);
  const sources = hashOf(
    filesUnder(folder, (path) => SOURCE.test(path), skip),
    null,
  );
  const stamp = `${hashOf([], environment())} ${sources}`;
  const previous = existsSync(addonPath) && existsSync(launcherPath) ? readStamp(stampPath) : undefined;
  if (previous === stamp && lmdbIsCurrent()) return { state: 'current', stamp };
  const sameEnvironment = previous?.split(' ')[0] === stamp.split(' ')[0];
  return { state: sameEnvironment ? 'changed' : 'rebuild', stamp };
}

/** Uses Node's headers if they are installed beside the program, so that nothing is downloaded. */
function headerArguments() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? [`--nodedir=${prefix}`] : [];
}

/**
 * @param {string} what
 * @param {{ commands: string[]; cwd: string; result: string; onLine?: (line: string) => void }} options
 */
async function compile(what, { commands, cwd, result, onLine }) {
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const args = [gyp, ...commands, `--jobs=${os.cpus().length}`, ...headerArguments()];
  const { code, output } = await run(process.execPath, args, { cwd, onLine });
  if (code === 0 && existsSync(result)) return;
  const message = `The ${what} could not be compiled; the end of the compiler output is above.`;
  throw new StepError(message, lastLines(output, 60));
}

async function buildLmdb() {
  hardenedSources(join(root, 'node_modules', 'lmdb'), lmdbFolder);
  await compile('storage library', { commands: ['rebuild'], cwd: lmdbFolder, result: lmdbPath });
  writeStamp(lmdbStampPath, lmdbStamp());
}

/** Builds kernel and storage library. `tell` gets the progress (`12 of 183 files`). */
export async function buildNative({ state, stamp }, tell = (_howFar) => undefined) {
  const library = lmdbIsCurrent() ? Promise.resolve() : buildLmdb();
  const count = new CompiledCount(join(folder, 'build'), state === 'rebuild');
  const onLine = (line) => {
    count.take(line);
    tell(count.told());
  };
  const commands = state === 'rebuild' ? ['rebuild'] : ['configure', 'build'];
  // Builds both side by side and waits for both, so that no compiler runs when a failure is reported.
  const [kernel, storage] = await Promise.allSettled([
    compile('search kernel', { commands, cwd: folder, result: addonPath, onLine }),
    library,
  ]);
  for (const result of [kernel, storage]) if (result.status === 'rejected') throw result.reason;
  writeStamp(stampPath, stamp);
}

if (isProgram(import.meta.url)) {
  try {
    checkNode();
    await checkToolchain();
    await step('Compiling the search kernel', (tell) => buildNative({ ...nativeState(), state: 'changed' }, tell));
  } catch (error) {
    if (error.output) process.stderr.write(`${error.output}\n`);
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
