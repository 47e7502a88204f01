/** Checks of the catalogue against the folders of lists, and of file permissions. Read-only. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { lostSecrets, type ListRecord } from '../../catalog/index.js';
import { hasLists, listFolder, listsFolder, unknownListNames, unknownListsFolder } from '../../index/index.js';
import { FEATURES } from '../../features.js';
import type { FeatureEnvironment } from '../../operations/index.js';
import {
  formatNumberOf,
  isDamage,
  openEntries,
  openEnvironment,
  SecretBox,
  setAsideOf,
  type LmdbEnvironment,
} from '../../platform/index.js';
import { areListsGone, hasStore, LISTS_GONE, storePath } from '../../store/index.js';
import { dueUpgrades } from '../../upgrades.js';
import { formatBytes, formatCount, formatCounted } from '../output.js';
import { failed, fine, messageOf, notice, type Check } from './check.js';
import { indexesCheck } from './index-checks.js';
import { dueUpgradeOf, firstOf, storesCheck } from './list-checks.js';

/** Checks who can access the files of the data directory. */
export function modeCheck(folder: string): Check {
  const name = 'File permissions';
  const open = openEntries(folder);
  const [first] = open;
  if (first === undefined) return fine(name, 'only the owner can access the files');
  const user = process.getuid?.();
  const foreign = user === 0 ? undefined : open.find(({ owner }) => owner !== user);
  const mode = first.mode.toString(8).padStart(4, '0');
  const remedy =
    foreign === undefined
      ? 'the next start of the service restricts them'
      : `${foreign.path} belongs to the user with id ${foreign.owner}, who must restrict it (chmod)`;
  return notice(
    name,
    `other users can access ${formatCount(open.length)} of the files (${first.path}: ${mode}); ${remedy}`,
  );
}

export function unknownListsCheck(folder: string): Check {
  const name = 'Unknown lists';
  const unknown = unknownListNames(folder).map((each) => join(unknownListsFolder(folder), each));
  if (unknown.length === 0) return fine(name, 'none');
  return notice(
    name,
    `not in the catalogue: ${firstOf(unknown)}. To restore them, stop the service and run gannet doctor --adopt-lists; otherwise delete the folders`,
  );
}

/** Reports databases that were damaged and set aside, for somebody to examine or delete. */
export async function setAsideCheck(folder: string): Promise<Check> {
  const name = 'Set aside';
  const environments = FEATURES.flatMap(({ environments = [] }) => environments);
  const aside = await setAsideOf(
    folder,
    environments.map(({ path }) => path),
  );
  if (aside.length === 0) return fine(name, 'no damaged databases');
  const told = firstOf(aside.map((each) => join(folder, each)));
  return notice(
    name,
    `damaged and replaced by new ones: ${told}. Their contents are in a backup, if you have one. Delete the files when you no longer need them`,
  );
}

/** Reports databases that a running service cannot read, from its readiness answer. */
export function unreadableCheck(unreadable: readonly string[]): Check {
  const name = 'Databases';
  if (unreadable.length === 0) return fine(name, 'the running service can read all of them');
  const isSystem = unreadable.includes('system');
  return failed(
    name,
    `the disk cannot read ${unreadable.join(', ')}. Check the disk; ` +
      (isSystem
        ? 'the service refuses changes until it can be read, and retries by itself'
        : 'the service leaves them unchanged, and retries by itself'),
  );
}

/**
 * Checks the catalogue of a data directory that no service has open, and whether the stores of its lists exist and are
 * intact.
 */
