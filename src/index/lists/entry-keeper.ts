/**
 * Keeps the list's entry of the catalogue beside its records, so that `gannet doctor --adopt-lists` can put it back. The
 * catalogue is the truth: the copy is written after it, and compared with it whenever the list is opened.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { ListRecord } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';

/** What the catalogue has of a list. */
export interface CatalogueEntry {
  readonly list: ListRecord;
  readonly region: string;
}

export interface EntryKeeperOptions {
  readonly log: Logger;
  readonly listPath: string;
  /** Undefined: the catalogue does not have the list, or not yet. */
  readonly current: () => CatalogueEntry | undefined;
  /** What is on disk. */
  readonly kept: CatalogueEntry | undefined;
  /** Resolves when it is on disk. */
  readonly write: (entry: CatalogueEntry) => Promise<unknown>;
}

export class EntryKeeper {
  private kept: CatalogueEntry | undefined;

  constructor(private readonly options: EntryKeeperOptions) {
    this.kept = options.kept;
  }

  /** True where what is on disk is what the catalogue has. */
  get isUpToDate(): boolean {
    const entry = this.options.current();
    return entry === undefined || this.isKept(entry);
  }

  /** Never rejects: what fails is logged, and made up for when the list is opened again. */
  async keep(): Promise<void> {
    const { current, write, log, listPath } = this.options;
    const entry = current();
    if (entry === undefined || this.isKept(entry)) return;
    try {
      await write(entry);
      this.kept = entry;
    } catch (error) {
      // The list has gone, or the service is stopping.
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
