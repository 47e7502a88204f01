import { text } from '../messages/index.js';
import { ConnectionLost, ServiceProblem } from '../service/client.js';
import { isSignedOut } from '../service/queries.js';

/** Returns the kind of error as a title. */
export function titleOf(error: unknown): string {
  if (error instanceof ConnectionLost) return text.problems.connection;
  if (isSignedOut(error)) return text.problems.signedOut;
  if (!(error instanceof ServiceProblem)) return text.problems.unexpected;
  switch (error.status) {
    case 403:
      return text.problems.forbidden;
    case 404:
      return text.problems.missing;
    case 409:
      return text.problems.conflict;
    case 429:
      return text.problems.tooMany;
    case 502:
    case 503:
    case 504:
    case 507:
      return text.problems.unavailable;
    default:
      return error.status < 500 ? text.problems.refused : text.problems.unexpected;
  }
}
