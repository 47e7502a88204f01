/**
 * Prints the files of the project that test files really open, but that `npm test` does not count among what they read
 * (lib/what-tests-read.mjs), so that a change would not have them run again. Traces the runner and all its processes by strace, on
 * Linux, one test file after the other, since a trace does not show which test file opened a file.
 *
 *   node scripts/traced-reads.mjs src/feeds/urls/urls.test.ts test/api/list.test.ts
 *   node scripts/traced-reads.mjs --all test/api      all whose paths begin with test/api
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RUNNER } from './lib/kept-tests.mjs';
import { filesOfProject, whatTestsRead } from './lib/what-tests-read.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Options of strace: successful calls of all processes, with the paths of descriptors. */
const STRACE = '-f -qq -y -z -s 4096 --seccomp-bpf -e trace=open,openat,openat2,execve -e signal=none';
/** Installed packages, and files that are made during the run. */
const NOT_OF_PROJECT = /^(?:node_modules|\.git)(?:\/|$)|^dist\/\.compile-cache/;
/** Folders that `dist/bundle` links to. */
const BUNDLES = /^dist\/bundles\/[^/]+(\/|$)/;
/** Folders in which the runner looks for test files. */
const LOOKED_THROUGH = /^(?:src|native-bindings|config|scripts|test)(?:\/|$)/;

/** Returns the paths in the project that `vitest run FILE` opened for reading or ran, and its exit status: `{ paths, status }`. */
function openedBy(test) {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-traced-'));
  const output = join(folder, 'calls');
  const vitest = [join(root, 'node_modules', '.bin', 'vitest'), 'run', test];
  const strace = [...STRACE.split(' '), '-o', output];
  const { status, error } = spawnSync('strace', [...strace, ...vitest], { cwd: root, stdio: 'ignore' });
  if (error !== undefined) throw error;
  const paths = new Set();
  for (const line of readFileSync(output, 'utf8').split('\n')) {
    if (/O_WRONLY|O_PATH/.test(line)) continue;
    // Finds the path of the returned descriptor, or the program.
    const [, path] = /= \d+<(\/[^>]*)>$/.exec(line) ?? /execve\("(\/[^"]*)"/.exec(line) ?? [];
    if (path?.startsWith(`${root}/`)) paths.add(path.slice(root.length + 1).replace(BUNDLES, 'dist/bundle$1'));
  }
  rmSync(folder, { recursive: true });
  return { paths: [...paths].sort(), status };
}

const { values, positionals } = parseArgs({
  options: { all: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const files = filesOfProject(root);
const there = new Set(files);
const folders = new Set(
  files.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(0, index).join('/'))),
);
const read = await whatTestsRead(root, files);
const isWanted = (test) => positionals.some((path) => (values.all ? test.startsWith(path) : test === path));
let missed = 0;
for (const test of [...read.keys()].filter(isWanted)) {
  const known = new Set(read.get(test));
  const knownFolders = new Set([...known].map((path) => dirname(path)));
  const isForeseen = (path) => {
    if (there.has(path)) return known.has(path) || RUNNER.test(path);
    if (folders.has(path)) return LOOKED_THROUGH.test(path) || knownFolders.has(path);
    return NOT_OF_PROJECT.test(path) || !existsSync(join(root, path));
  };
  const { paths, status } = openedBy(test);
  const unforeseen = paths.filter((path) => !isForeseen(path));
  missed += unforeseen.length;
  const inProject = paths.filter((path) => there.has(path)).length;
  process.stdout.write(
    `${test}: ${inProject} files of the project, ${unforeseen.length} unforeseen, ended with ${status}\n`,
  );
  for (const path of unforeseen) process.stdout.write(`  ${path}\n`);
}
process.exitCode = missed === 0 ? 0 : 1;
