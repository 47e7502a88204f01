/**
 * Bundles the service into few files, as each loaded module costs every thread time at its start: some four hundred took half of it.
 * Entries are the command line, the composition root and all files named `.worker.ts`. Modules that several entries need are in shared
 * files. Libraries of plain JavaScript are bundled; those with binaries, threads or files of their own are loaded from their packages.
 * The files are scripts, loaded by the copy of bin/load-bundle.cjs among them, as V8 has compiled code for scripts only.
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
/** Number of replaced bundles that are kept. Services that run from an earlier one cannot start threads any more. */
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

/** True if the module is not bundled. Dependencies of bundled libraries are bundled, in the version that the library finds. */
function isLoadedAsItIs(id, importer = '') {
  if (/^[./]/.test(id)) return false;
  if (isBuiltin(id)) return true;
  return !importer.includes('/node_modules/') && !TAKEN_IN.some((name) => id === name || id.startsWith(`${name}/`));
}

/** Throws if files need each other. Such scripts would miss what the other one has not defined yet, unlike modules, whose functions are hoisted. */
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

/** Replaces dynamic imports in a line that is no comment by imports of the loader (bin/load-bundle.cjs). */
function withLoadersImport(line) {
  return /^\s*(?:\*|\/[/*])/.test(line) ? line : line.replaceAll(/(?<![\w$.])import\(/g, 'importLibrary(');
}

/**
 * Replaces letters beyond Latin-1 by escapes. V8 keeps all loaded sources in each thread, with two bytes per letter if a file has one such letter: an
 * ellipsis in a message doubled a megabyte. Throws if an escape would mean something else than the letter.
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

/** Writes the file that a worker's thread or process starts from (`compiledFile`). It loads the loader, which loads the worker. */
function writeStart(folder, worker) {
  const loader = relative(dirname(worker), join(folder, basename(LOADER))).replaceAll('\\', '/');
  const lines = [
    `const { loadBundled } = require('${loader}');`,
    `module.exports = loadBundled(require('node:path').join(__dirname, '${basename(worker)}.cjs'));`,
  ];
  writeFileSync(`${worker}.start.cjs`, `${lines.join('\n')}\n`);
}

/** Links `dist/bundle` to the bundle of this name, and removes bundles that were replaced long ago. */
function putInPlace(dist, name) {
  const link = join(dist, 'bundle');
  // Earlier releases made a folder.
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory() === true) rmSync(link, { recursive: true });
  rmSync(`${link}.new`, { force: true });
  symlinkSync(join('bundles', name), `${link}.new`);
  renameSync(`${link}.new`, link);
  removeReplaced(join(dist, 'bundles'), name);
}

/** Removes old bundles. From those kept, removes what a running service can do without: source maps and compiled code. */
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
 * Writes a bundle of the package in `root` and links `dist/bundle` to it atomically. Each bundle has a folder in `dist/bundles`, named by its time,
 * as a service continues to run from the one that it was started from (decision 0389). Rejects with the errors of the sources.
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
    // V8 keeps all loaded sources in each thread; licences are in notices.txt.
    comments: false,
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
