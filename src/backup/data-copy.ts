/**
 * Copies the data directory while it is served. The order ensures that a start finds the copy as it would find a
 * directory after a power failure: first the data of features (whose marks of delivered events must not be ahead of the
 * outboxes), then the lists, each as of one commit, then the catalogue, until it names exactly the copied lists.
 */
import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Logger } from 'pino';
import type { ListRecord } from '../catalog/index.js';
import { listFolder, listsFolder, type ListIndexes } from '../index/index.js';
import { APART, BLOBS_FOLDER, INCOMING_FOLDER, PARTS_FOLDER } from '../media/index.js';
import type { FeatureEnvironment } from '../operations/index.js';
import {
  copyEnvironment,
  isDamage,
  isSystemError,
  isUnreadable,
  isWithin,
  openEnvironment,
  realPlace,
  ServiceError,
  systemReason,
  type Cancellation,
  type Clock,
  type Job,
  type LmdbEnvironment,
} from '../platform/index.js';
import { areListsGone, LISTS_GONE } from '../store/index.js';
import type { BackupTarget } from './backup-target.js';
import { DESCRIPTION_FILE, type KeptFile } from './description.js';
import { filesBelow, keepCopy } from './file-keeping.js';
import { inParallel } from './in-parallel.js';
import { backUpList } from './list-backup.js';

/**
 * Folder in the data directory, created anew by each backup, where segments and copies wait until the backup has taken
 * them over.
 */
export const STAGING = '.backup-staging';
/**
 * Entries that are not copied as files: those that the process has open, those copied in another way, and the
 * description of a backup, from which the data directory may have been copied by hand.
 */
const NOT_FILES: ReadonlySet<string> = new Set([
  DESCRIPTION_FILE,
  'lock',
  'control.path',
  'control.sock',
  'lists',
  'system',
  'lists-at-rest',
  PARTS_FOLDER,
  STAGING,
]);
const SECRET_KEYS = 'secret-keys';
const MEDIA = 'media';
/**
 * Folders that may be on another disk, by a link in their place or below; a backup without their content would be
 * useless.
 */
const THROUGH_LINKS: ReadonlySet<string> = new Set(['analytics', 'feeds', MEDIA, 'models', SECRET_KEYS]);
/** The catalogue is copied again while lists are created and deleted meanwhile. */
const CATALOGUE_ROUNDS_MAX = 20;

export interface BackupSource {
  readonly dataDir: string;
  readonly system: LmdbEnvironment;
  readonly environments: readonly FeatureEnvironment[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly indexes: Pick<ListIndexes, 'printAtRest'>;
}

/** Progress and cancellation of a backup. */
export interface BackupWatch {
  readonly job: Job;
  readonly signal: Cancellation;
}

export interface CopyWatch extends BackupWatch {
  /** Rows of outboxes, which are kept until they are copied. */
  readonly rows: {
    begin(): void;
    release(listId: string): void;
    releaseAll(): void;
  };
}

export interface CopiedLists {
  readonly lists: number;
  /** Lists whose stores LMDB could not read. */
  readonly damaged: readonly string[];
}

export class DataCopy {
  private readonly damaged: string[] = [];
  private readonly copied = new Set<string>();
  /** Links without a target that were reported. */
  private readonly nowhere = new Set<string>();
  /** Real path of the backups' folder; determined once, since its disk may stop responding. */
  private readonly place: string;

  constructor(
    private readonly source: BackupSource,
    private readonly target: BackupTarget,
    private readonly watch: CopyWatch,
  ) {
    this.place = realPlace(dirname(target.folder));
  }

  async copyAll(): Promise<CopiedLists> {
    const { rows } = this.watch;
    rows.begin();
    try {
      return await this.copyInOrder();
    } catch (error) {
      throw this.toldUnreadable(error);
    } finally {
      rows.releaseAll();
    }
  }

