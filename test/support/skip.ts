/** Skips tests that only some machines can run, with the reason, which `npm test` lists at its end. */
import { describe, it, type TestContext } from 'vitest';

/** Precedes the reason in the name of a skipped test. */
const MARK = 'left out:';

/**
 * Returns `it` if the condition holds; otherwise an `it` that skips, with the reason in its name: `itWhere(isLinux,
 * 'only Linux has /dev/full')('…', …)`.
 */
export function itWhere(condition: boolean, reason: string): (name: string, work: () => Promise<void> | void) => void {
  if (condition) return (name, work) => it(name, work);
  return (name, work) => it.skip(`${name} (${MARK} ${reason})`, work);
}

/** Like `itWhere`, for all tests of a `describe`. */
export function describeWhere(condition: boolean, reason: string): (name: string, tests: () => void) => void {
  if (condition) return (name, tests) => describe(name, tests);
  return (name, tests) => describe.skip(`${name} (${MARK} ${reason})`, tests);
}

/** Skips a running test that finds out that this machine cannot show what it tests. */
export function skipUnless(context: TestContext, condition: boolean, reason: string): asserts condition {
  if (!condition) context.skip(`${MARK} ${reason}`);
}
