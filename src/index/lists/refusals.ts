/** Why a list is not opened any more. */
import { ServiceError } from '../../platform/index.js';

export function shuttingDown(): ServiceError {
  return new ServiceError('shutting-down', 'The service is stopping; try again soon.');
}

export function deleted(): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.');
}

/** Its store cannot be read. */
export function damaged(listId: string, list: string, cause: unknown): ServiceError {
  const detail =
    `The store of the list '${list}' is damaged, and the list is closed. Stop the service and restore the folder ` +
    `lists/${listId} of the data directory from a backup, or delete the list and fill a new one; the log says more.`;
  return new ServiceError('list-damaged', detail, { cause });
}
