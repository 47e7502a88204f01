/**
 * The catalogue where the disk could not read its mapped file: zeros stand in the place of what was not read, for every thread, until it is mapped anew.
 * Its file is read as a whole after growing waits, and mapped anew as soon as that goes. Entries are in memory, so that only changes wait for it. Main thread only.
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
/** What was readable for so long is tried soon again when it is met once more. */
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
    // As the system names it, whatever links lead there.
    this.#file = join(realPlace(join(options.dataDir, SYSTEM)), 'data.mdb');
  }

  /** A mapped file of the data directory could not be read. Of other files others tell. */
  metFile(path: string): void {
    if (path !== this.#file || this.#closing.signal.aborted) return;
    this.#tell(`${path} could not be read`);
    this.#isMet = true;
    if (performance.now() > this.#readableSinceMs + WELL_MS) this.#waitMs = WAIT_MS_FIRST;
    if (!this.#isMending) void this.#mend();
  }

  /** Waits for no disk: an environment that is closed is not mapped any more. */
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

  /** Undefined where it was mapped anew; what is met from then on has to be mapped once more. */
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
