/**
 * Builds the console: the typed client from the compiled registry, the application with Vite, and the compressed form of each file.
 * `npm run setup` calls it when something that it reads has changed; by itself it builds always.
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
/** Of what the compiled registry and the application are made of: nothing has to be looked at while it is the same. */
const STAMP = join(DIST, 'console.stamp');
/** Of what Vite reads. */
const ASSETS_STAMP = join(DIST, 'console-assets.stamp');
/** Compressed forms of these are made; fonts and pictures are compressed already. */
const COMPRESSIBLE = /\.(?:js|css|html|svg|json)$/;

/**
 * A file of fewer bytes is not worth a request of its own. What puts them together does not look at what imports what: files that import each
 * other run in an order in which some begin without what they need, and no page is shown. The first of these that leads to none is taken (of
 * more bytes all did, decision 0360); of 0, what the same pages need is a file, and a file imports only what more pages need.
 */
const MERGED_BYTES_MAX = [2_500, 1_200, 0];

/** `compiled`: the stamp of the TypeScript that the registry is compiled from. */
export function consoleIsCurrent(compiled) {
  return readStamp(STAMP) === outerStamp(compiled) && readStamp(ASSETS_STAMP) !== undefined;
}

/** Brings client and assets up to date. Returns what was done, as a word for the step's line. */
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
    join(root, 'src', 'client', 'transport.ts'),
    join(root, 'package-lock.json'),
    join(root, 'scripts', 'lib', 'notices.mjs'),
    fileURLToPath(import.meta.url),
  ];
}

/** In a process of its own: to load the registry is to load the kernel. */
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
  // A reader never finds half of it, and what did not change keeps its time.
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

/** Whether some of these files import each other, at once or by way of others. */
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
        // Everything comes over the page's own connection; nothing is worth an inline URL that the policy would refuse.
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1024,
        rolldownOptions: {
          // What two pages need comes in few files: by itself each module that some share is one, and a page asked for sixty. In a single
          // file the sign-in page would load what only the pages behind it need (test/console/first-task.test.ts).
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

/** The page itself is filled in for each request, so that it stays as it is. */
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
