/**
 * Keeps a copy of the list's catalogue entry in the list's store, from which `gannet doctor --adopt-lists` restores it.
 * The catalogue is authoritative: the copy is written after it, and compared with it whenever the list is opened.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { ListRecord } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';

/** Catalogue entry of a list, and its account's region. */
export interface CatalogueEntry {
  readonly list: ListRecord;
  readonly region: string;
}

export interface EntryKeeperOptions {
  readonly log: Logger;
  readonly listPath: string;
  /** Returns the entry in the catalogue; undefined if the list is not in it, or not yet. */
  readonly current: () => CatalogueEntry | undefined;
  /** The copy on disk. */
  readonly kept: CatalogueEntry | undefined;
  /** Resolves when the copy is on disk. */
  readonly write: (entry: CatalogueEntry) => Promise<unknown>;
}

export class EntryKeeper {
  private kept: CatalogueEntry | undefined;

  constructor(private readonly options: EntryKeeperOptions) {
    this.kept = options.kept;
  }

  /** True if the copy on disk matches the catalogue. */
  get isUpToDate(): boolean {
    const entry = this.options.current();
    return entry === undefined || this.isKept(entry);
  }

  /**
   * Writes the copy if it differs. Never rejects: a failure is logged, and the write is repeated when the list is next
   * opened.
   */
  async keep(): Promise<void> {
    const { current, write, log, listPath } = this.options;
    const entry = current();
    if (entry === undefined || this.isKept(entry)) return;
    try {
      await write(entry);
      this.kept = entry;
    } catch (error) {
      // The list has been deleted, or the service is stopping.
      if (error instanceof ServiceError && ['list-not-found', 'shutting-down'].includes(error.code)) return;
      log.warn({ list: listPath, err: error }, 'the copy of the entry of a list is brought up to date later');
    }
  }

  private isKept({ list, region }: CatalogueEntry): boolean {
    const { kept } = this;
    if (kept === undefined) return false;
    return kept.region === region && (kept.list === list || isDeepStrictEqual(kept.list, list));
  }
}
