/**
 * The stages of `npm test`, one row each. A new stage is a new row:
 *
 * - `name` as it is printed, and `id` as `--stages` takes it;
 * - `command`: program and arguments, run in the root of the project;
 * - `needs`: ids of the stages that have to have passed before; `setup` is run wherever it is needed, others only where they are wanted;
 * - `reads`: how its result is read, one of the readers in stage-results.mjs;
 * - `slots`: how many of those that there are it takes;
 * - `keptFor`: what it reads (`skip`: paths of folders that are left out), where its result is kept until that changes (kept-results.mjs); not in the CI;
 * - `keepsTests`: `isOwn` says which files of tests are its own, where those are kept that passed and that nothing has changed for (kept-tests.mjs); not in the CI;
 * - `tells`: its lines of standard output are shown as they come, for it may take minutes while nothing else is at work;
 * - `isAnew`: it is run whatever is kept of it;
 * - `onDemand`: left out unless `--stages` names it, for what takes longer than a change should wait;
 * - `seconds`: about what it takes by itself on one processor, waiting included, so that the longest begin first.
 */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

/** Parts run side by side as far as there are processors; two are what the expected times were measured with. */
export const PROCESSORS = Math.max(2, availableParallelism());

/** Tests wait for a third of their time: with as many stages as processors, a quarter of these had nothing to do. */
export const SLOTS = PROCESSORS + 1;

/** Caches keep what was found of files that did not change, by their content. They are for people: whoever counts on the sum (CI=true) looks at everything. */
const usesCaches = process.env.CI === undefined || process.env.CI === '' || process.env.CI === 'false';
const cached = (root, name) =>
  usesCaches
    ? [
        '--cache',
        '--cache-strategy',
        'content',
        '--cache-location',
        join(root, 'node_modules', '.cache', 'gannet', name),
      ]
    : [];

