/**
 * Prints the test files that `npm test` runs again after a change of the given files (lib/what-tests-read.mjs): those that read these, or what is built from these.
 *
 *   node scripts/who-reads.mjs docs/http.md src/feeds/urls/crawled-url.ts
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { whatTestsRead } from './lib/what-tests-read.mjs';

/** For a source, one of the files that the set-up builds from it. */
const MADE = [
  [/^src\/console\/app\//, /^dist\/console-assets\/index\.html$/],
  [/^(?:src|config)\/(?!console\/app\/)(?!.*\.test\.).*\.ts$/, /^dist\/bundle\/src\/main\.cjs$/],
  [/^native-bindings\/(?:kernel|addon)\//, /^native-bindings\/build\/.*\.node$/],
];

const paths = process.argv.slice(2);
const read = await whatTestsRead(dirname(dirname(fileURLToPath(import.meta.url))));
const made = paths.flatMap((path) => MADE.filter(([source]) => source.test(path)).map(([, result]) => result));
const isReached = (each) => paths.includes(each) || made.some((result) => result.test(each));
const tests = [...read].filter(([, all]) => all.some(isReached)).map(([test]) => test);
for (const test of tests) process.stdout.write(`${test}\n`);
const unit = tests.filter((test) => !test.startsWith('test/')).length;
process.stdout.write(
  `${unit} files of unit tests, ${tests.length - unit} of integration tests, of ${read.size} in all\n`,
);
