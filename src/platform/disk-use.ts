/**
 * What lies in a folder, by what stands in it, and what its file system has left. Files that have several names are counted once, by the room that they
 * take. A thread of its own looks at them, and what was found is told for a while: there may be hundreds of thousands of files.
 */
import { statfs } from 'node:fs/promises';
import type { DiskUseProtocol } from './disk-use-protocol.js';
import type { Host, HostOptions } from './hosts/host.js';
import type { Protocol } from './hosts/protocol.js';
import { createWorkerThread } from './hosts/worker-thread.js';
import { compiledFile } from './paths.js';
import { SharedLook } from './storage-state.js';

/** For a million files of several names each. */
const HEAP_MIB_MAX = 256;
/** As far as a search may be held up by it: not at all. */
const NICENESS = 19;
/** The thread is there while it looks. */
const IDLE_MS_MAX = 100;
/** So long is told what was found in folders. */
const TOLD_MS = 300_000;

export interface DiskUse {
  readonly bytes: number;
  /** For users that are not root. */
  readonly freeBytes: number;
  /** The largest first; undefined until they have been looked at. */
  readonly entries: readonly { readonly name: string; readonly bytes: number }[] | undefined;
}

export class DiskLook {
  readonly #space: SharedLook<Omit<DiskUse, 'entries'> | undefined>;
  readonly #entries: SharedLook<DiskUse['entries']>;
  #found: { readonly atMs: number; readonly entries: DiskUse['entries'] } | undefined;
  #worker: Host<DiskUseProtocol> | undefined;
  readonly #closing = new AbortController();
  /** Of the last look: for who cannot wait for one. */
  last: Omit<DiskUse, 'entries'> | undefined;

  constructor(
    private readonly folder: string,
    /** What the log hears of the thread. */
    private readonly told: Pick<HostOptions<Protocol>, 'onDeath' | 'onBug'>,
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.#space = new SharedLook(() => this.#askSpace(), undefined);
    this.#entries = new SharedLook(() => this.#askEntries(), undefined);
  }

  /** Only how much is free. Undefined: the disk does not answer. */
  space(): Promise<Omit<DiskUse, 'entries'> | undefined> {
    return this.#space.look();
  }

  /** Never rejects. Undefined: the disk does not answer. */
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

  /** Nothing is looked at behind it. Resolves when the thread has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#worker?.close();
  }

  /** Undefined where it is closed, or the thread could not go on. */
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
    // What is not known is not told.
    const found = await this.#worker.call('look', this.folder, { signal }).catch(() => undefined);
    if (found === undefined) return undefined;
    const entries = found.toSorted((a, b) => b.bytes - a.bytes);
    this.#found = { atMs: this.nowMs(), entries };
    return entries;
  }
}
