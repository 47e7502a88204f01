/**
 * Stores of lists that the disk could not read. Until such a store is mapped again, all threads that have it open read
 * zeros in place of the unread pages, whether its list is open or at rest; an open list is closed meanwhile. The whole
 * file is read after increasing waits. Once that succeeds, it is mapped again, and the list may be opened. A truncated
 * file is left alone. Main thread only.
 */
import { constants } from 'node:os';
import { join, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isCut, realPlace, systemReason, whyUnreadable } from '../../platform/index.js';
import { storePath } from '../../store/index.js';
import { listFolder, listsFolder } from './list-folders.js';

const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 60_000;
/** A store is not mapped amid a commit, which takes milliseconds; if it takes longer, the file is read again. */
const COMMIT_WAIT_MS = 20;
const COMMIT_WAITS_MAX = 250;

export interface UnreadableStoresOptions {
  readonly dataDir: string;
  readonly log: Pick<Logger, 'error' | 'info'>;
  /** Maps the store again for all threads. Rejects with the system's error; EBUSY while a thread writes it. */
  readonly mapAnew: (listId: string) => Promise<void>;
  /** Called when the store was mapped again: the list may be opened. */
  readonly readable: (listId: string) => void;
}

export class UnreadableStores {
  /** Lists whose store was found unreadable since it was last mapped. */
  readonly #met = new Set<string>();
  /** The repair in progress of each list, which can be aborted. */
  readonly #mending = new Map<string, AbortController>();
  #isClosed = false;
  readonly #lists: string;

  constructor(private readonly options: UnreadableStoresOptions) {
    this.#lists = listsFolder(options.dataDir);
  }

  /**
   * Handles a mapped file that could not be read. Ignores files that are not the store of a list: others handle them.
   */
  metFile(path: string): void {
    const folder = join(realPlace(this.#lists), sep);
    if (!path.startsWith(folder)) return;
    const [listId = '', part] = path.slice(folder.length).split(sep);
    if (part === 'store') this.met(listId);
  }

  met(listId: string): void {
    if (this.#isClosed) return;
    this.#met.add(listId);
    if (this.#mending.has(listId)) return;
    const givenUp = new AbortController();
    this.#mending.set(listId, givenUp);
    const { signal } = givenUp;
    this.#mend(listId, signal)
      .catch((error: unknown) => {
        if (!signal.aborted) this.options.log.error({ err: error, id: listId }, 'A list stays closed');
      })
      .finally(() => this.#mending.delete(listId));
  }

  /** The list is being deleted: stops its repair. */
  forget(listId: string): void {
    this.#met.delete(listId);
    this.#mending.get(listId)?.abort();
  }

  close(): void {
    this.#isClosed = true;
    for (const givenUp of this.#mending.values()) givenUp.abort();
  }

  async #mend(listId: string, signal: AbortSignal): Promise<void> {
    const { log, readable } = this.options;
    const file = join(storePath(listFolder(this.options.dataDir, listId)), 'data.mdb');
    for (let waitMs = WAIT_MS_FIRST; this.#met.has(listId); waitMs = Math.min(2 * waitMs, WAIT_MS_MAX)) {
      await setTimeout(waitMs, undefined, { signal, ref: false });
      if (isCutOrGone(file)) {
        this.#met.delete(listId);
        return;
      }
      const reason = await this.#whyNot(listId, file, signal);
      signal.throwIfAborted();
      if (reason !== undefined) log.error({ id: listId, reason }, 'The store of a list cannot be read; will retry');
    }
    readable(listId);
    log.info(
      { id: listId },
      'The store of a list can be read again. The list opens when it is next used. To compare its records with its index, run gannet doctor --data',
    );
  }

  /**
   * Maps the store again. Returns the reason if that fails, otherwise undefined. A read error from then on requires
   * mapping it once more.
   */
  async #whyNot(listId: string, file: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const reason = await whyUnreadable(file, signal);
      if (reason !== undefined) return reason;
      signal.throwIfAborted();
      this.#met.delete(listId);
      await this.#mapUnwritten(listId, signal);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      this.#met.add(listId);
      return `${file} cannot be mapped anew: ${systemReason(error)}`;
    }
  }

  /** Maps the store again between two commits: a list at rest may be rebuilt or have been opened meanwhile. */
  async #mapUnwritten(listId: string, signal: AbortSignal): Promise<void> {
    for (let waits = 0; ; waits += 1) {
      try {
        await this.options.mapAnew(listId);
        return;
      } catch (error) {
        if (!isBusy(error) || waits === COMMIT_WAITS_MAX) throw error;
      }
      await setTimeout(COMMIT_WAIT_MS, undefined, { signal, ref: false });
    }
  }
}

/** True for LMDB's number of the system's EBUSY. */
function isBusy(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === constants.errno.EBUSY;
}

/** False if that cannot be determined, for example while the disk reports errors. */
function isCutOrGone(file: string): boolean {
  try {
    return isCut(file);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
