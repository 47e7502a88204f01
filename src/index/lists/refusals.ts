/** Why a list is not opened any more. */
import { ServiceError } from '../../platform/index.js';

export function shuttingDown(): ServiceError {
  return new ServiceError('shutting-down', 'The service is stopping; try again soon.');
}

export function deleted(): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.');
}
