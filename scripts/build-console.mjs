/**
 * Builds the console: the typed client from the compiled registry, the application with Vite, and a compressed form of each file.
 * `npm run setup` calls it when something that it reads has changed. Run as a program it always builds.
 */
import { readdirSync, readFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { noticesOf } from './lib/notices.mjs';
import { filesUnder, hashOf, readStamp, writeStamp } from './lib/stamps.mjs';
import { isProgram, lastLines, run, StepError } from './lib/steps.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(root, 'dist');
const APP = join(root, 'src', 'console', 'app');
const CLIENT = join(DIST, 'client', 'operations.ts');
const ASSETS = join(DIST, 'console-assets');
/** Stamp of the sources of the compiled registry and the application. While it is the same, nothing else is checked. */
const STAMP = join(DIST, 'console.stamp');
/** Stamp of the files that Vite reads. */
const ASSETS_STAMP = join(DIST, 'console-assets.stamp');
/** Files that get a compressed form. Fonts and pictures are compressed already. */
const COMPRESSIBLE = /\.(?:js|css|html|svg|json)$/;

/**
 * Sizes below which files are merged, as they are not worth a request. Merging ignores imports, so merged files may import each other, run in
 * the wrong order, and show no page. The first size without such a circle is used (all larger ones had one, decision 0360). With 0 there is none:
 * each file has what the same pages need, and imports only files that more pages need.
 */
const MERGED_BYTES_MAX = [2_500, 1_200, 0];

/** True if client and assets are up to date. `compiled` is the stamp of the TypeScript that the registry is compiled from. */
export function consoleIsCurrent(compiled) {
  return readStamp(STAMP) === outerStamp(compiled) && readStamp(ASSETS_STAMP) !== undefined;
}

/** Brings client and assets up to date. Returns a note for the step's line, or undefined if all was built. */
export async function buildConsole(compiled) {
  await generateClient();
  const stamp = hashOf([...appSources(), CLIENT], null);
  const isCurrent = readStamp(ASSETS_STAMP) === stamp;
  if (!isCurrent) {
    await bundle();
    writeStamp(ASSETS_STAMP, stamp);
  }
  writeStamp(STAMP, outerStamp(compiled));
  return isCurrent ? 'the client is made anew, the pages are as they were' : undefined;
}

function outerStamp(compiled) {
  return hashOf(appSources(), compiled);
}

function appSources() {
  const isSource = (path) => !/\.test\.tsx?$/.test(path);
  return [
    ...filesUnder(APP, isSource),
    // The folders of the service from which the application imports values.
    ...['records', 'fields', 'platform'].flatMap((room) => filesUnder(join(root, 'src', room), isSource)),
    join(root, 'src', 'client', 'transport.ts'),
    join(root, 'package-lock.json'),
    join(root, 'scripts', 'lib', 'notices.mjs'),
    fileURLToPath(import.meta.url),
  ];
}

/** Generates the client in a separate process, as loading the registry loads the kernel. */
async function generateClient() {
  const module = (path) => JSON.stringify(pathToFileURL(join(DIST, 'src', path)).href);
  const program = [
    `import { allOperations } from ${module('main.js')};`,
    `import { clientSource } from ${module('client/index.js')};`,
    'process.stdout.write(clientSource(await allOperations()));',
  ].join('\n');
  const { code, output } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: root });
  if (code !== 0) throw new StepError('The client could not be made; the error is above.', lastLines(output, 40));
  mkdirSync(dirname(CLIENT), { recursive: true });
  // Replaces the file atomically, and keeps its time if nothing changed.
  if (readOr(CLIENT) === output) return;
  writeFileSync(`${CLIENT}.new`, output);
  renameSync(`${CLIENT}.new`, CLIENT);
}

function readOr(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function bundle() {
  const made = `${ASSETS}.new`;
  const output = await bundledWithoutCircle(made);
  writeFileSync(join(made, 'notices.txt'), noticesOf(output));
  await Promise.all(filesUnder(made, (path) => COMPRESSIBLE.test(path)).map(compress));
  rmSync(ASSETS, { recursive: true, force: true });
  renameSync(made, ASSETS);
}

async function bundledWithoutCircle(made) {
  for (const mergedBytesMax of MERGED_BYTES_MAX) {
    const output = await bundled(made, mergedBytesMax);
    if (!importsInCircle(output)) return output;
  }
  throw new StepError('The files of the console import each other, and would not run.', '');
}

/** True if some of these files import each other, directly or through others. */
export function importsInCircle(output) {
  const files = new Map(output.filter(({ type }) => type === 'chunk').map((file) => [file.fileName, file.imports]));
  const known = new Set();
  const isInCircle = (name, above) => {
    if (above.includes(name)) return true;
    if (known.has(name)) return false;
    known.add(name);
    return (files.get(name) ?? []).some((imported) => isInCircle(imported, [...above, name]));
  };
  return [...files.keys()].some((name) => isInCircle(name, []));
}

async function bundled(made, mergedBytesMax) {
  const { build } = await import('vite');
  let built;
  try {
    built = await build({
      configFile: false,
      root: APP,
      base: '/console/',
      logLevel: 'error',
      html: { cspNonce: '{{nonce}}' },
      define: { 'process.env.NODE_ENV': '"production"' },
      build: {
        outDir: made,
        emptyOutDir: true,
        target: 'es2023',
        // Inlines no assets, as the content security policy refuses data URLs, and all files come over one connection.
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1024,
        rolldownOptions: {
          // Puts shared modules into few files. By default each is its own file, and a page made sixty requests. With a single file the
          // sign-in page would load what only later pages need (test/console/first-task.test.ts).
          output: {
            codeSplitting: {
              groups: [
                { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: mergedBytesMax },
              ],
            },
          },
          onLog: (level, log, report) => {
            if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
          },
        },
      },
    });
  } catch (error) {
    throw new StepError('The console could not be built; the error is above.', String(error.stack ?? error));
  }
  return built.output;
}

/** Compresses a file, but not the page, which is filled in for each request. */
async function compress(path) {
  if (path.endsWith('.html')) return;
  const content = readFileSync(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, await promisify(brotliCompress)(content, { params }));
}

if (isProgram(import.meta.url)) {
  try {
    await buildConsole(readStamp(join(DIST, 'gannet.stamp')));
    process.stdout.write(`${readdirSync(join(ASSETS, 'assets')).length} files\n`);
  } catch (error) {
    if (error instanceof StepError) process.stderr.write(`${error.output}\n\n`);
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
