/**
 * Files of tests that passed are kept until something that they may read (what-tests-read.mjs) has changed, or the machine has: `npm test` runs
 * the others. For people, as kept-results.mjs is. Of each file one digest is kept, of all that it may have read, in a file of its own that is
 * there whole or not at all: two runs at once, a run that is killed, or a damaged file of these cost a run of tests and nothing else.
 */
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, release } from 'node:os';
import { delimiter, join } from 'node:path';
import { processorFeatures } from './kept-results.mjs';
import { readJson } from './stamps.mjs';
import { filesOfProject, whatTestsRead } from './what-tests-read.mjs';

/** What each file of tests is run by: Vite reads the settings of the compiler that are nearest. */
export const RUNNER =
  /^(?:vitest\.config\.ts|package(?:-lock)?\.json|(?:.*\/)?tsconfig\.json|scripts\/lib\/[\w-]+\.mjs|test\/support\/(?:count-processor|own-temporary-folder)\.ts)$/;

/** Variables that tell one terminal or session from another. All others count, also those that nobody here has heard of. */
const VARIABLES_LEFT_OUT =
  /^(?:npm_.*|NODE|INIT_CWD|EDITOR|COLOR|PWD|OLDPWD|SHLVL|_|COLUMNS|LINES|TERM.*|COLORTERM|WINDOWID|TMUX.*|STY|SSH_.*|XDG_SESSION.*|VSCODE_.*|HIST.*)$/;

/** Folders that npm puts in front of the others for a script. */
const OF_NPM = /node_modules\/\.bin$|node-gyp-bin$/;

const folderOf = (root) => join(root, 'node_modules', '.cache', 'gannet', 'tests');
const pathOf = (root, test) => join(folderOf(root), `${test.replaceAll('/', '+')}.json`);

/**
 * Of each file of tests the digest of what it may read now, and, where it passed with the same, how many tests that were and what they took:
 * `{ digest, passed, processorSeconds }`; `passed` is undefined where it has to be run.
 */
export async function lookAtTests(root, surroundings = surroundingsOf) {
  const digests = await digestsOf(root, surroundings);
  const found = new Map();
  for (const [test, digest] of digests) {
    const known = readJson(pathOf(root, test));
    const isKept = known?.digest === digest && Number.isSafeInteger(known.passed) && known.passed > 0;
    found.set(test, isKept ? { ...known, processorSeconds: Number(known.processorSeconds) } : { digest });
  }
  return found;
}

/** What is kept of those that are about to run: a run that ends before it has told of them, or is killed, leaves nothing of an earlier one. */
export function forgetTests(root, { isOwn, leftOut }) {
  const staying = new Set(leftOut.map((test) => pathOf(root, test)));
  for (const name of namesIn(folderOf(root))) {
    const path = join(folderOf(root), name);
    if (name.endsWith('.json') && isOwn(name.replaceAll('+', '/')) && !staying.has(path)) rmSync(path, { force: true });
  }
}

/**
 * Keeps what passed whole: `files` as summary-reporter.mjs tells them, `looked` as they were before the run, when they were forgotten. A file that
 * failed, had something left out or was tried twice is not kept; nor is one of which something has changed meanwhile.
 */
export async function keepTests(root, { looked, files, surroundings = surroundingsOf }) {
  const whole = files.filter(({ file, isWhole }) => isWhole === true && looked.has(file));
  if (whole.length === 0) return;
  const now = await digestsOf(root, surroundings);
  mkdirSync(folderOf(root), { recursive: true });
  for (const { file, passed, processorSeconds } of whole) {
    const { digest } = looked.get(file);
    if (now.get(file) !== digest) continue;
    const path = pathOf(root, file);
    const unfinished = `${path}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify({ digest, passed, processorSeconds }));
    renameSync(unfinished, path);
  }
}

/** By file of tests. `surroundings`: what of the machine counts. */
export async function digestsOf(root, surroundings = surroundingsOf) {
  const files = filesOfProject(root);
  const contents = new Map();
  const contentOf = (path) => {
    if (!contents.has(path)) contents.set(path, digest(readFileSync(join(root, path))));
    return contents.get(path);
  };
  const machine = digest(JSON.stringify(surroundings(root)));
  const runner = files.filter((path) => RUNNER.test(path)).map(contentOf);
  const read = await whatTestsRead(root, files);
  return new Map(
    [...read].map(([test, paths]) => {
      const parts = [test, machine, ...runner, ...paths.map((path) => `${path} ${contentOf(path)}`)];
      return [test, digest(parts.join('\n'))];
    }),
  );
}

const digest = (content) => createHash('sha256').update(content).digest('hex');

/**
 * What of the machine decides whether a test passes. What it lacks makes a test be left out, and its file is not kept.
 * @returns {Readonly<Record<string, unknown>>}
 */
export function surroundingsOf(root) {
  const folders = [...new Set((process.env.PATH ?? '').split(delimiter))].filter((folder) => !OF_NPM.test(folder));
  const variables = Object.entries(process.env).filter(([name]) => name !== 'PATH' && !VARIABLES_LEFT_OUT.test(name));
  return {
    node: [process.version, process.arch, process.platform, release(), processorFeatures()],
    user: [process.getuid?.(), process.umask(), homedir()],
    variables: variables.sort(),
    packages: contentOr(join(root, 'node_modules', '.package-lock.json')),
    programs: folders.map((folder) => [folder, programsIn(folder)]),
    // Debian's, with the libraries that programs need.
    installed: contentOr('/var/lib/dpkg/status'),
    limits: contentOr('/proc/self/limits'),
  };
}

function contentOr(path) {
  try {
    return digest(readFileSync(path));
  } catch {
    return undefined;
  }
}

function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function programsIn(folder) {
  try {
    return readdirSync(folder).map((name) => [name, programAt(join(folder, name))]);
  } catch {
    return undefined;
  }
}

/** The program itself and not a link to it; undefined for a link to nothing. */
function programAt(path) {
  try {
    const target = realpathSync(path);
    const { size, mtimeMs, mode } = statSync(target);
    return [target, size, mtimeMs, mode];
  } catch {
    return undefined;
  }
}
