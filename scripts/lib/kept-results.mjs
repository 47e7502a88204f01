/**
 * What a stage proved, kept until something that it reads has changed. For people, who run the tests many times a day and change C++ in few of
 * them; whoever counts on the sum (CI=true) runs everything. Only a stage that passed, with nothing left out, is kept.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesUnder, hashOf, readJson } from './stamps.mjs';

/** What decides a build beside its files. */
const VARIABLES = [
  'CC',
  'CXX',
  'CXXFLAGS',
  'DIRS',
  'ONLY',
  'TESTS',
  'BUILD',
  'ASAN_OPTIONS',
  'UBSAN_OPTIONS',
  'GANNET_SEED',
];

const pathOf = (root, { id }) => join(root, 'node_modules', '.cache', 'gannet', 'results', `${id}.json`);

/** `{ hash, result }`: of all that the stage reads, and what it proved when that was the same; undefined for a stage of which nothing is kept. */
export function keptResult(stage, root) {
  if (stage.keptFor === undefined) return undefined;
  const { folders, programs, skip } = stage.keptFor;
  const files = folders.flatMap((folder) => filesUnder(join(root, folder), () => true, new Set(skip)));
  const versions = programs.map((program) => spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout);
  const settings = VARIABLES.map((name) => process.env[name]);
  const hash = hashOf([...files, join(root, 'package-lock.json')], { command: stage.command, versions, settings });
  const known = readJson(pathOf(root, stage));
  return { hash, result: known?.hash === hash ? known.result : undefined };
}

/** Keeps what the stage proved of what it read when it began. */
export function keepResult(stage, root, { hash, result }) {
  if (result.failed > 0 || result.skipped.length > 0) return;
  const path = pathOf(root, stage);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ hash, result }));
}
