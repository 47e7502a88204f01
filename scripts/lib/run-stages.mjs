/** Runs stages side by side, the longest first, as many as there are slots for. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepResult, keptResult } from './kept-results.mjs';
import { forgetTests, keepTests, lookAtTests } from './kept-tests.mjs';
import { readers } from './stage-results.mjs';
import { formatSeconds, lastLines, run } from './steps.mjs';
import { openTestFolder } from './test-folder.mjs';

const LINES_SHOWN_OF_FAILURE = 200;

/** Returns the stages that may begin now, longest first, as far as slots are free. One that needs more slots than there are runs alone. */
export function nextStages(waiting, { passedIds, freeSlots, isIdle }) {
  const ready = waiting
    .filter(({ needs }) => needs.every((id) => passedIds.has(id)))
    .sort((one, other) => other.seconds - one.seconds);
  const chosen = [];
  let free = freeSlots;
  for (const stage of ready) {
    if (stage.slots > free && !(isIdle && chosen.length === 0)) continue;
    chosen.push(stage);
    free -= stage.slots;
  }
  return chosen;
}

/**
 * Runs the stages. Resolves with all results, in the order in which they ended. A stage whose needs did not pass fails
 * without being run. `report` gets each result, `tell` the progress lines of stages with `tells`.
 */
export async function runStages(stages, { root, slots: all, report = printResult, tell = printLine }) {
  const passedIds = new Set();
  const endedIds = new Set();
  const results = [];
  const running = new Map();
  let waiting = [...stages];
  const end = (stage, result) => {
    endedIds.add(stage.id);
    if (result.failed === 0) passedIds.add(stage.id);
    results.push(result);
    report(result);
  };
  while (waiting.length > 0 || running.size > 0) {
    const used = [...running.values()].reduce((sum, { slots }) => sum + slots, 0);
    const chosen = nextStages(waiting, { passedIds, freeSlots: all - used, isIdle: running.size === 0 });
    for (const stage of chosen) {
      const onLine = stage.tells === true ? (line) => tell(`${stage.name}: ${line}`) : undefined;
      const work = runStage({ ...stage, onLine }, root).then((result) => {
        running.delete(work);
        end(stage, result);
      });
      running.set(work, stage);
    }
    waiting = waiting.filter((stage) => !chosen.includes(stage));
    if (running.size > 0) await Promise.race(running.keys());
    for (const stage of waiting.filter(({ needs }) => needs.some((id) => endedIds.has(id) && !passedIds.has(id)))) {
      waiting = waiting.filter((other) => other !== stage);
      end(stage, { ...noResult(stage), failed: 1, failures: [`${stage.name}: what it needs has failed`] });
    }
  }
  return results;
}

function noResult({ name }) {
  return {
    name,
    passed: 0,
    failed: 0,
    failures: [],
    skipped: [],
    output: '',
    milliseconds: 0,
    processorSeconds: 0,
    files: [],
    kept: { files: 0, tests: 0, processorSeconds: 0 },
  };
}

/** Runs a program and writes its processor time and that of its children to `$GANNET_STAGE_TIMES`, as POSIX `times` prints it. */
const TIMED = ['/bin/sh', '-c', '"$0" "$@"; status=$?; times >"$GANNET_STAGE_TIMES"; exit $status'];

