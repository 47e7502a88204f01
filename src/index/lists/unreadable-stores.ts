/**
 * Stores of lists that the disk could not read. Zeros stand in the place of what was not read, for every thread that has the store open, whether its list is
 * open or rests, until it is mapped anew; a list that was open is closed meanwhile. The file is read as a whole after growing waits, and as soon as that
 * goes it is mapped anew, and the list may be opened again. A file that was cut is left alone. Main thread only.
 */
import { join, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isCut, realPlace, systemReason, whyUnreadable } from '../../platform/index.js';
import { storePath } from '../../store/index.js';
import { listFolder, listsFolder } from './list-folders.js';

const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 60_000;

export interface UnreadableStoresOptions {
  readonly dataDir: string;
  readonly log: Pick<Logger, 'error' | 'info'>;
  /** Maps it anew, for all threads, when nobody of this process writes it any more. */
  readonly mapAnew: (listId: string) => Promise<void>;
  /** It is mapped anew: the list may be opened. */
  readonly readable: (listId: string) => void;
}

export class UnreadableStores {
  /** Lists whose store was met as unreadable since it was mapped last. */
  readonly #met = new Set<string>();
  /** What is being done for each of them, until it is given up. */
  readonly #mending = new Map<string, AbortController>();
  #isClosed = false;
  readonly #lists: string;

  constructor(private readonly options: UnreadableStoresOptions) {
    this.#lists = listsFolder(options.dataDir);
  }

  /** A mapped file could not be read. Of files that are no store of a list others tell. */
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

  /** It is being deleted: nobody waits for it any more, and nothing opens what is not there. */
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
      if (reason !== undefined)
        log.error({ id: listId, reason }, 'The store of a list cannot be read; it is tried again');
    }
    readable(listId);
    log.info(
      { id: listId },
      'The store of a list can be read again, and the list is opened when it is asked for; gannet doctor --data compares its records with its index',
    );
  }

  /** Undefined where it was mapped anew; what is met from then on has to be mapped once more. */
  async #whyNot(listId: string, file: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const reason = await whyUnreadable(file, signal);
      if (reason !== undefined) return reason;
      signal.throwIfAborted();
      this.#met.delete(listId);
      await this.options.mapAnew(listId);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      this.#met.add(listId);
      return `${file} cannot be mapped anew: ${systemReason(error)}`;
    }
  }
}

/** False where that cannot be told, as while the disk reports errors. */
function isCutOrGone(file: string): boolean {
  try {
    return isCut(file);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
