/**
 * Keeps the results of stages until something that they read changes, for people who run the tests many times a day and rarely change C++.
 * With CI=true everything runs, as does a stage that is named or run several times. Only a stage that passed without skipped tests is
 * kept.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { filesUnder, hashOf, ignoredNames, readJson } from './stamps.mjs';

/** Environment variables that affect a build, or a run of what was built. */
const VARIABLES = [
  'CC',
  'CXX',
  'CXXFLAGS',
  'DIRS',
  'ONLY',
  'TESTS',
  'BUILD',
  'LMDB_DIR',
  'SNOWBALL_DIR',
  'ASAN_OPTIONS',
  'LSAN_OPTIONS',
  'UBSAN_OPTIONS',
  'GANNET_ROUNDS',
  'GANNET_SEED',
  'GANNET_KERNEL_INSTRUCTIONS',
];

const pathOf = (root, { id }) => join(root, 'node_modules', '.cache', 'gannet', 'results', `${id}.json`);

/** Returns `{ hash, result }`: the hash of all that the stage reads, and the kept result with this hash, if any; undefined for a stage that is never kept. */
export function keptResult(stage, root) {
  if (stage.keptFor === undefined) return undefined;
  const { folders, programs, skip } = stage.keptFor;
  const skipped = new Set(skip.map((path) => join(root, path)));
  const isIgnored = ignoredNames(root);
  const files = folders
    .map((folder) => resolve(root, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => filesUnder(folder, (path) => !isIgnored(basename(path)), skipped));
  const hash = hashOf([...files, join(root, 'package-lock.json')], {
    command: stage.command,
    versions: [process.version, ...programs.map(versionOf)],
    settings: VARIABLES.map((name) => process.env[name]),
    processor: [process.arch, processorFeatures()],
  });
  const known = stage.isAnew ? undefined : readJson(pathOf(root, stage));
  return { hash, result: known?.hash === hash ? known.result : undefined };
}

/** Returns the version of a program, given as make takes it: `ccache g++` is two words. */
function versionOf(words) {
  const [program, ...args] = words.trim().split(/\s+/);
  return spawnSync(program, [...args, '--version'], { encoding: 'utf8' }).stdout;
}

/** Returns the features of the processor, as the kernel runs other code for some of them; undefined on other systems than Linux. */
export function processorFeatures() {
  try {
    return /^(?:flags|Features)\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0];
  } catch {
    // Only Linux has this file.
    return undefined;
  }
}

/**
 * Keeps the result of a stage if what it reads is the same as when it began. Removes it if the stage failed, by chance or not, or skipped tests.
 */
export function keepResult(stage, root, { hash, result }) {
  const path = pathOf(root, stage);
  if (result.failed > 0 || result.skipped.length > 0 || keptResult(stage, root).hash !== hash) {
    rmSync(path, { force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ hash, result }));
}
