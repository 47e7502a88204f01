/** Handles requests that meet a damaged list: closes it, and names it in the error. */
import { isDamage, ServiceError } from '../../platform/index.js';
import { searchSettings } from './list-access.js';
import type { Services } from './services.js';

/** Returns the error to be thrown instead of `error`: `list-damaged` if it came from the store of the list. */
export function namedDamage(error: unknown, services: Services, account?: string, name?: string): unknown {
  if (!isDamage(error) || (error instanceof ServiceError && error.code === 'list-damaged')) return error;
  const list = account === undefined || name === undefined ? undefined : services.catalog.list(account, name);
  return list === undefined ? error : services.indexes.closeDamaged(list.id, searchSettings(list), error);
}
