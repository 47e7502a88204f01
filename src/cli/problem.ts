/** Problem documents (RFC 9457) on the command line. */
import type { Problem } from '../platform/index.js';

/** Error answer of the service. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** Returns one paragraph: what is wrong, places not named in it, when to retry, and a hint. */
export function describeProblem(problem: Problem, hint?: string): string {
  const places = (problem.errors ?? [])
    .filter((place) => !problem.detail.includes(place.detail))
    .map((place) => {
      const where = place.parameter ?? place.pointer;
      return where === undefined || where === '' ? place.detail : `${where}: ${place.detail}`;
    });
  const wait = problem.retry_after_seconds;
  return [
    // Places that the text only counts are listed after it.
    places.length === 0 ? problem.detail : problem.detail.replace(/ \(and \d+ more\)$/, ''),
    ...(places.length === 0 ? [] : [`(${places.join('; ')})`]),
    ...(wait === undefined ? [] : [`Try again in ${wait} s.`]),
    ...(hint === undefined ? [] : [hint]),
    `[${problem.status} ${problem.code}]`,
  ].join(' ');
}

export function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<Problem>).code === 'string' &&
    typeof (value as Partial<Problem>).detail === 'string'
  );
}
