/**
 * The service in few files: every module that is loaded costs each thread time at its start, some four hundred of them half of it.
 * Entries are the command line, the composition root and whatever ends in `.worker.ts`; what several of them need is in files that
 * they share. Libraries of plain JavaScript are taken in; those with binaries, threads or files of their own are loaded as they are.
 * They are scripts that the copy of bin/load-bundle.cjs among them loads, for V8 gives out and takes compiled code of scripts only.
 */
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noticesOf } from './notices.mjs';
import { filesUnder } from './stamps.mjs';
import { isProgram } from './steps.mjs';

const LOADER = fileURLToPath(new URL('../../bin/load-bundle.cjs', import.meta.url));
const { END } = createRequire(import.meta.url)(LOADER);
/** Of bundles that were replaced: services that were started from an earlier one cannot start threads any more. */
const REPLACED_KEPT = 2;

const TAKEN_IN = [
  'ajv',
  'ajv-formats',
  'commander',
  'css-select',
  'csv-parse',
  'domhandler',
  'fastest-levenshtein',
  'htmlparser2',
  'ipaddr.js',
  'jsonpath-rfc9535',
  'music-metadata',
  'opencc-js',
  'prom-client',
  're2js',
  'smol-toml',
  'typebox',
  'undici',
];

/** What a library that is taken in needs itself comes with it, of the version that it finds. */
function isLoadedAsItIs(id, importer = '') {
  if (/^[./]/.test(id)) return false;
  if (isBuiltin(id)) return true;
  return !importer.includes('/node_modules/') && !TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Scripts that need each other would find what the other one has not made yet; of modules, functions are there before. */
function assertNoCircle(output) {
  const needs = new Map(output.map(({ fileName, imports = [] }) => [fileName, imports]));
  const state = new Map();
  const visit = (name, way) => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open')
      throw new Error(`Files of the bundle need each other: ${[...way, name].join(', ')}`);
    state.set(name, 'open');
    for (const needed of needs.get(name) ?? []) visit(needed, [...way, name]);
    state.set(name, 'done');
  };
  for (const name of needs.keys()) visit(name, []);
}

/** A line that is no comment: what it imports when it runs is imported by the loader (bin/load-bundle.cjs). */
function withLoadersImport(line) {
  return /^\s*(?:\*|\/[/*])/.test(line) ? line : line.replaceAll(/(?<![\w$.])import\(/g, 'importLibrary(');
}

/**
 * With escapes in the place of letters beyond Latin-1. V8 keeps the source of all that is loaded, in each thread, and of a file that has one such letter in two
 * bytes a letter: an ellipsis in a sentence made a megabyte two. Throws where an escape would mean something else than the letter.
 */
export function inLatin1(source) {
  const misread = /(?<!\\)(?:\\\\)*\\[^\0-\xff]|String\.raw`[^`]*[^\0-\xff]/.exec(source);
  if (misread !== null) throw new Error(`A letter cannot be escaped: ${misread[0].slice(-80)}`);
  return source.replaceAll(/[^\0-\xff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function finishFile(path) {
  const lines = readFileSync(path, 'utf8').split('\n');
  writeFileSync(path, inLatin1(lines.map(withLoadersImport).join('\n')) + END);
}

/** What a thread or a process of a worker begins with (`compiledFile`): the loader, and by it the worker. */
function writeStart(folder, worker) {
  const loader = relative(dirname(worker), join(folder, basename(LOADER))).replaceAll('\\', '/');
  const lines = [
    `const { loadBundled } = require('${loader}');`,
    `module.exports = loadBundled(require('node:path').join(__dirname, '${basename(worker)}.cjs'));`,
  ];
  writeFileSync(`${worker}.start.cjs`, `${lines.join('\n')}\n`);
}

/** Has `dist/bundle` lead to the bundle of this name, and removes those that were replaced long ago. */
function putInPlace(dist, name) {
  const link = join(dist, 'bundle');
  // An earlier release made a folder.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(link, { recursive: true });
  rmSync(`${link}.new`, { force: true });
  symlinkSync(join('bundles', name), `${link}.new`);
  renameSync(`${link}.new`, link);
  removeReplaced(join(dist, 'bundles'), name);
}

/** Of those that stay goes what a service that runs can do without: where the lines of a stack were in the sources, and compiled code. */
function removeReplaced(bundles, name) {
  const replaced = readdirSync(bundles).filter((other) => other !== name);
  const kept = replaced
    .filter((other) => !other.endsWith('.unfinished'))
    .sort()
    .slice(-REPLACED_KEPT);
  for (const other of replaced)
    if (!kept.includes(other)) rmSync(join(bundles, other), { recursive: true, force: true });
  for (const other of kept) {
    rmSync(join(bundles, other, 'code'), { recursive: true, force: true });
    for (const map of filesUnder(join(bundles, other), (path) => path.endsWith('.map'))) rmSync(map);
  }
}

/**
 * Writes a bundle of the package in `root` and has `dist/bundle` lead to it, whole or not at all. Each has a folder of its own in `dist/bundles`, by
 * when it was made: a service goes on from the one that it was started from (decision 0389). Rejects with the faults of the sources.
 */
export async function bundle(root) {
  const { rolldown } = await import('rolldown');
  const dist = join(root, 'dist');
  const name = `${Date.now().toString(36)}-${process.pid}`;
  const folder = join(dist, 'bundles', name);
  const unfinished = `${folder}.unfinished`;
  const entries = [
    join(root, 'src', 'cli', 'index.ts'),
    join(root, 'src', 'main.ts'),
    ...filesUnder(join(root, 'src'), (path) => path.endsWith('.worker.ts')),
  ];
  const build = await rolldown({
    cwd: root,
    platform: 'node',
    input: Object.fromEntries(entries.map((path) => [relative(root, path).replace(/\.ts$/, ''), path])),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    external: isLoadedAsItIs,
    tsconfig: join(root, 'tsconfig.json'),
    logLevel: 'warn',
  });
  mkdirSync(unfinished, { recursive: true });
  const { output } = await build.write({
    dir: unfinished,
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: 'shared/[name]-[hash].cjs',
    sourcemap: true,
  });
  await build.close();
  assertNoCircle(output);
  for (const { type, fileName } of output) if (type === 'chunk') finishFile(join(unfinished, fileName));
  writeFileSync(join(unfinished, 'notices.txt'), noticesOf(output));
  for (const worker of entries.filter((path) => path.endsWith('.worker.ts')))
    writeStart(unfinished, join(unfinished, relative(root, worker).replace(/\.ts$/, '')));
  copyFileSync(LOADER, join(unfinished, basename(LOADER)));
  renameSync(unfinished, folder);
  putInPlace(dist, name);
}

// `node scripts/lib/bundle.mjs <package>`
if (isProgram(import.meta.url)) await bundle(process.argv[2]);
