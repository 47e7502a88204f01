/**
 * The service in few files: every module that is loaded costs each thread time at its start, some four hundred of them half of it.
 * Entries are the command line, the composition root and whatever ends in `.worker.ts`; what several of them need is in files that
 * they share. Libraries of plain JavaScript are taken in; those with binaries, threads or files of their own are loaded as they are.
 */
import { renameSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { filesUnder } from './stamps.mjs';
import { isProgram } from './steps.mjs';

const TAKEN_IN = [
  'ajv',
  'ajv-formats',
  'commander',
  'css-select',
  'csv-parse',
  'domhandler',
  'fast-xml-parser',
  'fastest-levenshtein',
  'htmlparser2',
  'ipaddr.js',
  'jsonpath-rfc9535',
  'music-metadata',
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

/** Writes `dist/bundle` of the package in `root`, whole or not at all. Rejects with the faults of the sources. */
export async function bundle(root) {
  const { rolldown } = await import('rolldown');
  const folder = join(root, 'dist', 'bundle');
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
  rmSync(unfinished, { recursive: true, force: true });
  await build.write({
    dir: unfinished,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared/[name]-[hash].js',
    sourcemap: true,
  });
  await build.close();
  rmSync(folder, { recursive: true, force: true });
  renameSync(unfinished, folder);
}

// `node scripts/lib/bundle.mjs <package>`
if (isProgram(import.meta.url)) await bundle(process.argv[2]);
