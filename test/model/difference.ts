/** The error for a difference between an answer of the service and its documentation, with assertions that throw it. */
import { isDeepStrictEqual } from 'node:util';

const SHOWN_CHARACTERS_MAX = 1500;

export class Difference extends Error {
  /**
   * `what` is the kind of the difference: while shrinking, a sequence shows the same difference if it fails with the
   * same kind.
   */
  constructor(
    readonly what: string,
    detail: string,
  ) {
    super(`${what}: ${detail}`);
  }
}

export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, SHOWN_CHARACTERS_MAX);
}

export function same(what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Difference(what, `is ${shown(actual)} and should be ${shown(expected)}`);
}

export function holdsTrue(what: string, condition: boolean, detail: () => unknown): void {
  if (!condition) throw new Difference(what, shown(detail()));
}
