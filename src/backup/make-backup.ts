/**
 * A backup while serving. In this order, so that a start finds it as it finds a directory after a power cut: what features keep (marks
 * of what was told, never ahead of what there is to tell), then the lists, each as of one commit, then the catalogue, until it names
 * just the lists that were copied.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Logger } from 'pino';
import type { ListRecord } from '../catalog/index.js';
import { listFolder } from '../index/index.js';
import type { FeatureEnvironment } from '../operations/index.js';
import {
  asStorageError,
  copyEnvironment,
  isDamage,
  openEnvironment,
  packageVersion,
  ServiceError,
  syncFile,
  type Clock,
  type Job,
  type LmdbEnvironment,
} from '../platform/index.js';
import { storePath } from '../store/index.js';
import { describeBackup, DESCRIPTION_FILE } from './description.js';
import { filesBelow, keepCopy } from './file-keeping.js';
import { backupsIn, freeName, unfinishedName, type KeptBackup } from './kept-backups.js';
import { backUpList } from './list-backup.js';

/** Of the data directory, and made anew by each backup: where segments wait on another file system than that of the backup. */
export const STAGING = '.backup-staging';
/** What the process itself has open, and what is copied in another way. */
const NOT_FILES: ReadonlySet<string> = new Set([
  'lock',
  'control.path',
  'control.sock',
  'lists',
  'system',
  'lists-at-rest',
  STAGING,
]);
/** The catalogue is copied again while lists are made and deleted beside it. */
const CATALOGUE_ROUNDS_MAX = 20;
const SECRET_KEYS = 'secret-keys';

export interface BackupSource {
  readonly dataDir: string;
  readonly system: LmdbEnvironment;
  readonly environments: readonly FeatureEnvironment[];
  readonly clock: Clock;
  readonly log: Logger;
}

export interface BackupRequest {
  /** Absolute; backups are folders in it. */
  readonly folder: string;
  /** So many of the newest of this data directory stay. Undefined: all. */
  readonly keep?: number | undefined;
}

export interface MadeBackup {
  readonly path: string;
  readonly made_utc: string;
  readonly lists: number;
  readonly files: number;
  readonly bytes: number;
  /** Of them, what takes no room beside the data directory or the backup before. */
  readonly bytes_shared: number;
  /** Stores that LMDB could not read. */
  readonly damaged: readonly string[];
  /** Older backups that are not kept. */
  readonly removed: readonly string[];
}

/** Rejects with `storage-full`, or `conflict`; what was begun is gone then. */
export async function makeBackup(source: BackupSource, request: BackupRequest, job: Job): Promise<MadeBackup> {
  const madeUtc = new Date(source.clock.nowMs()).toISOString();
  const earlier = backupsIn(request.folder).filter(({ dataDir }) => dataDir === source.dataDir);
  const unfinished = join(request.folder, unfinishedName(source.dataDir));
  try {
    await removeLeftOver(source, unfinished);
    await mkdir(unfinished, { recursive: true });
    const backup = new Backup(source, { target: unfinished, before: earlier.at(-1)?.path, job });
    const { lists, damaged } = await backup.copyAll();
    const files = await backup.finish({ made_utc: madeUtc, lists });
    await rm(join(source.dataDir, STAGING), { recursive: true, force: true });
    const path = join(request.folder, freeName(request.folder, madeUtc));
    await rename(unfinished, path);
    await syncFile(request.folder);
    const removed = await removeOldest(earlier, request.keep);
    const made = { path, made_utc: madeUtc, lists, files, damaged, removed };
    return { ...made, bytes: backup.bytes, bytes_shared: backup.bytesShared };
  } catch (error) {
    await removeLeftOver(source, unfinished).catch(() => undefined);
    throw asStorageError(error, request.folder);
  }
}

class Backup {
  bytes = 0;
  bytesShared = 0;
  private readonly damaged: string[] = [];
  private readonly copied = new Set<string>();

  constructor(
    private readonly source: BackupSource,
    private readonly places: { readonly target: string; readonly before: string | undefined; readonly job: Job },
  ) {}

  async copyAll(): Promise<{ lists: number; damaged: readonly string[] }> {
    const { dataDir, environments, system } = this.source;
    for (const each of environments) await this.copyFeature(each);
    await this.copyFiles();
    for (let round = 0; round < CATALOGUE_ROUNDS_MAX; round += 1) {
      const secrets = secretKeys(dataDir);
      const lists = await this.copyCatalogue(system);
      const ids = new Set(lists.map(({ id }) => id));
      const missing = lists.filter(({ id }) => !this.copied.has(id) && existsSync(listFolder(dataDir, id)));
      // Before the first round no list is there: the lists, then the catalogue again.
      for (const list of missing) await this.copyList(list);
      await this.leaveOut([...this.copied].filter((id) => !ids.has(id)));
      if (missing.length === 0 && secrets === secretKeys(dataDir)) {
        await this.keepSecretKeys();
        // Files that the catalogue names and that came after the first look.
        await this.copyFiles();
        return { lists: this.copied.size, damaged: this.damaged };
      }
    }
    throw new ServiceError('conflict', 'Lists are made and deleted faster than they are copied: try again later.');
  }