  private async copyInOrder(): Promise<CopiedLists> {
    const { dataDir, environments, system } = this.source;
    for (const each of environments) await this.copyFeature(each);
    // What is being received is not complete yet.
    await this.copyFiles((path) => !isContent(path, INCOMING_FOLDER));
    for (let round = 0; round < CATALOGUE_ROUNDS_MAX; round += 1) {
      const secrets = secretKeys(dataDir);
      const wereGone = areListsGone(listsFolder(dataDir));
      const lists = await this.copyCatalogue(system);
      const ids = new Set(lists.map(({ id }) => id));
      const missing = lists.filter(({ id }) => !this.copied.has(id) && existsSync(listFolder(dataDir, id)));
      if (lists.length > 0 && areListsGone(listsFolder(dataDir))) {
        // The only list may just have been deleted; then the next copy of the catalogue does not name it.
        if (!wereGone) continue;
        throw new ServiceError('storage-failed', LISTS_GONE);
      }
      // In the first round, all lists are missing: they are copied, then the catalogue again.
      for (const list of missing) await this.copyList(list);
      await this.leaveOut([...this.copied].filter((id) => !ids.has(id)));
      if (missing.length === 0 && secrets === secretKeys(dataDir)) {
        // This was the last copy of the outbox of `system`, and no list follows.
        this.assertWaitedFor();
        this.watch.rows.releaseAll();
        await this.target.keepFolder('system', 0);
        await this.keepSecretKeys();
        // Copies files that the catalogue names and that were added after the first call. Contents may be moved to their
        // place only now, and both folders listed at once may have them in neither.
        await this.copyFiles((path) => isOfMedia(path) && !isContent(path, BLOBS_FOLDER));
        await this.copyFiles((path) => !isContent(path, INCOMING_FOLDER));
        return { lists: this.copied.size, damaged: this.damaged };
      }
    }
    throw new ServiceError(
      'conflict',
      'Lists are created and deleted faster than the backup can copy them: try again later.',
    );
  }

  private assertWaitedFor(): void {
    if (this.watch.signal.aborted) throw this.watch.signal.reason;
  }

  private async copyFeature({ path, format }: FeatureEnvironment): Promise<void> {
    const from = join(this.source.dataDir, path);
    if (!existsSync(join(from, 'data.mdb'))) return;
    const to = join(this.target.folder, path);
    await this.orAsItIs(from, to, async () => {
      const environment = openEnvironment(from, { kind: format });
      try {
        await copyEnvironment(environment.root, to);
      } finally {
        await environment.close();
      }
    });
    await this.target.keepFolder(path, 0);
  }

  /**
   * Copies the wanted ones of all files that are not copied yet and belong to no environment and no list: keys, learned
   * data, uploaded files.
   */
  private async copyFiles(isWanted: (path: string) => boolean): Promise<void> {
    const files = await this.filesThere(isWanted);
    const missing = files.filter(({ path }) => !this.target.has(path));
    await inParallel(missing, this.target.filesAtATime, ({ path }) => this.copyFile(path));
  }

  private async filesThere(isWanted: (path: string) => boolean): Promise<readonly KeptFile[]> {
    const { dataDir, environments } = this.source;
    const left = new Set(environments.map(({ path }) => path.split('/').join(sep)));
    return filesBelow(dataDir, {
      without: (path) =>
        !isWanted(path) || NOT_FILES.has(path) || left.has(path) || isOfRestore(path) || isOfStoredBackups(path),
      through: (path) => THROUGH_LINKS.has(path.split(sep, 1)[0] ?? ''),
      onFolder: (path, place) => this.assertApart(path, place),
      onNowhere: (path) => this.leadsNowhere(path),
    });
  }

  /** Throws if the backup's destination is in a folder that a link leads to. */
  private assertApart(path: string, place: string): void {
    if (!isWithin(this.place, place)) return;
    throw new ServiceError(
      'invalid-parameter',
      `${dirname(this.target.folder)} is in ${place}, where the link ${join(this.source.dataDir, path)} leads: each backup would copy those before it.`,
      {
        errors: [
          { pointer: '/folder', detail: 'Must be a folder apart from what links of the data directory lead to.' },
        ],
      },
    );
  }

  /**
   * Throws if the link stands for a whole folder of data: a backup without it would be useless, and older ones might be
   * removed for it.
   */
  private leadsNowhere(path: string): void {
    const link = join(this.source.dataDir, path);
    if (THROUGH_LINKS.has(path)) {
      throw new ServiceError(
        'unprocessable',
        `${link} is a link that leads nowhere, so that the backup would not have what belongs there: mount its disk, or remove the link.`,
      );
    }
    if (this.nowhere.has(path)) return;
    this.nowhere.add(path);
    this.source.log.warn({ path: link }, 'Broken link: the backup leaves out its target');
  }

