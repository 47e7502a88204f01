/**
 * A reporter for vitest. Prints failures in full to standard output, and writes a summary as JSON to the file in
 * `GANNET_TEST_REPORT`: `{ passed, failures: [name], skipped: [{ name, reason }], files: [{ file, seconds, processorSeconds, passed, isWhole }] }`.
 */
import { writeFileSync } from 'node:fs';
import { DotReporter } from 'vitest/node';

/** Stands before the reason in the name or skip note of a skipped test; test/support/skip.ts writes it. */
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
    // A file that cannot be loaded has no tests, so it is a failure itself.
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
    // Measured by test/support/count-processor.ts. Unknown for a file that could not be loaded, or if the system does not measure it.
    processorSeconds: module.meta().processorSeconds ?? 0,
    ...wholeness(module, unhandledErrors),
  }));
  return { passed, failures, skipped, files: files.sort((one, other) => other.seconds - one.seconds) };
}

/** Returns how many tests of a file passed, and whether all did at the first try without other errors. */
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
