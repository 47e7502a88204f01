/**
 * Defines the stages of `npm test`, one row each. To add a stage, add a row:
 *
 * - `name`: printed name, and `id`: name for `--stages`;
 * - `command`: program and arguments, run in the root of the project;
 * - `needs`: ids of the stages that must pass before; `setup` runs whenever it is needed, others only if they are wanted;
 * - `reads`: how its result is read, one of the readers in stage-results.mjs;
 * - `slots`: number of slots that it takes;
 * - `keptFor`: what it reads (`skip`: paths of skipped folders), if its result is kept until that changes (kept-results.mjs); not in the CI;
 * - `keepsTests`: `isOwn` says which test files are its own, if those that passed are kept until something they read changes (kept-tests.mjs); not in the CI;
 * - `tells`: its lines of standard output are shown as they come, as it may take minutes while nothing else runs;
 * - `isAnew`: true if it runs although a result is kept;
 * - `onDemand`: true if it only runs when `--stages` names it, as it takes longer than a change should wait;
 * - `seconds`: about the time it takes alone on one processor, including waits, so that the longest begin first.
 */
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';

/** Parts run side by side as far as there are processors. The expected times were measured with two. */
export const PROCESSORS = Math.max(2, availableParallelism());

/** Number of slots. Tests wait for a third of their time, so with as many stages as processors a quarter of the processors was idle. */
export const SLOTS = PROCESSORS + 1;

/** True if results of unchanged files are kept, by their content. With CI=true everything runs. */
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

/** Returns all stages of the project in `root`. */
export function stagesOf(root) {
  const program = (name) => join(root, 'node_modules', '.bin', name);
  const reporter = join(root, 'scripts', 'lib', 'summary-reporter.mjs');
  const vitest = (...projects) => [
    program('vitest'),
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    `--reporter=${reporter}`,
  ];
  // Stages that only compute give way to tests of services, which mostly wait and must continue as soon as they can.
  const computing = (...command) => ['nice', '-n', '10', ...command];
  const make = (...targets) => computing('make', '-C', 'native-bindings', '--no-print-directory', ...targets);
  const compilers = Math.max(1, PROCESSORS - 1);
  // The two libraries are those of the installed packages unless the environment names others.
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
  // Everything except documentation, which these stages do not check, and built files other than the console's client, which has the operations.
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
      // Comes first, as the longest stage waits for it.
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
      // Only one package can be installed at a time.
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
 * Returns the stages of `known` with wanted ids. Stages that are named or run several times are run anew, as kept results would hide occasional
 * failures. With `isAnew` all are run anew.
 */
export function wantedStages(known, wanted, { isNamed, times, isAnew = false }) {
  return known
    .filter(({ id }) => wanted.includes(id))
    .map((stage) => ({
      ...stage,
      // Stages that are left out count as passed for the others.
      needs: stage.needs.filter((id) => wanted.includes(id)),
      isAnew: isAnew || isNamed || times > 1,
    }));
}
