/** What the service answered otherwise than the documents say. */
import { isDeepStrictEqual } from 'node:util';

const SHOWN_CHARACTERS_MAX = 1500;

export class Difference extends Error {
  /** `what` names the kind: a shorter sequence shows the same where it fails with the same. */
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