export async function catalogueChecks(folder: string): Promise<Check[]> {
  const path = join(folder, 'system');
  const isStored = (statSync(join(path, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) > 0;
  let lists: readonly ListRecord[];
  try {
    lists = isStored ? await listsOf(path) : [];
  } catch (error) {
    const remedy = isDamage(error) ? '. Restore it from a backup, or run gannet doctor --adopt-lists' : '';
    return [failed('Catalogue', `${path} cannot be read: ${messageOf(error)}${remedy}`)];
  }
  const due = upgradesCheck(folder, lists);
  if (lists.length > 0) {
    return [recordsThereCheck(folder, lists), storesCheck(folder, lists), due, await indexesCheck(folder, lists)];
  }
  if (!hasLists(folder)) return [fine('Catalogue', 'no lists yet'), due];
  const detail = `${path} is empty, but there are lists. Restore it from a backup, or run gannet doctor --adopt-lists`;
  return [failed('Catalogue', detail)];
}

/**
 * Reports formats that the next start, or opening a list, will upgrade: earlier releases cannot read them afterwards.
 */
function upgradesCheck(folder: string, lists: readonly ListRecord[]): Check {
  const name = 'Formats on disk';
  try {
    const ofLists = lists.flatMap(({ id, account, name: list }) => {
      const due = dueUpgradeOf(storePath(listFolder(folder, id)));
      return due === undefined ? [] : [{ ...due, path: `${account}/${list}` }];
    });
    const due = [...dueUpgrades(folder), ...ofLists];
    if (due.length === 0) return fine(name, 'all formats are those of this release');
    const told = due.map(({ path, from, to, bytes }) => `${path} from ${from} to ${to} (${formatBytes(bytes)})`);
    return notice(
      name,
      `the next start upgrades ${firstOf(told)}. The previous release cannot read the result: make a backup with it first`,
    );
  } catch (error) {
    return failed(name, messageOf(error));
  }
}

function recordsThereCheck(folder: string, lists: readonly ListRecord[]): Check {
  const name = 'Catalogue';
  if (areListsGone(listsFolder(folder))) return failed(name, LISTS_GONE);
  const missing = lists.filter(({ id }) => !hasStore(listFolder(folder, id)));
  if (missing.length === 0) return fine(name, `the records of all ${formatCount(lists.length)} lists are there`);
  const told = missing.map(({ account, name: list, id }) => `${account}/${list} (${listFolder(folder, id)})`);
  return failed(
    name,
    `the records are missing of ${firstOf(told)}. Restore the folders from a backup, or delete the lists`,
  );
}

const SECRETS = 'Secrets';

/** `lost` names what has a secret that cannot be opened. */
export function secretsCheck(lost: readonly string[]): Check {
  if (lost.length === 0) return fine(SECRETS, 'all secrets can be opened');
  return failed(
    SECRETS,
    `${formatCounted(lost.length, 'secret')} cannot be opened because the key is missing: ${firstOf(lost)}. Restore secret-keys in the data directory from a ` +
      'backup (or add the key to GANNET_SECRETS_KEYS) and restart the service, or enter these secrets again',
  );
}

/** Like `secretsCheck`, if no service has the catalogue open. */
export async function storedSecretsCheck(folder: string, given: readonly string[]): Promise<Check> {
  const path = join(folder, 'system');
  if ((statSync(join(path, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) === 0) return secretsCheck([]);
  try {
    const secrets = new SecretBox({ path: join(folder, 'secret-keys'), given });
    const environment = openEnvironment(path, { kind: 'system', readOnly: true });
    try {
      const declared = FEATURES.flatMap(({ sealed }) => sealed ?? []);
      return secretsCheck(lostSecrets(secrets, declared, (name) => valuesOf(environment, name)));
    } finally {
      await environment.close();
    }
  } catch (error) {
    return failed(SECRETS, `cannot check their keys: ${messageOf(error)}`);
  }
}

function valuesOf(environment: LmdbEnvironment, name: string): unknown[] {
  // A database that was never written does not exist, and is not created here.
  const database = environment.database<unknown, string>(name) as Database<unknown, string> | undefined;
  return database === undefined ? [] : Array.from(database.getRange(), ({ value }) => value);
}

async function listsOf(path: string): Promise<ListRecord[]> {
  const environment = openEnvironment(path, { kind: 'system', readOnly: true });
  try {
    return Array.from(environment.database<ListRecord, string>('lists').getRange(), ({ value }) => value);
  } finally {
    await environment.close();
  }
}

/** Checks that features' databases are readable, if no service has them open. */
export function featureChecks(folder: string): Promise<Check[]> {
  return Promise.all(
    FEATURES.flatMap(({ environments = [] }) => environments).map((each) => environmentCheck(folder, each)),
  );
}

async function environmentCheck(folder: string, { path, format }: FeatureEnvironment): Promise<Check> {
  const name = `Data of ${format.content}`;
  const place = join(folder, path);
  if ((statSync(join(place, 'data.mdb'), { throwIfNoEntry: false })?.size ?? 0) === 0) return fine(name, 'none yet');
  try {
    const environment = openEnvironment(place, { kind: format, readOnly: true });
    const number = formatNumberOf(environment.root);
    await environment.close();
    const after = number === format.number ? '' : `; the next start upgrades it to ${format.number}`;
    return fine(name, `${place} has format ${number}${after}`);
  } catch (error) {
    const fault = `${place} cannot be read: ${messageOf(error)}`;
    if (!isDamage(error)) return failed(name, fault);
    return notice(name, `${fault}. The service will set it aside under a dated name and start with an empty one`);
  }
}
