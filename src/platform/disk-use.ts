/**
 * Measures what a folder holds, by its entries, and what its file system has left. A file with several hard links is
 * counted once, by the space that it takes. A worker thread does it, and its result is kept for a while, since there
 * may be hundreds of thousands of files.
 */
import { statfs } from 'node:fs/promises';
import type { DiskUseProtocol } from './disk-use-protocol.js';
import type { Host, HostOptions } from './hosts/host.js';
import type { Protocol } from './hosts/protocol.js';
import { createWorkerThread } from './hosts/worker-thread.js';
import { compiledFile } from './paths.js';
import { SharedLook } from './storage-state.js';

/** Enough for a million files with several hard links each. */
const HEAP_MIB_MAX = 256;
/** The lowest priority, so that searches are not delayed. */
const NICENESS = 19;
/** The thread only lives while it measures. */
const IDLE_MS_MAX = 100;
/** How long a result is used. */
const TOLD_MS = 300_000;

export interface DiskUse {
  readonly bytes: number;
  /** Bytes available to users other than root. */
  readonly freeBytes: number;
  /** Sorted by size, the largest first; undefined until they have been measured. */
  readonly entries: readonly { readonly name: string; readonly bytes: number }[] | undefined;
}

export class DiskLook {
  readonly #space: SharedLook<Omit<DiskUse, 'entries'> | undefined>;
  readonly #entries: SharedLook<DiskUse['entries']>;
  #found: { readonly atMs: number; readonly entries: DiskUse['entries'] } | undefined;
  #worker: Host<DiskUseProtocol> | undefined;
  readonly #closing = new AbortController();
  /** Result of the last look, for callers that cannot wait for one; undefined if it failed. */
  last: Omit<DiskUse, 'entries'> | undefined;

  constructor(
    private readonly folder: string,
    /** Handlers that log the failures of the thread. */
    private readonly told: Pick<HostOptions<Protocol>, 'onDeath' | 'onBug'>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#space = new SharedLook(() => this.#askSpace(), undefined);
    this.#entries = new SharedLook(() => this.#askEntries(), undefined);
  }

  /** Measures only the free space. Resolves with undefined if the disk does not respond. */
  space(): Promise<Omit<DiskUse, 'entries'> | undefined> {
    return this.#space.look();
  }

  /** Measures everything. Never rejects; resolves with undefined if the disk does not respond. */
  async look(): Promise<DiskUse | undefined> {
    const space = await this.space();
    if (space === undefined) return undefined;
    const isFresh = this.#found !== undefined && this.nowMs() - this.#found.atMs < TOLD_MS;
    return {
      ...space,
      entries: isFresh ? this.#found?.entries : ((await this.#entries.look()) ?? this.#found?.entries),
    };
  }

  async #askSpace(): Promise<Omit<DiskUse, 'entries'> | undefined> {
    try {
      const { bavail, blocks, bsize } = await statfs(this.folder);
      this.last = { bytes: blocks * bsize, freeBytes: bavail * bsize };
    } catch {
      this.last = undefined;
    }
    return this.last;
  }

  /** Stops measuring. Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#worker?.close();
  }

  /** Resolves with undefined if this is closed, or the thread failed. */
  async #askEntries(): Promise<DiskUse['entries']> {
    const { signal } = this.#closing;
    if (signal.aborted) return undefined;
    this.#worker ??= createWorkerThread<DiskUseProtocol>({
      name: 'disk use',
      entry: compiledFile('src/platform/disk-use.worker'),
      data: null,
      heapMibMax: HEAP_MIB_MAX,
      niceness: NICENESS,
      idleMsMax: IDLE_MS_MAX,
      ...this.told,
    });
    // A failure leaves the entries unknown.
    const found = await this.#worker.call('look', this.folder, { signal }).catch(() => undefined);
    if (found === undefined) return undefined;
    const entries = found.toSorted((a, b) => b.bytes - a.bytes);
    this.#found = { atMs: this.nowMs(), entries };
    return entries;
  }
}