/** All stages of the project in `root`. */
export function stagesOf(root) {
  const program = (name) => join(root, 'node_modules', '.bin', name);
  const reporter = join(root, 'scripts', 'lib', 'summary-reporter.mjs');
  const vitest = (...projects) => [
    program('vitest'),
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    `--reporter=${reporter}`,
  ];
  // What only computes gives way to tests of services, which mostly wait: these go on as soon as they can.
  const computing = (...command) => ['nice', '-n', '10', ...command];
  const make = (...targets) => computing('make', '-C', 'native-bindings', '--no-print-directory', ...targets);
  const compilers = Math.max(1, PROCESSORS - 1);
  // The two libraries are those of the list of packages, where the environment names no others.
  const { CC = 'gcc', CXX = 'g++', LMDB_DIR, SNOWBALL_DIR } = process.env;
  const others = [LMDB_DIR, SNOWBALL_DIR].filter((folder) => folder !== undefined);
  const native = {
    folders: [
      'native-bindings',
      join('bench', 'peers', 'gannet'),
      ...others.map((folder) => resolve(root, 'native-bindings', folder)),
    ],
    skip: ['build', 'build-lmdb', 'build-test'].map((name) => join('native-bindings', name)),
    programs: [CC, CXX, 'make'],
  };
  const keptNative = usesCaches ? { keptFor: native } : {};
  // All but prose, of which nothing is checked there, and what is made of all this; the client of the console is made of the operations.
  const made = ['.git', 'node_modules', 'dist', 'data', '.demo', 'coverage', ...native.skip];
  const code = { folders: ['.', join('dist', 'client')], skip: [...made, 'docs'], programs: [] };
  const keptCode = usesCaches ? { keptFor: code } : {};
  const keepsTests = (isOwn) => (usesCaches ? { keepsTests: { isOwn } } : {});
  return [
    {
      id: 'setup',
      name: 'Set-up',
      command: [process.execPath, join('scripts', 'setup.mjs'), '--quiet'],
      reads: 'work',
      tells: true,
      // What the longest stage waits for comes before it.
      seconds: 2000,
    },
    {
      id: 'browser',
      name: 'Browser',
      command: [process.execPath, join('scripts', 'install-chromium.mjs'), '--for-tests'],
      reads: 'counts',
      seconds: 1020,
    },
    {
      id: 'ffmpeg',
      name: 'ffmpeg',
      command: [process.execPath, join('scripts', 'install-ffmpeg.mjs'), '--for-tests'],
      // One package is installed at a time.
      needs: ['browser'],
      reads: 'counts',
      seconds: 1010,
    },
    {
      id: 'integration',
      name: 'Integration tests',
      command: vitest('integration'),
      needs: ['setup', 'browser', 'ffmpeg'],
      reads: 'tests',
      seconds: 1000,
      ...keepsTests((path) => path.startsWith('test/')),
    },
    {
      id: 'cpp-build',
      name: 'C++ with sanitizers',
      command: make(`-j${compilers}`, 'build'),
      reads: 'check',
      slots: compilers,
      seconds: 160,
      ...keptNative,
    },
    {
      id: 'unit',
      name: 'Unit tests',
      command: [...vitest('unit', 'unit-alone'), `--maxWorkers=${compilers}`],
      needs: ['setup'],
      reads: 'tests',
      slots: compilers,
      seconds: 260,
      ...keepsTests((path) => !path.startsWith('test/')),
    },
    {
      id: 'lint',
      name: 'Lint and types',
      command: computing(program('oxlint'), '--type-check'),
      needs: ['setup'],
      reads: 'check',
      seconds: 30,
      ...keptCode,
    },
    {
      id: 'cpp-tests',
      name: 'C++ tests',
      command: make('run'),
      needs: ['cpp-build'],
      reads: 'counts',
      seconds: 120,
      ...keptNative,
    },
    {
      id: 'cpp-measuring',
      name: 'C++ that measures',
      command: make('measuring'),
      reads: 'check',
      seconds: 16,
      ...keptNative,
    },
    {
      id: 'format',
      name: 'Format',
      command: computing(program('prettier'), '--check', '--log-level', 'warn', ...cached(root, 'prettier'), '.'),
      reads: 'check',
      seconds: 30,
    },
    {
      id: 'layering',
      name: 'Layering',
      command: computing(
        program('depcruise'),
        '--config',
        '.dependency-cruiser.cjs',
        'src',
        'config',
        'native-bindings',
      ),
      needs: ['setup'],
      reads: 'check',
      seconds: 6,
      ...keptCode,
    },
    {
      id: 'kernel-layering',
      name: 'Layering of the kernel',
      command: [process.execPath, 'native-bindings/layers.mjs'],
      reads: 'check',
      seconds: 1,
    },
    {
      id: 'fuzz',
      name: 'Fuzz targets',
      command: make('fuzz-smoke'),
      needs: ['cpp-build'],
      reads: 'counts',
      seconds: 205,
      onDemand: true,
    },
    {
      id: 'tsan',
      name: 'ThreadSanitizer',
      command: make('tsan'),
      reads: 'counts',
      seconds: 100,
      onDemand: true,
    },
    {
      id: 'schemathesis',
      name: 'Schemathesis',
      command: [process.execPath, join('test', 'schemathesis', 'run.mjs')],
      needs: ['setup'],
      reads: 'counts',
      seconds: 100,
      onDemand: true,
    },
    {
      id: 'generated-client',
      name: 'Generated client',
      command: [process.execPath, join('test', 'generated-client', 'run.mjs')],
      needs: ['setup'],
      reads: 'counts',
      seconds: 30,
      onDemand: true,
    },
  ].map((stage) => ({ needs: [], slots: 1, ...stage }));
}

/**
 * Those of `known` that are wanted, by id. Who names them, or has them run several times, looks for what fails now and then: what is kept of
 * them would hide it. Who asks for everything, `isAnew`, has everything run.
 */
export function wantedStages(known, wanted, { isNamed, times, isAnew = false }) {
  return known
    .filter(({ id }) => wanted.includes(id))
    .map((stage) => ({
      ...stage,
      // What is left out has passed as far as the others are concerned.
      needs: stage.needs.filter((id) => wanted.includes(id)),
      isAnew: isAnew || isNamed || times > 1,
    }));
}
