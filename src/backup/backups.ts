/** Backups of this data directory, in folders and in media stores. One is made at a time. */
import type { MediaStores } from '../media/index.js';
import type { BackupState } from '../operations/index.js';
import {
  isWithin,
  realPlace,
  ServiceError,
  withSignal,
  type Cancellation,
  type EventSink,
  type Job,
  type LmdbEnvironment,
  type ProgressBoard,
} from '../platform/index.js';
import { checkKept, type CheckedBackups } from './checked-backups.js';
import type { BackupSource, CopyWatch } from './data-copy.js';
import type { HeldRows } from './held-rows.js';
import { LastBackup } from './last-backup.js';
import { listBackups, type ListedBackups } from './listed-backups.js';
import { assertAnswers, inFolder } from './folder-fault.js';
import { makeBackup, type MadeBackup } from './make-backup.js';
import { checkStored } from './stored/check-stored.js';
import { fetchStored } from './stored/fetch-stored.js';
import { makeStoredBackup } from './stored/make-stored.js';
import type { Manifest } from './stored/manifest.js';
import { StoredBackups } from './stored/stored-backups.js';
import { storedPlace, type StoredPlace } from './stored/stored-place.js';

export interface WantedBackup {
  /** An absolute path, or a place in a media store. */
  readonly folder: string;
  /** Account of the media store. */
  readonly account: string;
  readonly keep: number | undefined;
}

export class Backups {
  private running: 'made' | 'given-up' | undefined;
  private readonly last: LastBackup;

  constructor(
    private readonly source: BackupSource,
    private readonly progress: ProgressBoard,
    private readonly stores: Pick<MediaStores, 'apart'>,
    private readonly rows: HeldRows,
  ) {
    this.last = new LastBackup(source.system, source.clock);
  }

  /** Outcome of the last backups. */
  state(): BackupState {
    return this.last.state;
  }

  get events(): EventSink {
    return this.rows.events;
  }

  /** Resolves when no clean-up of a backup is running any more. */
  close(): Promise<void> {
    return this.rows.close();
  }

  /**
   * Makes a backup. Rejects with `conflict` while another one is made, and if more events are written meanwhile than
   * can be kept for it.
   */
  async make({ folder, account, keep }: WantedBackup, signal: Cancellation): Promise<MadeBackup> {
    const { source } = this;
    const place = storedPlace(folder, account);
    if (place !== undefined) {
      if (place.name !== undefined) throw fault(folder, 'Must be the place of backups, and not one of them.');
      const backups = this.at(place);
      return this.run({ folder, account, signal }, (watch) => makeStoredBackup(source, { backups, keep }, watch));
    }
    await assertAnswers(folder);
    if (isWithin(realPlace(folder), realPlace(source.dataDir))) {
      throw new ServiceError(
        'invalid-parameter',
        `${folder} is in the data directory, which it would copy into itself.`,
        {
          errors: [{ pointer: '/folder', detail: 'Must be a folder outside the data directory.' }],
        },
      );
    }
    return this.run({ folder, account, signal }, (watch) =>
      inFolder(folder, () => makeBackup(source, { folder, keep }, watch)),
    );
  }

  /** Returns the complete backups, in the order in which they were made. */
  async list(folder: string, account: string): Promise<ListedBackups> {
    const place = storedPlace(folder, account);
    const { nowUtc } = this;
    if (place === undefined) return inFolder(folder, () => listBackups(folder, nowUtc));
    return listBackups(this.at(place), nowUtc);
  }

  /** Checks one backup, or all at a place. Rejects with `unprocessable` if there is none. */
  async check(folder: string, account: string, signal: Cancellation): Promise<CheckedBackups> {
    const place = storedPlace(folder, account);
    if (place === undefined) return inFolder(folder, () => checkKept(folder, signal));
    const job = this.begin('backup-check', folder, account);
    try {
      const checked = await checkStored(this.at(place), place.name, { job, signal });
      job.finish();
      return checked;
    } catch (error) {
      job.fail(messageOf(error));
      throw error;
    }
  }

  /**
   * Writes a backup from a media store to a folder: the newest of the place, or the named one. Rejects with an
   * `OperatorError`.
   */
  async fetch(from: string, account: string, to: string): Promise<Manifest> {
    const { backups, name } = this.place(from, account);
    return fetchStored(backups, { name, nowUtc: this.nowUtc }, to);
  }

