/** Checks which folders of the machine an account may use as a media store. */
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { isWithin, ServiceError } from '../../platform/index.js';
import type { FolderSettings, StoreRow } from '../types.js';
import { hasSafeFolders } from './safe-folder.js';

/** Folders of the data directory that may be links to another disk. */
const MAY_BE_LINKS = ['analytics', 'feeds', 'lists', 'media', 'models', 'system'];

export interface FolderPlaces {
  /** `media.folders` of the settings. */
  readonly allowed: readonly string[];
  readonly dataDir: string;
  /** Existing stores. */
  readonly stores: readonly StoreRow[];
}

/**
 * Returns the settings. Throws `invalid-parameter` for a folder that is not allowed, `conflict` for one that another
 * account uses.
 */
export function folderSettings(account: string, given: string | undefined, places: FolderPlaces): FolderSettings {
  if (given === undefined) throw fault("A media store of the kind 'folder' needs `folder`.");
  if (!hasSafeFolders()) throw fault('Media stores in folders need /proc, which only Linux has.');
  if (!isAbsolute(given)) throw fault('The folder must be an absolute path.');
  const folder = realFolderOrNone(given);
  const roots = places.allowed.map((path) => realFolderOrNone(resolve(path))).filter((path) => path !== undefined);
  // A missing folder gets the same error as one that is not allowed.
  if (folder === undefined || !roots.some((root) => isWithin(folder, root))) throw fault(notAllowed(places.allowed));
  if (placesOfData(places.dataDir).some((place) => isWithin(folder, place) || isWithin(place, folder))) {
    throw fault('The folder must be outside the data directory, and outside the folders that links in it lead to.');
  }
  const foreign = places.stores.find(
    ({ account: owner, settings }) =>
      owner !== account &&
      settings.kind === 'folder' &&
      (isWithin(folder, settings.folder) || isWithin(settings.folder, folder)),
  );
  if (foreign !== undefined)
    throw new ServiceError('conflict', 'Another account already has a media store in this folder.');
  return { kind: 'folder', folder };
}

function placesOfData(dataDir: string): string[] {
  const linked = MAY_BE_LINKS.map((name) => realFolderOrNone(join(dataDir, name))).filter((path) => path !== undefined);
  return [realpathSync(dataDir), ...linked];
}

/** The message does not name the allowed folders, which are the operator's business. */
function notAllowed(allowed: readonly string[]): string {
  const what =
    allowed.length === 0
      ? 'No folder of this machine may be a media store yet'
      : 'The folder is not there, or in none of those in which media stores may be';
  const how = 'GANNET_MEDIA_FOLDERS=/srv/files, or folders = ["/srv/files"] under [media] of a settings file';
  return `${what}: whoever runs the service names them by the setting media.folders (${how}) and starts it again.`;
}

function realFolderOrNone(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function fault(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `/folder: ${detail}`, { errors: [{ pointer: '/folder', detail }] });
}
