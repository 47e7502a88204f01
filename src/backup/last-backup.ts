/**
 * Stores the outcome of the last backups of a data directory in its catalogue, so that its operator learns of failures
 * at once.
 */
import { CollectionStore, type Collection } from '../catalog/index.js';
import type { BackupState } from '../operations/index.js';
import type { Clock, LmdbEnvironment } from '../platform/index.js';
import type { MadeBackup } from './make-backup.js';

const NONE: BackupState = { last: null, failure: null };
const KEY = 'state';
const DETAIL_CHARACTERS_MAX = 1000;

export class LastBackup {
  readonly #store: CollectionStore;
  readonly #rows: Collection<BackupState>;

  constructor(
    environment: LmdbEnvironment,
    private readonly clock: Clock,
  ) {
    this.#store = CollectionStore.of(environment);
    this.#rows = this.#store.collection('backups');
  }

  get state(): BackupState {
    return this.#rows.get(KEY) ?? NONE;
  }

  /** Rejects if the catalogue cannot be written. */
  made({ path, bytes }: Pick<MadeBackup, 'path' | 'bytes'>): Promise<void> {
    return this.#put(() => ({ last: { finished_utc: this.clock.nowIso(), path, bytes }, failure: null }));
  }

  failed(detail: string): Promise<void> {
    const failure = { at_utc: this.clock.nowIso(), detail: detail.slice(0, DETAIL_CHARACTERS_MAX) };
    return this.#put(() => ({ ...this.state, failure }));
  }

  #put(next: () => BackupState): Promise<void> {
    return this.#store.change((change) => {
      change.put(this.#rows, KEY, next());
    });
  }
}