  /**
   * Parses a place in a media store, without looking at its content. Throws as `fetch` rejects if there is no such
   * place.
   */
  place(from: string, account: string): { readonly backups: StoredBackups; readonly name: string | undefined } {
    const place = storedPlace(from, account);
    if (place === undefined) throw fault(from, 'Must be a place in a media store.');
    return { backups: this.at(place), name: place.name };
  }

  /** Throws `media-store-not-found`, and `unprocessable` for the built-in store. */
  private at({ account, store, folders, told }: StoredPlace): StoredBackups {
    const apart = this.stores.apart(account, store, folders);
    if (apart !== undefined) return new StoredBackups(apart, told);
    throw new ServiceError(
      'unprocessable',
      `The media store '${store}' is built in: it is in the data directory, so that each backup would hold those before it, and all would be lost with it. ` +
        'Name a media store in a folder or a bucket.',
    );
  }

  private get nowUtc(): string {
    return new Date(this.source.clock.nowMs()).toISOString();
  }

  private async run(
    { folder, account, signal }: { folder: string; account: string; signal: Cancellation },
    make: (watch: CopyWatch) => Promise<MadeBackup>,
  ): Promise<MadeBackup> {
    const { log } = this.source;
    this.assertNoneRuns();
    // Before `running` is set, which only the end of the backup resets: reading the catalogue may fail.
    const job = this.begin('backup', folder, account);
    this.running = 'made';
    try {
      const made = await this.orGivenUp(signal, (watch) => make({ job, ...watch }));
      const { path, lists, bytes, bytes_shared: bytesShared } = made;
      log.info({ path, lists, bytes, bytesShared }, 'a backup is made');
      await this.noted(() => this.last.made(made));
      job.finish();
      return made;
    } catch (error) {
      job.fail(messageOf(error));
      await this.noted(() => this.last.failed(messageOf(error)));
      throw error;
    }
  }

  /** Records the outcome; a failure to do so does not change it. */
  private async noted(note: () => Promise<void>): Promise<void> {
    try {
      await note();
    } catch (error) {
      this.source.log.warn({ err: error }, 'Could not save the outcome of the backup');
    }
  }

  /**
   * Runs `make`; rejects as soon as more events are written than can be kept for it, even if a disk keeps `make` from
   * ever ending.
   */
  private orGivenUp<Result>(
    signal: Cancellation,
    make: (watch: Omit<CopyWatch, 'job'>) => Promise<Result>,
  ): Promise<Result> {
    const { rows } = this;
    return new Promise((resolve, reject) => {
      const making = withSignal(signal, (given) => {
        const ended = new AbortController();
        const giveUp = (reason: ServiceError) => {
          this.running = 'given-up';
          ended.abort(reason);
          reject(reason);
        };
        return make({
          signal: AbortSignal.any([given, ended.signal]),
          rows: {
            begin: () => rows.begin(giveUp),
            release: (id) => rows.release(id),
            releaseAll: () => rows.releaseAll(),
          },
        });
      });
      making.finally(() => (this.running = undefined)).then(resolve, reject);
    });
  }

  private assertNoneRuns(): void {
    if (this.running === 'made')
      throw new ServiceError('conflict', 'Another backup is being made: wait until it is complete.');
    if (this.running === undefined) return;
    const detail = 'A backup that was cancelled still waits for its disk or media store: try again when that answers.';
    throw new ServiceError('conflict', detail);
  }

  private begin(kind: string, folder: string, account: string): Job {
    const owner = { account, name: folder, permission: 'backup:create' };
    // Lists created meanwhile are added to it.
    const total = kind === 'backup' ? entriesOf(this.source.system, 'lists') : null;
    // Only one backup is made at a time; checks may run concurrently.
    const subject = kind === 'backup' ? this.source.dataDir : folder;
    const job = this.progress.begin({ kind, subject, owner, total });
    job.start();
    return job;
  }
}

function entriesOf(environment: LmdbEnvironment, database: string): number {
  return (environment.database(database).getStats() as { readonly entryCount: number }).entryCount;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fault(given: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `${given}: ${detail}`, { errors: [{ pointer: '/folder', detail }] });
}
