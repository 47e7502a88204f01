/**
 * Recovers the catalogue after the disk could not read its mapped file: until it is mapped again, all threads read
 * zeros in place of the unread pages. The whole file is read after increasing waits, and mapped again once that
 * succeeds. Entries are in memory, so only changes have to wait. Main thread only.
 */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  realPlace,
  systemReason,
  whyUnreadable,
  type OpenedEnvironment,
  type StorageFaults,
} from '../platform/index.js';

const SYSTEM = 'system';
const WAIT_MS_FIRST = 1000;
const WAIT_MS_MAX = 60_000;
/** If the file was readable for this long, the waits start from the beginning at the next read error. */
const WELL_MS = 60_000;

export interface UnreadableCatalogueOptions {
  readonly environment: Pick<OpenedEnvironment, 'mapAnew'>;
  readonly dataDir: string;
  readonly faults: StorageFaults;
}

export class UnreadableCatalogue {
  readonly #file: string;
  readonly #closing = new AbortController();
  #waitMs = WAIT_MS_FIRST;
  #readableSinceMs = Number.NEGATIVE_INFINITY;
  #isMet = false;
  #isMending = false;

  constructor(private readonly options: UnreadableCatalogueOptions) {
    // Real path, without links, because the system reports mapped files by it.
    this.#file = join(realPlace(join(options.dataDir, SYSTEM)), 'data.mdb');
  }

  /** Handles a mapped file that could not be read. Ignores other files: others handle them. */
  metFile(path: string): void {
    if (path !== this.#file || this.#closing.signal.aborted) return;
    this.#tell(`${path} could not be read`);
    this.#isMet = true;
    if (performance.now() > this.#readableSinceMs + WELL_MS) this.#waitMs = WAIT_MS_FIRST;
    if (!this.#isMending) void this.#mend();
  }

  /** Stops without waiting for the disk. A closed environment is not mapped again. */
  close(): void {
    this.#closing.abort();
  }

  async #mend(): Promise<void> {
    const { signal } = this.#closing;
    this.#isMending = true;
    while (this.#isMet) {
      await setTimeout(this.#waitMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      this.#waitMs = Math.min(this.#waitMs * 2, WAIT_MS_MAX);
      const reason = await this.#whyNot();
      if (signal.aborted) return;
      if (reason !== undefined) this.#tell(reason);
    }
    this.#isMending = false;
    this.#readableSinceMs = performance.now();
    this.options.faults.gone(SYSTEM);
  }

  /**
   * Maps the file again. Returns the reason if that fails, otherwise undefined. A read error from then on requires
   * mapping it once more.
   */
  async #whyNot(): Promise<string | undefined> {
    try {
      const reason = await whyUnreadable(this.#file, this.#closing.signal);
      if (reason !== undefined) return reason;
      this.#isMet = false;
      await this.options.environment.mapAnew();
      return undefined;
    } catch (error) {
      this.#isMet = true;
      return `${this.#file} cannot be mapped anew: ${systemReason(error)}`;
    }
  }

  #tell(reason: string): void {
    this.options.faults.met(
      SYSTEM,
      `The disk could not read the catalogue: searches are served on, and changes of accounts, keys, lists and settings are refused until it can be read, ` +
        `which is tried again by itself. Look after the disk (its log, a copy of the data directory). ${reason}.`,
    );
  }
}