  /** Converts the error to a sentence for the operator if a file to be copied may not or cannot be read. */
  private toldUnreadable(error: unknown): unknown {
    if (!isSystemError(error) || !isWithin(error.path ?? '/', this.source.dataDir)) return error;
    // For a copy, the system does not say which of the two files failed, and names the source.
    const isOfDisk = isUnreadable(error) || (error.syscall === 'copyfile' && error.code === 'EIO');
    if (error.code !== 'EACCES' && !isOfDisk) return error;
    return new ServiceError(
      'unprocessable',
      `${error.path} cannot be read, and belongs into the backup: ${systemReason(error)}.`,
    );
  }

  private async copyFile(path: string): Promise<void> {
    this.assertWaitedFor();
    await this.target.assertAnswers();
    try {
      await this.target.keepFile(join(this.source.dataDir, path), path);
    } catch (error) {
      // The file was just replaced or removed; a backup made a moment later would not have it either.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Returns the lists that the copy names. */
  private async copyCatalogue(system: LmdbEnvironment): Promise<readonly ListRecord[]> {
    const to = join(this.target.folder, 'system');
    await rm(to, { recursive: true, force: true });
    await copyEnvironment(system.root, to);
    const copy = openEnvironment(to, { kind: 'system' });
    try {
      return Array.from(copy.database<ListRecord, string>('lists').getRange(), ({ value }) => value);
    } finally {
      await copy.close();
      await rm(join(to, 'lock.mdb'), { force: true });
    }
  }

  private async copyList({ id, account, name }: ListRecord): Promise<void> {
    this.assertWaitedFor();
    await this.target.assertAnswers();
    const { folder, before } = this.target;
    const listPath = listFolder(this.source.dataDir, id);
    const path = relative(this.source.dataDir, listPath).split(sep).join('/');
    const inBackup = join(folder, path);
    let isThere = true;
    let bytesShared = 0;
    const damaged = await this.orAsItIs(listPath, inBackup, async () => {
      const made = await backUpList({
        listPath,
        target: inBackup,
        before: before === undefined ? undefined : join(before, path),
        staging: join(this.source.dataDir, STAGING, id),
        printAtRest: () => this.source.indexes.printAtRest(id),
      });
      isThere = made !== undefined;
      bytesShared = made?.bytesShared ?? 0;
    });
    // After giving up, rows were released that may be missing in this copy.
    this.assertWaitedFor();
    this.watch.rows.release(id);
    if (damaged) this.damaged.push(`${account}/${name}`);
    // A list that was deleted meanwhile is not in the catalogue of the next round.
    if (isThere) {
      await this.target.keepFolder(path, bytesShared);
      this.copied.add(id);
    }
    this.watch.job.advance(1);
  }

  private async leaveOut(ids: readonly string[]): Promise<void> {
    const { dataDir } = this.source;
    for (const id of ids) {
      await this.target.leaveOut(relative(dataDir, listFolder(dataDir, id)).split(sep).join('/'));
      this.copied.delete(id);
    }
  }

  /**
   * Copies by `copy` or, if the environment is damaged, byte for byte: it may be repaired later, and its intact data
   * are not lost. Returns true in that case.
   */
  private async orAsItIs(from: string, to: string, copy: () => Promise<void>): Promise<boolean> {
    try {
      await copy();
      return false;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.source.log.error({ path: from, err: error }, 'a backup has a damaged file as it is');
      await rm(to, { recursive: true, force: true });
      for (const { path } of await filesBelow(from, { without: (each) => each.endsWith('lock.mdb') })) {
        await keepCopy(join(from, path), join(to, path), undefined);
      }
      return true;
    }
  }

  /** Copies the secret keys as they were when the catalogue was copied that they seal. */
  private async keepSecretKeys(): Promise<void> {
    if (!existsSync(join(this.source.dataDir, SECRET_KEYS))) return;
    await this.target.leaveOut(SECRET_KEYS);
    await this.copyFile(SECRET_KEYS);
  }
}

function secretKeys(dataDir: string): string {
  const path = join(dataDir, SECRET_KEYS);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** True for backups in a media store, whose folder a link of the data directory may lead to. */
function isOfStoredBackups(path: string): boolean {
  return path.split(sep).includes(APART);
}

function isOfMedia(path: string): boolean {
  return path.split(sep, 1)[0] === MEDIA;
}

/** True for such a folder of a built-in store, which is `media/<account>/<store>/<folder>`, and for what is in it. */
function isContent(path: string, folder: string): boolean {
  return isOfMedia(path) && path.split(sep)[3] === folder;
}

/** True for data that a restore moved aside, which no longer belong to the service. */
function isOfRestore(path: string): boolean {
  return path.startsWith('.before-restore-');
}
