/**
 * Installs, compiles and builds what is missing or stale, and nothing else (`npm run setup`). Plain JavaScript without
 * dependencies, because it runs before anything is installed. Prints one line per step; with `--quiet` only steps that do something.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole, consoleIsCurrent } from './build-console.mjs';
import { buildNative, nativeState } from './build-native.mjs';
import { bundle } from './lib/bundle.mjs';
import { keepCode } from './lib/keep-code.mjs';
import { otherSetUpEnded, showSetUp } from './lib/set-up-sign.mjs';
import { filesUnder, hashOf, readJson, readStamp, writeStamp } from './lib/stamps.mjs';
import { isProgram, lastLines, run, step, StepError } from './lib/steps.mjs';
import { checkNode, checkToolchain } from './lib/toolchain.mjs';
import { checkWebServer } from './lib/web-server.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** True if node_modules differs from package-lock.json, as far as this platform needs it. */
function packagesAreStale() {
  const wanted = readJson(join(root, 'package-lock.json'))?.packages;
  const present = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages;
  if (wanted === undefined || present === undefined || !hasOwnBinary()) return true;
  return Object.entries(wanted).some(([path, entry]) => {
    if (path === '') return false;
    const installed = present[path];
    if (installed === undefined) return entry.optional !== true;
    // npm's list may have packages without a folder, if an npm that outlived its set-up interfered with another one.
    if (!existsSync(join(root, path, 'package.json'))) return true;
    return installed.version !== entry.version || installed.integrity !== entry.integrity;
  });
}

const NPM_LINES_SHOWN = 15;

async function installPackages() {
  const npm = process.env.npm_execpath;
  // The console needs development packages, which NODE_ENV may leave out.
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund'];
  const throughNode = npm !== undefined && /npm-cli\.c?js$/.test(npm);
  const { code, output } = throughNode
    ? await run(process.execPath, [npm, ...args], { cwd: root })
    : await run('npm', args, { cwd: root });
  if (code === 0) return;
  // npm prints the reason first, and then a manual page that would hide it.
  const message = output.split('\n').filter((line) => !line.startsWith('npm warn'));
  throw new StepError(
    'npm could not install the packages; its message is above.',
    message.slice(0, NPM_LINES_SHOWN).join('\n'),
  );
}

/** Packages with binaries for every platform, of which those for other platforms are removed: some 450 MB that cannot be loaded here. */
const BINARIES = [
  {
    folder: 'uWebSockets.js',
    isForeign: (name) => name.endsWith('.node') && !name.startsWith(`uws_${process.platform}_${process.arch}_`),
  },
  { folder: join('onnxruntime-node', 'bin', 'napi-v6'), isForeign: (name) => name !== process.platform },
  {
    folder: join('onnxruntime-node', 'bin', 'napi-v6', process.platform),
    isForeign: (name) => name !== process.arch,
  },
];

/** False if the packages were installed on another platform, which removed the binary for this one. */
function hasOwnBinary() {
  const [{ folder, isForeign }] = BINARIES;
  const path = join(root, 'node_modules', folder);
  return existsSync(path) && readdirSync(path).some((name) => name.endsWith('.node') && !isForeign(name));
}

/** Removes binaries for other platforms, also if the packages were installed without this program. */
function removeForeignBinaries() {
  for (const { folder, isForeign } of BINARIES) {
    const path = join(root, 'node_modules', folder);
    if (!existsSync(path)) continue;
    for (const name of readdirSync(path).filter(isForeign)) rmSync(join(path, name), { recursive: true });
  }
}

const DIST = join(root, 'dist');
const BUNDLE = join(DIST, 'bundle');
const KEPT_CODE = join(BUNDLE, 'code');
const TYPESCRIPT_STAMP = join(DIST, 'gannet.stamp');
const CODE_STAMP = join(DIST, 'code.stamp');

