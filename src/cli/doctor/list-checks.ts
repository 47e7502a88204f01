/** Checks for damaged lists: by the answers of a running service, and by the files on disk. Read-only. */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ListRecord } from '../../catalog/index.js';
import { listFolder, listStores } from '../../index/index.js';
import { checkEnvironmentFile, dueUpgrade, FormatError, isDamage, type DueUpgrade } from '../../platform/index.js';
import { assertStoreKnown, segmentsPath, storePath } from '../../store/index.js';
import { membersOf } from '../answers.js';
import type { UnavailableList } from '../commands/list.js';
import { formatBytes, formatCount, formatCounted } from '../output.js';
import { failed, fine, messageOf, notice, type Check } from './check.js';

const TOLD_MAX = 10;
const CHECKS_MAX = 100;
/** Extension of vector segments. */
const OF_VECTORS = '.gvs';

/**
 * Reports lists that the running service cannot open, from the answer of `list.list`. Its files are open, so nobody
 * else may open them.
 */
export function servedListsCheck(account: string, answer: unknown): Check {
  const unavailable = membersOf<UnavailableList>(answer, 'unavailable');
  if (unavailable.length === 0) return fine('Catalogue', 'the running service serves all lists');
  const detail = `not served: ${firstOf(unavailable.map((list) => describe(account, list)))}`;
  return unavailable.every(({ code }) => code === 'not-ready')
    ? notice('Catalogue', detail)
    : failed('Catalogue', detail);
}

interface ListWithMeaning {
  readonly name: string;
  readonly meaning?: { readonly state: string; readonly error?: string };
}

/**
 * Reports lists with a model that are, or soon will be, searched by words alone, from the same answer. Empty if there
 * are none.
 */
export function meaningChecks(account: string, answer: unknown): Check[] {
  const told = membersOf<ListWithMeaning>(answer, 'lists').flatMap(({ name, meaning }) =>
    meaning?.error === undefined ? [] : [`${account}/${name}: ${meaning.error}`],
  );
  return told.length === 0 ? [] : [notice('Meaning', firstOf(told))];
}

/** Returns a failed check for each list that the service, running or in this process, cannot open. */
export function unavailableListChecks(account: string, answer: unknown): Check[] {
  return membersOf<UnavailableList>(answer, 'unavailable').map((list) =>
    failed(`Records of ${list.name}`, describe(account, list)),
  );
}

/** Shortens long results of checks by list: returns the faulty ones and the number of the others. */
export function checksInShort(checks: readonly Check[]): readonly Check[] {
  if (checks.length <= CHECKS_MAX) return checks;
  const faulty = checks.filter(({ state }) => state !== 'fine');
  const told = faulty.slice(0, CHECKS_MAX);
  const rest = faulty.length - told.length;
  const agreeing = checks.length - faulty.length;
  return [
    ...told,
    ...(rest === 0 ? [] : [failed('Records', `problems in ${formatCounted(rest, 'more list')}`)]),
    ...(agreeing === 0 ? [] : [fine('Records', `${formatCounted(agreeing, 'list')}: store and index agree`)]),
  ];
}

/**
 * Checks that the stores of these lists can be opened, by their meta pages and formats. For a data directory that no
 * service has open.
 */
export function storesCheck(folder: string, lists: readonly ListRecord[]): Check {
  const name = 'Stores of lists';
  const faults = { damaged: [] as string[], others: [] as string[], unclear: [] as string[] };
  for (const { id, account, name: list } of lists) {
    try {
      assertStoreReadable(storePath(listFolder(folder, id)));
    } catch (error) {
      const kind = error instanceof FormatError ? 'others' : isDamage(error) ? 'damaged' : 'unclear';
      faults[kind].push(`${account}/${list} (${messageOf(error)})`);
    }
  }
  const { damaged, others, unclear } = faults;
  const told = [
    ...(damaged.length === 0
      ? []
      : [`damaged: ${firstOf(damaged)}. Restore the folders from a backup, or delete the lists`]),
    ...(others.length === 0 ? [] : [`written by another release, so not served: ${firstOf(others)}`]),
    ...(unclear.length === 0 ? [] : [`cannot be checked: ${firstOf(unclear)}`]),
  ];
  if (told.length > 0) return failed(name, told.join('; '));
  return fine(name, 'no damage in their first pages, all of this release; --data checks all pages');
}

