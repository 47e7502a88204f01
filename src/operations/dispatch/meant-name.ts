/** Adds "Did you mean …?" to errors about names that do not exist. */
import type { Caller } from '../../access/index.js';
import { didYouMean, ServiceError } from '../../platform/index.js';

/** Limit of names to compare with, so that a client that repeats a wrong name costs others little. */
const COMPARED_MAX = 1000;

/** Returns the error, with the probably meant name added if the caller may see all of these names. */
export function withMeantName(error: unknown, caller: Caller): unknown {
  if (!(error instanceof ServiceError) || error.meant === undefined) return error;
  const { given, permission } = error.meant;
  const isNarrow = caller.key !== undefined && caller.key.scope !== 'account';
  if (isNarrow || !caller.can(permission)) return error;
  const hint = didYouMean(given, firstOf(error.meant.names()));
  if (hint === '') return error;
  const { problem, detail, errors, headers } = error;
  const told = errors?.map((place) => (place.detail === detail ? { ...place, detail: `${detail}${hint}` } : place));
  return new ServiceError(problem, `${detail}${hint}`, {
    ...(told === undefined ? {} : { errors: told }),
    headers,
    cause: error,
  });
}

function* firstOf(names: Iterable<string>): Generator<string> {
  let left = COMPARED_MAX;
  for (const name of names) {
    if (left === 0) return;
    left -= 1;
    yield name;
  }
}
