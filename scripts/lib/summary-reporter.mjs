/**
 * A reporter for vitest: failures in full on standard output, and a summary as JSON in the file that `GANNET_TEST_REPORT`
 * names: `{ passed, failures: [name], skipped: [{ name, reason }], files: [{ file, seconds, processorSeconds, passed, isWhole }] }`.
 */
import { writeFileSync } from 'node:fs';
import { DotReporter } from 'vitest/node';

/** Before the reason in a test's name, or in what it says when it skips itself; test/support/skip.ts writes it. */
const REASON = /\s*\(?left out: (.*?)\)?$/;

export default class SummaryReporter extends DotReporter {
  /** @override */
  onTestRunEnd(modules, unhandledErrors, reason) {
    super.onTestRunEnd(modules, unhandledErrors, reason);
    const file = process.env.GANNET_TEST_REPORT;
    if (file !== undefined) writeFileSync(file, JSON.stringify(summaryOf(modules, unhandledErrors)));
  }
}

function summaryOf(modules, unhandledErrors) {
  let passed = 0;
  const failures = unhandledErrors.map((error) => `outside all tests: ${String(error.message).split('\n', 1)[0]}`);
  const skipped = [];
  for (const module of modules) {
    // A file that cannot even be loaded has no tests that could fail.
    for (const error of module.errors())
      failures.push(`${module.relativeModuleId}: ${error.message.split('\n', 1)[0]}`);
    for (const test of module.children.allTests()) {
      const { state, note } = test.result();
      const name = `${module.relativeModuleId}: ${test.fullName}`;
      if (state === 'passed') passed += 1;
      else if (state === 'failed') failures.push(name);
      else skipped.push(skippedTest(name, note));
    }
    for (const suite of module.children.allSuites()) {
      for (const error of suite.errors())
        failures.push(`${module.relativeModuleId}: ${suite.fullName}: ${error.message}`);
    }
  }
  const files = modules.map((module) => ({
    file: module.relativeModuleId,
    seconds: module.diagnostic().duration / 1000,
    // By test/support/count-processor.ts; not known of a file that could not be loaded, or where the system does not tell.
    processorSeconds: module.meta().processorSeconds ?? 0,
    ...wholeness(module, unhandledErrors),
  }));
  return { passed, failures, skipped, files: files.sort((one, other) => other.seconds - one.seconds) };
}

/** How many of a file's tests passed, and whether all did, at the first time, with nothing going wrong beside them. */
function wholeness(module, unhandledErrors) {
  const tests = [...module.children.allTests()];
  const passed = tests.filter((test) => test.result().state === 'passed');
  const isTriedAgain = tests.some((test) => (test.diagnostic()?.retryCount ?? 0) > 0);
  const isWhole = module.ok() && passed.length === tests.length && !isTriedAgain && unhandledErrors.length === 0;
  return { passed: passed.length, isWhole };
}

function skippedTest(name, note) {
  const reason = REASON.exec(note ?? '')?.[1] ?? REASON.exec(name)?.[1] ?? 'no reason is given';
  return { name: name.replace(REASON, ''), reason };
}
