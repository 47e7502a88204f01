import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Certificates of more authorities, where the machine has some: each process of Node.js reads all of them when it starts, some 40 ms of a processor, a
// sixth of what the service takes to be ready. A test that talks to a server of its own names that one's certificate.
delete process.env['NODE_EXTRA_CA_CERTS'];

/** Limits are for what hangs: what works ends on a busy machine too, however late. */
const HANGING_MS = 480_000;

/** What they measure or misuse belongs to the whole process: its memory, and handles of the kernel that were given to others. */
const ALONE = ['native-bindings/kernel.test.ts', 'src/platform/own-memory.test.ts'];

/** The longest by the clock, the longest first (`npm test -- --stages integration --files 20`): one that begins last is waited for alone. */
const LONGEST = [
  'test/durability/stored-backup.test.ts',
  'test/api/feed-providers.test.ts',
  'test/durability/backup.test.ts',
  'test/console/pages.test.ts',
  'test/console/tasks.test.ts',
  'test/console/hostile-values.test.ts',
  'test/durability/disk-full-folders.test.ts',
  'test/api/feeds-email.test.ts',
  'test/api/feed-failures-websites.test.ts',
  'test/api/search-deadline.test.ts',
  'test/durability/changes-kill.test.ts',
  'test/console/keyboard.test.ts',
  'test/durability/list-life-kill.test.ts',
  'test/durability/lost-catalogue.test.ts',
  'test/durability/damage.test.ts',
  'test/console/pictures.test.ts',
  'test/api/feeds.test.ts',
  'test/api/feed-failures-data.test.ts',
  'test/api/vector-files.test.ts',
  'test/durability/pictures-hardship.test.ts',
];

/** By what an earlier run took, or by size, as Vitest has it; in front of these, what takes longest: a fresh clone has had no run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((file) => moduleId.endsWith(file));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}

/** Files that `npm test` does not run again: they passed, and nothing that they read has changed (scripts/lib/kept-tests.mjs). */
const listOfKept = process.env['TESTS_LEFT_OUT'];
const kept = listOfKept === undefined ? [] : (JSON.parse(readFileSync(listOfKept, 'utf8')) as string[]);

/** For `npm test -- --files`. */
const setupFiles = ['test/support/count-processor.ts'];
const globalSetup = ['test/support/own-temporary-folder.ts'];

const unit = {
  setupFiles,
  globalSetup,
  // The kernel keeps one registry for a process and its worker threads: tests run in processes, as the service does.
  pool: 'forks',
  env: { GANNET_KERNEL_CHECK_LEASES: '1' },
  testTimeout: HANGING_MS / 2,
  hookTimeout: HANGING_MS / 2,
  expect: { poll: { timeout: HANGING_MS / 4 } },
} as const;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...unit,
          name: 'unit',
          include: ['src/**/*.test.ts', 'native-bindings/*.test.ts', 'config/*.test.ts', 'scripts/**/*.test.mjs'],
          exclude: [...ALONE, ...kept],
          // A process for many files: loading the same modules for each would take two thirds of the time.
          isolate: false,
        },
      },
      { test: { ...unit, name: 'unit-alone', include: ALONE, exclude: kept } },
      {
        test: {
          name: 'integration',
          // After the unit tests, where both are asked for: they have other numbers of workers.
          sequence: { groupOrder: 1 },
          include: ['test/**/*.test.ts'],
          exclude: kept,
          setupFiles,
          globalSetup,
          pool: 'forks',
          env: { GANNET_KERNEL_CHECK_LEASES: '1' },
          // Each of these starts services of its own and mostly waits for them.
          maxWorkers: 2,
          // Of tests that may run side by side in a file; they wait for connections to be closed.
          maxConcurrency: 100,
          testTimeout: HANGING_MS,
          hookTimeout: HANGING_MS,
          expect: { poll: { timeout: HANGING_MS / 4 } },
        },
      },
    ],
  },
});
