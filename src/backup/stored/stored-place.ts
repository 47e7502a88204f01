/**
 * Parses `media:STORE[/folders]`, a place in a media store for backups, and `media:STORE[/folders]/20261122T081500Z`,
 * one backup there.
 */
import { pathFault } from '../../media/index.js';
import { ServiceError } from '../../platform/index.js';
import { BACKUP_NAME } from '../kept-backups.js';

const BEGIN = 'media:';

export interface StoredPlace {
  readonly account: string;
  readonly store: string;
  /** Folders in the store; '' for none. */
  readonly folders: string;
  /** Name of one backup. */
  readonly name: string | undefined;
  /** As typed, without the name of a backup. */
  readonly told: string;
}

/** Returns undefined for a folder of the machine. Throws `invalid-parameter`. */
export function storedPlace(text: string, account: string): StoredPlace | undefined {
  if (!text.startsWith(BEGIN)) return undefined;
  const [store = '', ...parts] = text.slice(BEGIN.length).replace(/\/$/u, '').split('/');
  const name = BACKUP_NAME.test(parts.at(-1) ?? '') ? parts.pop() : undefined;
  const folders = parts.join('/');
  // The paths below it must be valid as well.
  const fault = parts.length === 0 ? undefined : pathFault(`${folders}/${'x'.repeat(100)}`);
  if (store === '' || fault !== undefined) {
    const detail = fault ?? 'Must be media:STORE or media:STORE/FOLDER, with the name of a media store.';
    throw new ServiceError('invalid-parameter', `${text}: ${detail}`, { errors: [{ pointer: '/folder', detail }] });
  }
  return { account, store, folders, name, told: [BEGIN + store, ...parts].join('/') };
}