/** Sources that run in the browser and are built by `build-console.mjs`. */
const CONSOLE_APP = join(root, 'src', 'console', 'app', '/');

function typescriptSources() {
  const isSource = (path) => /\.ts$/.test(path) && !path.endsWith('.test.ts') && !path.startsWith(CONSOLE_APP);
  const skip = new Set(['kernel', 'addon', 'test', 'fuzz', 'build', 'build-test', 'node_modules']);
  return [
    ...filesUnder(join(root, 'src'), isSource),
    ...filesUnder(join(root, 'config'), isSource),
    ...filesUnder(join(root, 'native-bindings'), isSource, skip),
    join(root, 'tsconfig.json'),
    join(root, 'tsconfig.build.json'),
    join(root, 'package-lock.json'),
    join(root, 'scripts', 'lib', 'bundle.mjs'),
    join(root, 'scripts', 'lib', 'notices.mjs'),
    join(root, 'bin', 'load-bundle.cjs'),
  ];
}

async function compileTypescript(stamp) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  // Does not check types, as `npm run types` and `npm test` do, so that a start need not wait for it.
  // tsc trusts its .tsbuildinfo, which must be removed if the output was removed by hand.
  if (!existsSync(join(DIST, 'src', 'main.js'))) rmSync(join(DIST, '.tsbuildinfo'), { force: true });
  const [{ code, output }] = await sideBySide([
    () => run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--noCheck'], { cwd: root }),
    () => bundleOrFail(),
  ]);
  if (code !== 0)
    throw new StepError('The TypeScript sources do not compile; the errors are above.', lastLines(output, 40));
  removeOrphans();
  writeStamp(TYPESCRIPT_STAMP, `${stamp} ${stampOfBundle()}`);
}

/** Returns the stamp of the bundle that the service runs from. A missing or damaged file makes it stale. */
function stampOfBundle() {
  const files = existsSync(BUNDLE) ? filesUnder(BUNDLE, (path) => path.endsWith('.cjs'), new Set(['code'])) : [];
  return hashOf(files, null);
}

/** Returns the stamp of the compiled code: it is recorded again for other files, another Node.js or another recorder. */
function stampOfCode() {
  const programs = ['keep-code.mjs', 'record-code.cjs'].map((name) => join(root, 'scripts', 'lib', name));
  return hashOf(programs, [stampOfBundle(), process.version, process.arch]);
}

/** Records compiled code. A failure only makes starts slower, so it is returned as a note. */
async function keepCodeOrNot(stamp) {
  // Writes the stamp before a failure, too, so that `npm start` does not try again each time.
  writeStamp(CODE_STAMP, stamp);
  try {
    await keepCode(root);
    return undefined;
  } catch (error) {
    // The first line of an uncaught error only names a place in the program.
    const lines = error.message.split('\n');
    const why = lines.find((line) => /^\w*Error\b/.test(line)) ?? lines[0];
    return `left out, so that starts take longer (${why})`;
  }
}

async function bundleOrFail() {
  try {
    await bundle(root);
  } catch (error) {
    throw new StepError('The TypeScript sources cannot be bundled; the errors are above.', String(error.message));
  }
}

/** Removes compiled files without a source, which imports that should fail would still find. */
function removeOrphans() {
  const made = new Set(['bundle', 'bundles', 'console-assets']);
  for (const file of filesUnder(DIST, (path) => /\.js(?:\.map)?$/.test(path), made)) {
    const source = join(root, relative(DIST, file).replace(/\.js(?:\.map)?$/, '.ts'));
    if (!existsSync(source)) rmSync(file);
  }
}

/** Says that a step has nothing to do. */
const upToDate = (name, quiet) => {
  if (!quiet) process.stdout.write(`${name}: up to date\n`);
};

/** Sets up the packages, which everything else needs. Throws a StepError whose message is one sentence. */
export const setUpPackages = (options) => shown(() => packageSteps(options));

