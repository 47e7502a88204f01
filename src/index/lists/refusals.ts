/** Errors of lists that cannot be opened. */
import type { Logger } from 'pino';
import { FormatError, ServiceError } from '../../platform/index.js';

interface RefusedList {
  readonly listId: string;
  readonly settings: { readonly list: string };
}

export function shuttingDown(): ServiceError {
  return new ServiceError('shutting-down', 'The service is stopping; try again soon.');
}

export function deleted(): ServiceError {
  return new ServiceError('list-not-found', 'The list has been deleted.');
}

/** The list's store cannot be read. */
export function damaged(listId: string, list: string, cause: unknown): ServiceError {
  const detail =
    `The store of the list '${list}' is damaged, and the list is closed. Look at the disk; where that is well, stop the service and restore the folder ` +
    `lists/${listId} of the data directory from a backup, or delete the list and fill a new one; the log says more. ` +
    'Where it was the disk that could not be read, the list is opened again by itself as soon as its file can be read, which is tried every minute at least.';
  return new ServiceError('list-damaged', detail, { cause });
}

/**
 * Converts the error of opening a list: a `list-format` error if this release cannot read the format of its store;
 * otherwise `error` itself.
 */
export function refusalOf(error: unknown, { listId, settings }: RefusedList, log: Logger): unknown {
  if (!(error instanceof FormatError)) return error;
  log.error({ err: error, id: listId }, 'A list was written by another release');
  const detail =
    `The list '${settings.list}' was written by another release of the service, and this one cannot read it; nothing of it was changed. ` +
    'Start the release that wrote it, or restore a backup of this one; the log names both formats.';
  return new ServiceError('list-format', detail, { cause: error });
}