/** Throws if the store is unreadable. Leaves no files behind. */
function assertStoreReadable(path: string): void {
  checkEnvironmentFile(join(path, 'data.mdb'));
  leavingNoLock(path, () => {
    assertStoreKnown(path);
  });
}

/**
 * Returns the upgrade that opening the store would make. Undefined also if it cannot be examined, which `storesCheck`
 * reports. Leaves no files behind.
 */
export function dueUpgradeOf(path: string): DueUpgrade | undefined {
  try {
    return leavingNoLock(path, () => dueUpgrade(path, 'list'));
  } catch {
    return undefined;
  }
}

function leavingNoLock<Result>(path: string, action: () => Result): Result {
  const lock = join(path, 'lock.mdb');
  const isNew = !existsSync(lock);
  try {
    return action();
  } finally {
    if (isNew) rmSync(lock, { force: true });
  }
}

/** Measures files on disk without opening them, so that it works while the service runs. */
export function listsOnDiskCheck(folder: string): Check {
  const lists = listsOn(folder);
  const segments = [...segmentFiles(folder)];
  const files = [...segments, ...lists.map((list) => join(storePath(list), 'data.mdb'))];
  // A file that a merge has just removed counts as 0.
  const bytes = files.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  const detail = `${formatCounted(lists.length, 'list')}, ${formatCounted(segments.length, 'segment')}, ${formatBytes(bytes)}`;
  return fine('Lists on disk', detail);
}

/** Verifies every segment against its checksum. Also works while the service runs, since segments never change. */
export async function segmentSumsCheck(folder: string): Promise<Check> {
  const name = 'Segment checksums';
  const { isKernelError, kernel } = await import('../../../native-bindings/index.js');
  const damaged: FaultyFile[] = [];
  const others: FaultyFile[] = [];
  let compared = 0;
  for (const path of segmentFiles(folder)) {
    try {
      if (path.endsWith(OF_VECTORS)) kernel.checkVectorSegment(path);
      else kernel.checkSegment(path);
      compared += 1;
    } catch (error) {
      // A merge has just removed it.
      if (!existsSync(path)) continue;
      if (!isKernelError(error)) throw error;
      (error.code === 'unsupported-format' ? others : damaged).push({
        path,
        told: `${path} (${error.message})`,
      });
    }
  }
  if (damaged.length > 0) return failed(name, withRemedies(damaged));
  // Expected after an upgrade; the next start rebuilds them.
  if (others.length > 0) return notice(name, `of another format: ${withRemedies(others)}`);
  return fine(name, `${formatCount(compared)} segments match their checksums`);
}

export function missingSegmentsCheck(missing: readonly string[]): Check {
  const name = 'Missing segments';
  if (missing.length === 0) return fine(name, 'none');
  return notice(name, `removed from the disk: ${withRemedies(missing.map((path) => ({ path, told: path })))}`);
}

interface FaultyFile {
  readonly path: string;
  readonly told: string;
}

/**
 * Describes what happens to damaged files: indexes are rebuilt from records, and vector indexes from stored vectors.
 */
function withRemedies(files: readonly FaultyFile[]): string {
  const isOfVectors = ({ path }: FaultyFile) => path.endsWith(OF_VECTORS);
  const groups = [
    { of: files.filter((file) => !isOfVectors(file)), remedy: 'the index of these lists from the records' },
    {
      of: files.filter(isOfVectors),
      remedy: 'the vector index of these lists from the stored vectors',
    },
  ];
  return groups
    .filter((group) => group.of.length > 0)
    .map((group) => `${firstOf(group.of.map(({ told }) => told))}: the next start rebuilds ${group.remedy}`)
    .join('; ');
}

function* segmentFiles(folder: string): Generator<string> {
  for (const list of listsOn(folder)) {
    const segments = segmentsPath(list);
    if (!existsSync(segments)) continue;
    for (const file of readdirSync(segments)) if (/^\d+\.(?:mdb|gvs)$/.test(file)) yield join(segments, file);
  }
}

/** Returns the folders of lists, ignoring others. */
function listsOn(folder: string): string[] {
  return listStores(folder).map((store) => dirname(store));
}

function describe(account: string, { name, code, detail }: UnavailableList): string {
  return `${account}/${name}: ${detail} [${code}]`;
}

export function firstOf(items: readonly string[]): string {
  const more = items.length - TOLD_MAX;
  return items.slice(0, TOLD_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
