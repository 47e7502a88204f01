/**
 * What a stage proved, kept until something that it reads has changed. For people, who run the tests many times a day and change C++ in few of
 * them; whoever counts on the sum (CI=true) runs everything, and who asks for a stage by its name, or several times, has it run. Only a stage
 * that passed, with nothing left out, is kept.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { filesUnder, hashOf, ignoredNames, readJson } from './stamps.mjs';

/** What decides a build, or a run of what was built, beside its files. */
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
];

const pathOf = (root, { id }) => join(root, 'node_modules', '.cache', 'gannet', 'results', `${id}.json`);

/** `{ hash, result }`: of all that the stage reads, and what it proved when that was the same; undefined for a stage of which nothing is kept. */
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

/** Of a program as make takes it: `ccache g++` is two words. */
function versionOf(words) {
  const [program, ...args] = words.trim().split(/\s+/);
  return spawnSync(program, [...args, '--version'], { encoding: 'utf8' }).stdout;
}

/** The kernel has loops for what some processors can do: another one in the same machine proves other things. */
export function processorFeatures() {
  try {
    return /^(?:flags|Features)\s*:.*$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[0];
  } catch {
    // Only Linux tells them there.
    return undefined;
  }
}

/**
 * Keeps what the stage proved of what it read when it began, where that is the same still. What failed, by chance or not, is not proved any more.
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