  /** Writes what the backup is; all of it is on disk then. Returns how many files it has. */
  async finish(told: { readonly made_utc: string; readonly lists: number }): Promise<number> {
    const { target } = this.places;
    const files = await filesBelow(target);
    const text = describeBackup({ ...told, made_by: packageVersion(), data_dir: this.source.dataDir, files });
    await writeFile(join(target, DESCRIPTION_FILE), text);
    await syncFile(join(target, DESCRIPTION_FILE));
    for (const folder of new Set(files.map(({ path }) => dirname(join(target, path))))) await syncFile(folder);
    await syncFile(target);
    return files.length;
  }

  private async copyFeature({ path, format }: FeatureEnvironment): Promise<void> {
    const from = join(this.source.dataDir, path);
    if (!existsSync(join(from, 'data.mdb'))) return;
    const to = join(this.places.target, path);
    await this.orAsItIs(from, to, async () => {
      const environment = openEnvironment(from, { kind: format });
      try {
        await copyEnvironment(environment.root, to);
      } finally {
        await environment.close();
      }
      await this.count(to);
    });
  }

  /** Whatever is no environment, of no list, and not there yet: keys, what was learned, uploaded files. */
  private async copyFiles(): Promise<void> {
    const { dataDir, environments } = this.source;
    const left = new Set(environments.map(({ path }) => path.split('/').join(sep)));
    const files = await filesBelow(dataDir, (path) => NOT_FILES.has(path) || left.has(path) || isOfRestore(path));
    for (const { path } of files) if (!existsSync(join(this.places.target, path))) await this.copyFile(path);
  }

  private async copyFile(path: string): Promise<void> {
    const { target, before } = this.places;
    try {
      const kept = await keepCopy(
        join(this.source.dataDir, path),
        join(target, path),
        before === undefined ? undefined : join(before, path),
      );
      this.add(kept.bytes, kept.shared ? kept.bytes : 0);
    } catch (error) {
      // Replaced or removed a moment ago: a backup a moment later would not have it either.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Returns the lists that the copy names. */
  private async copyCatalogue(system: LmdbEnvironment): Promise<readonly ListRecord[]> {
    const to = join(this.places.target, 'system');
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
    const { target, before, job } = this.places;
    const listPath = listFolder(this.source.dataDir, id);
    const inBackup = join(target, relative(this.source.dataDir, listPath));
    let isThere = true;
    const damaged = await this.orAsItIs(listPath, inBackup, async () => {
      const made = await backUpList({
        listPath,
        target: inBackup,
        before: before === undefined ? undefined : join(before, relative(this.source.dataDir, listPath)),
        staging: join(this.source.dataDir, STAGING, id),
      });
      isThere = made !== undefined;
      if (made === undefined) return;
      this.add(made.bytes, made.bytesShared);
      await this.count(storePath(inBackup));
    });
    if (damaged) this.damaged.push(`${account}/${name}`);
    // One that was deleted meanwhile is in no catalogue of the next round.
    if (isThere) this.copied.add(id);
    job.advance(1);
  }

  private async leaveOut(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await rm(listFolder(this.places.target, id), { recursive: true, force: true });
      this.copied.delete(id);
    }
  }

  /** A damaged environment is copied byte for byte: it may be mended, and what is whole is not lost for it. True where it was. */
  private async orAsItIs(from: string, to: string, copy: () => Promise<void>): Promise<boolean> {
    try {
      await copy();
      return false;
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.source.log.error({ path: from, err: error }, 'a backup has a damaged file as it is');
      await rm(to, { recursive: true, force: true });
      for (const { path } of await filesBelow(from, (each) => each.endsWith('lock.mdb'))) {
        const kept = await keepCopy(join(from, path), join(to, path), undefined);
        this.add(kept.bytes, 0);
      }
      return true;
    }
  }

  private async count(folder: string): Promise<void> {
    for (const { bytes } of await filesBelow(folder)) this.add(bytes, 0);
  }

  private add(bytes: number, shared: number): void {
    this.bytes += bytes;
    this.bytesShared += shared;
  }

  /** As they were when the catalogue was copied that is sealed by them. */
  private async keepSecretKeys(): Promise<void> {
    if (!existsSync(join(this.source.dataDir, SECRET_KEYS))) return;
    await rm(join(this.places.target, SECRET_KEYS), { force: true });
    await this.copyFile(SECRET_KEYS);
  }
}

function secretKeys(dataDir: string): string {
  const path = join(dataDir, SECRET_KEYS);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** What a restore moved aside is no longer data of the service. */
function isOfRestore(path: string): boolean {
  return path.startsWith('.before-restore-');
}

/** What a backup leaves that was cut short. */
async function removeLeftOver({ dataDir }: BackupSource, unfinished: string): Promise<void> {
  await Promise.all([unfinished, join(dataDir, STAGING)].map((path) => rm(path, { recursive: true, force: true })));
}

/** The new one is one of those that are kept. */
async function removeOldest(earlier: readonly KeptBackup[], keep: number | undefined): Promise<string[]> {
  if (keep === undefined) return [];
  const removed = earlier.slice(0, Math.max(0, earlier.length - (keep - 1))).map(({ path }) => path);
  for (const path of removed) {
    // First what says that it is whole.
    await rm(join(path, DESCRIPTION_FILE));
    await rm(path, { recursive: true });
  }
  return removed;
}
