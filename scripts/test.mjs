/**
 * Runs all tests and checks (`npm test`): the stages of lib/stages.mjs side by side, including the set-up of what is stale.
 * Each check counts as one test. The last line is the sum.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from './lib/children.mjs';
import { runStages } from './lib/run-stages.mjs';
import { SLOTS, stagesOf, wantedStages } from './lib/stages.mjs';
import { formatSeconds, StepError } from './lib/steps.mjs';
import { testOptions, USAGE } from './lib/test-options.mjs';
import { reportFailure, setUpPackages } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function wantedOf(values) {
  const known = stagesOf(root);
  const usual = known.filter(({ onDemand }) => values.all || onDemand !== true);
  const wanted = values.stages?.split(',') ?? usual.map(({ id }) => id);
  if (known.some(({ id, needs }) => wanted.includes(id) && needs.includes('setup'))) wanted.push('setup');
  const unknown = wanted.filter((id) => known.every((stage) => stage.id !== id));
  if (unknown.length > 0) {
    throw new StepError(`There is no stage ${unknown.join(', ')}: there are ${known.map(({ id }) => id).join(', ')}.`);
  }
  const times = Math.max(1, Number(values.times));
  return {
    stages: wantedStages(known, wanted, {
      isNamed: values.stages !== undefined,
      times,
      isAnew: values.all || values.anew,
    }),
    times,
    busy: Number(values.busy),
    files: Number(values.files),
  };
}

/** Starts `count` processes that keep a processor busy each. Returns a function that ends them. */
function keepBusy(count) {
  const children = Array.from({ length: count }, () =>
    startProgram(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  const end = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  process.once('exit', end);
  return end;
}

function printSkipped(results) {
  const skipped = new Map(results.flatMap((result) => result.skipped.map(({ name, reason }) => [name, reason])));
  if (skipped.size === 0) return;
  process.stdout.write('\nSkipped:\n');
  for (const [name, reason] of skipped) process.stdout.write(`  ${name}: ${reason}\n`);
}

function printFailures(results, times) {
  const counts = new Map();
  for (const name of results.flatMap(({ failures }) => failures)) counts.set(name, (counts.get(name) ?? 0) + 1);
  if (counts.size === 0) return;
  process.stdout.write('\nFailed:\n');
  for (const [name, count] of [...counts].sort((one, other) => other[1] - one[1])) {
    process.stdout.write(times === 1 ? `  ${name}\n` : `  ${name}: ${count} of ${times} times\n`);
  }
}

/** Prints what was not run, last, so that the sum is not taken for everything. Returns how many tests these are. */
function printKept(results) {
  const sumOf = (name) => results.reduce((sum, { kept }) => sum + kept[name], 0);
  const [tests, files, seconds] = ['tests', 'files', 'processorSeconds'].map(sumOf);
  if (tests === 0) return 0;
  const stages = results.filter(({ isAsBefore }) => isAsBefore).map(({ name }) => name);
  const what = [...(files === 0 ? [] : [`${files} files of tests`]), ...stages].join(', ');
  process.stdout.write(
    `\nNot run, since nothing that is read there has changed since it passed: ${what}. Tests in all: ${tests}, which took ` +
      `${seconds.toFixed(0)} s of processor. \`npm test -- --anew\` runs everything.\n`,
  );
  return tests;
}

/** Prints the test files that took the most processor time, including processes that they started and waited for. */
function printFiles(results, count) {
  if (count === 0) return;
  const files = results.flatMap((result) => result.files);
  files.sort((one, other) => other.processorSeconds - one.processorSeconds);
  process.stdout.write('\nSeconds of processor and seconds, by file:\n');
  for (const { file, seconds, processorSeconds } of files.slice(0, count)) {
    process.stdout.write(`${processorSeconds.toFixed(1).padStart(8)} ${seconds.toFixed(1).padStart(7)}  ${file}\n`);
  }
}

async function testAll({ stages, times, busy, files }) {
  const results = [];
  const end = keepBusy(busy);
  try {
    for (let time = 1; time <= times; time += 1) {
      const startedMs = performance.now();
      results.push(...(await runStages(stages, { root, slots: SLOTS })));
      const which = times === 1 ? 'All stages' : `Time ${time} of ${times}`;
      process.stdout.write(`${which} took ${formatSeconds(performance.now() - startedMs)}.\n`);
    }
  } finally {
    end();
  }
  printFiles(results, files);
  printSkipped(results);
  printFailures(results, times);
  return results;
}

let sum = { passed: 0, failed: 1, skipped: 0, kept: 0 };
try {
  const values = testOptions(process.argv.slice(2));
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const wanted = wantedOf(values);
  await setUpPackages({ quiet: true });
  const results = await testAll(wanted);
  const total = (count) => results.reduce((all, result) => all + count(result), 0);
  sum = {
    passed: total(({ passed }) => passed),
    failed: total(({ failed }) => failed),
    skipped: total(({ skipped }) => skipped.length),
    kept: printKept(results),
  };
} catch (error) {
  reportFailure(error);
}
const skipped = sum.skipped === 0 ? '' : `, ${sum.skipped} skipped`;
const kept = sum.kept === 0 ? '' : `, ${sum.kept} not run`;
process.stdout.write(`${sum.passed} passed, ${sum.failed} failed${skipped}${kept}\n`);
process.exitCode = sum.failed === 0 ? 0 : 1;