/** Returns the seconds of processor time that `times` printed: its second line has user and system time of the children. 0 if there is none. */
export function processorSeconds(times) {
  const [, children = ''] = times.split('\n');
  const spans = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  return spans.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function runStage(stage, root) {
  if (stage.keepsTests !== undefined) return runTests(stage, root);
  const kept = keptResult(stage, root);
  if (kept?.result !== undefined) {
    const { passed, processorSeconds } = kept.result;
    return { ...kept.result, passed: 0, kept: { files: 0, tests: passed, processorSeconds }, isAsBefore: true };
  }
  const result = await resultOf(stage, root);
  if (kept !== undefined) keepResult(stage, root, { hash: kept.hash, result });
  return result;
}

/** Runs the test files that did not pass yet with what they read now. */
async function runTests(stage, root) {
  const { isOwn, surroundings } = stage.keepsTests;
  const tell = (what) => (error) => process.stdout.write(`${stage.name}: ${what}: ${error.message}\n`);
  // If the digests cannot be computed (a file disappears meanwhile), all files run and none is kept.
  const looked = await lookAtTests(root, surroundings).catch((error) => {
    tell('all files are run, for it cannot be told what they read')(error);
    return new Map();
  });
  const own = [...looked].filter(([test]) => isOwn(test));
  const kept = own.filter(([, { passed }]) => !stage.isAnew && passed !== undefined);
  const leftOut = kept.map(([test]) => test);
  // Forgets them first, as the runner may end before it has reported any file.
  forgetTests(root, { isOwn, leftOut });
  const mayBeEmpty = own.length > 0 && leftOut.length === own.length;
  const result = await resultOf(stage, root, { leftOut, mayBeEmpty });
  // A failure outside all files may be caused by any of them.
  const isToldApart = result.failures.every((name) => result.files.some(({ file }) => name.startsWith(`${file}:`)));
  const files = isToldApart ? result.files : result.files.map((file) => ({ ...file, isWhole: false }));
  await keepTests(root, { looked, files, surroundings }).catch(tell('what passed is not kept'));
  const sumOf = (name) => kept.reduce((sum, [, each]) => sum + each[name], 0);
  return {
    ...result,
    kept: { files: kept.length, tests: sumOf('passed'), processorSeconds: sumOf('processorSeconds') },
  };
}

async function resultOf(stage, root, { leftOut = [], mayBeEmpty = false } = {}) {
  const { name, command, reads, onLine } = stage;
  const startedMs = performance.now();
  const { folder, remove } = openTestFolder('gannet-stage');
  const reportFile = join(folder, 'report.json');
  try {
    const [shell, ...args] = [...TIMED, ...command, ...(mayBeEmpty ? ['--passWithNoTests'] : [])];
    const timesFile = join(folder, 'times');
    const leftOutFile = join(folder, 'left-out.json');
    writeFileSync(leftOutFile, JSON.stringify(leftOut));
    const files = { GANNET_TEST_REPORT: reportFile, GANNET_STAGE_TIMES: timesFile, TESTS_LEFT_OUT: leftOutFile };
    const env = { ...process.env, ...files, TMPDIR: folder, OWN_TEST_FOLDER: folder };
    const { code, output } = await run(shell, args, { cwd: root, env, onLine });
    const result = readers[reads]({ code, name, output, reportFile, mayBeEmpty });
    const milliseconds = performance.now() - startedMs;
    return {
      ...noResult(stage),
      ...result,
      output,
      milliseconds,
      processorSeconds: processorSeconds(readText(timesFile)),
    };
  } finally {
    remove();
  }
}

function printLine(line) {
  process.stdout.write(`${line}\n`);
}

function printResult({
  name,
  passed,
  failed,
  skipped,
  output,
  milliseconds,
  processorSeconds: used,
  kept,
  isAsBefore,
}) {
  if (failed > 0) process.stdout.write(`\n${lastLines(output, LINES_SHOWN_OF_FAILURE)}\n\n`);
  if (isAsBefore) {
    process.stdout.write(`${name}: ${kept.tests} not run, unchanged since they passed\n`);
    return;
  }
  const left = skipped.length === 0 ? '' : `, ${skipped.length} skipped`;
  const before = kept.files === 0 ? '' : `, ${kept.tests} in ${kept.files} files not run, unchanged since they passed`;
  const took = `${formatSeconds(milliseconds)}, ${used.toFixed(1)} s of processor`;
  process.stdout.write(`${name}: ${passed} passed, ${failed} failed${left}${before} (${took})\n`);
}