async function packageSteps({ quiet = false } = {}) {
  checkNode();
  if (!quiet) process.stdout.write(`Node.js ${process.versions.node}: fine\n`);

  const stalePackages = packagesAreStale();
  const toBeBuilt = stalePackages ? nativeMayBeBuilt() : nativeState().state !== 'current';
  // Checks for the compiler first, so that it is reported at once and not after minutes of installing.
  if (toBeBuilt) {
    await checkToolchain();
    if (!quiet) process.stdout.write('C++ compiler, make, Python: fine\n');
  }
  if (stalePackages) await shownStep('Installing npm packages', installPackages);
  else upToDate('npm packages', quiet);
  removeForeignBinaries();
  if (!stalePackages && !toBeBuilt) return;
  const notice = await checkWebServer(root);
  if (notice !== undefined) process.stderr.write(`${notice}\n`);
}

/** Runs every stale step. Throws a StepError whose message is one sentence. */
export const setup = (options) => shown(() => runSteps(options));

/** Runs the steps after other set-ups have ended. Removes its sign at the end, as the caller may start the next set-up as another process. */
async function shown(steps) {
  await otherSetUpEnded(root, toldWaiting);
  try {
    await steps();
  } finally {
    hideSetUp?.();
    hideSetUp = undefined;
  }
}

const toldWaiting = (line) => process.stdout.write(line);

/** Removes the sign that a set-up is running; undefined if there is no sign. */
let hideSetUp;

/** Runs a step that does something. Shows a sign first, so that the program can say that it is being set up. */
async function shownStep(name, work) {
  hideSetUp ??= await showSetUp(root, toldWaiting);
  await step(name, work);
}

async function runSteps({ quiet = false } = {}) {
  const current = (name) => upToDate(name, quiet);
  await packageSteps({ quiet });

  const native = nativeState();
  const stamp = hashOf(typescriptSources(), null);
  const isCompiled = readStamp(TYPESCRIPT_STAMP) === `${stamp} ${stampOfBundle()}` && existsSync(join(DIST, 'src'));
  if (native.state === 'current') current('Search kernel');
  if (isCompiled) current('TypeScript');
  const works = new Map();
  if (native.state !== 'current')
    works.set('the search kernel (C++, some minutes the first time)', (tell) => buildNative(native, tell));
  if (!isCompiled) works.set('TypeScript', () => compileTypescript(stamp));
  if (works.size > 0)
    await shownStep(`Compiling ${[...works.keys()].join(' and ')}`, (tell) => sideBySide([...works.values()], tell));
  // The console is built from compiled code.
  if (consoleIsCurrent(stamp)) current('Console');
  else await shownStep('Building the console', () => buildConsole(stamp));
  const codeStamp = stampOfCode();
  if (readStamp(CODE_STAMP) === codeStamp && (quiet || existsSync(KEPT_CODE))) current('Compiled code');
  else await shownStep('Keeping compiled code', () => keepCodeOrNot(codeStamp));
}

/** Runs works side by side, as each uses one processor or none at times. Waits for all, so that none runs when a failure is thrown. */
async function sideBySide(works, tell) {
  const results = await Promise.allSettled(works.map((work) => work(tell)));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** True if the binary of the kernel is missing. Without the packages its stamp cannot be compared. */
function nativeMayBeBuilt() {
  const release = join(root, 'native-bindings', 'build', 'Release');
  return !existsSync(release) || !readdirSync(release).includes('gannet_kernel.node');
}

export function reportFailure(error) {
  if (error instanceof StepError && error.output !== '') process.stderr.write(`${error.output}\n\n`);
  process.stderr.write(`${error instanceof StepError ? error.message : error.stack}\n`);
}

if (isProgram(import.meta.url)) {
  try {
    await setup({ quiet: process.argv.includes('--quiet') });
  } catch (error) {
    reportFailure(error);
    process.exitCode = 1;
  }
}
