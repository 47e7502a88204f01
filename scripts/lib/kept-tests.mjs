/**
 * Keeps test files that passed until something that they may read (what-tests-read.mjs) or the machine changes. `npm test` runs the others. Like
 * kept-results.mjs it is for people. The digest of all that a test file may have read is kept in a file for each, which is replaced
 * atomically. So concurrent runs, killed runs and damaged files cost a run of tests and nothing else.
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

/** Files that affect the run of every test file. Vite reads the nearest tsconfig.json. */
export const RUNNER =
  /^(?:vitest\.config\.ts|package(?:-lock)?\.json|(?:.*\/)?tsconfig\.json|scripts\/lib\/[\w-]+\.mjs|test\/support\/(?:count-processor|own-temporary-folder)\.ts)$/;

/** Environment variables that differ between terminals and sessions, and do not count. All others count, also unknown ones. */
const VARIABLES_LEFT_OUT =
  /^(?:npm_.*|NODE|INIT_CWD|EDITOR|COLOR|PWD|OLDPWD|SHLVL|_|COLUMNS|LINES|TERM.*|COLORTERM|WINDOWID|TMUX.*|STY|SSH_.*|XDG_SESSION.*|VSCODE_.*|HIST.*)$/;

/** Folders that npm adds to PATH for a script. */
const OF_NPM = /node_modules\/\.bin$|node-gyp-bin$/;

const folderOf = (root) => join(root, 'node_modules', '.cache', 'gannet', 'tests');
const pathOf = (root, test) => join(folderOf(root), `${test.replaceAll('/', '+')}.json`);

/**
 * Returns for each test file the digest of what it may read now and, if it passed with this digest, the number of its tests and their time:
 * `{ digest, passed, processorSeconds }`. `passed` is undefined if the file must be run.
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

/** Forgets the files that are about to run, so that a run that is killed or ends before its report leaves no earlier results. */
export function forgetTests(root, { isOwn, leftOut }) {
  const staying = new Set(leftOut.map((test) => pathOf(root, test)));
  for (const name of namesIn(folderOf(root))) {
    const path = join(folderOf(root), name);
    if (name.endsWith('.json') && isOwn(name.replaceAll('+', '/')) && !staying.has(path)) rmSync(path, { force: true });
  }
}

/**
 * Keeps the files that passed as a whole. `files` is from summary-reporter.mjs, `looked` from lookAtTests before the run. A file that failed,
 * skipped a test or needed a second try is not kept, nor is one that reads something that has changed meanwhile.
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

/** Returns the digests by test file. `surroundings` returns what counts of the machine. */
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
 * Returns what affects tests on this machine. If it lacks something, tests are skipped, and their files are not kept.
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
    // Packages of Debian, with the libraries that programs need.
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

/** Describes the program, following links; undefined for a broken link. */
function programAt(path) {
  try {
    const target = realpathSync(path);
    const { size, mtimeMs, mode } = statSync(target);
    return [target, size, mtimeMs, mode];
  } catch {
    return undefined;
  }
}
