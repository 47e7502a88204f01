/** Tests that only some machines can run say why they do not run here; `npm test` lists them with their reasons at its end. */
import { describe, it, type TestContext } from 'vitest';

/** What stands behind the name of a test that was left out, before its reason. */
const MARK = 'left out:';

/**
 * `it` where the condition holds; otherwise an `it` that skips and carries its reason in the name:
 * `itWhere(isLinux, 'only Linux has /dev/full')('…', …)`.
 */
export function itWhere(condition: boolean, reason: string): (name: string, work: () => Promise<void> | void) => void {
  if (condition) return (name, work) => it(name, work);
  return (name, work) => it.skip(`${name} (${MARK} ${reason})`, work);
}

/** The same for all tests of a `describe`. */
export function describeWhere(condition: boolean, reason: string): (name: string, tests: () => void) => void {
  if (condition) return (name, tests) => describe(name, tests);
  return (name, tests) => describe.skip(`${name} (${MARK} ${reason})`, tests);
}

/** Ends a test that finds out only while it runs that this machine cannot show what it is about. It counts as skipped. */
export function skipUnless(context: TestContext, condition: boolean, reason: string): asserts condition {
  if (!condition) context.skip(`${MARK} ${reason}`);
}
