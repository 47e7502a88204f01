/** Problem documents (RFC 9457) as the command line sees and tells them. */
import type { Problem } from '../platform/index.js';

/** The service's own answer that a call cannot be done. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** One readable paragraph: what was wrong, the faulty places that it does not name yet, when to come back, and what to do. */
export function describeProblem(problem: Problem, hint?: string): string {
  const places = (problem.errors ?? [])
    .filter((place) => !problem.detail.includes(place.detail))
    .map((place) => {
      const where = place.parameter ?? place.pointer;
      return where === undefined || where === '' ? place.detail : `${where}: ${place.detail}`;
    });
  const wait = problem.retry_after_seconds;
  return [
    // Those that it only counts are named behind it.
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
