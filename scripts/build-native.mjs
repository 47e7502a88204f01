/**
 * Builds the native addon (native-bindings/build/Release/gannet_kernel.node) when it is missing or stale. Run by itself
 * (`npm run build:native`) it builds in any case; the set-up script calls `nativeState` and `buildNative`.
 */
import { existsSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesUnder, hashOf, readJson, readStamp, writeStamp } from './lib/stamps.mjs';
import { isProgram, lastLines, run, step, StepError } from './lib/steps.mjs';
import { checkNode, checkToolchain } from './lib/toolchain.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'native-bindings');
const addonPath = join(folder, 'build', 'Release', 'gannet_kernel.node');
const stampPath = join(folder, 'build', 'gannet.stamp');
const SOURCE = /\.(?:cc|cpp|cxx|c|hh|hpp|h|inc|gyp|gypi)$/;

/** What the binary depends on beside its sources. A change of these needs everything compiled again. */
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

/** `current`, `changed` (sources: only what changed is compiled) or `rebuild` (missing, or another Node or compiler). */
export function nativeState() {
  const skip = new Set(['build', 'build-test', 'test', 'fuzz']);
  const sources = hashOf(
    filesUnder(folder, (path) => SOURCE.test(path), skip),
    null,
  );
  const stamp = `${hashOf([], environment())} ${sources}`;
  const previous = existsSync(addonPath) ? readStamp(stampPath) : undefined;
  if (previous === stamp) return { state: 'current', stamp };
  const sameEnvironment = previous?.split(' ')[0] === stamp.split(' ')[0];
  return { state: sameEnvironment ? 'changed' : 'rebuild', stamp };
}

/** Node's own headers where they are installed beside the program, so that nothing has to be downloaded. */
function headerArguments() {
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? [`--nodedir=${prefix}`] : [];
}

export async function buildNative({ state, stamp }) {
  const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js');
  const commands = state === 'rebuild' ? ['rebuild'] : ['configure', 'build'];
  const args = [gyp, ...commands, `--jobs=${os.cpus().length}`, ...headerArguments()];
  const { code, output } = await run(process.execPath, args, { cwd: folder });
  if (code !== 0 || !existsSync(addonPath)) {
    throw new StepError(
      'The search kernel could not be compiled; the end of the compiler output is above.',
      lastLines(output, 60),
    );
  }
  writeStamp(stampPath, stamp);
}

if (isProgram(import.meta.url)) {
  try {
    checkNode();
    await checkToolchain();
    await step('Compiling the search kernel', () => buildNative({ ...nativeState(), state: 'changed' }));
  } catch (error) {
    if (error.output) process.stderr.write(`${error.output}\n`);
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
