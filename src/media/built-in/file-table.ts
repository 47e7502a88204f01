/**
 * Databases of `data/system` with the files of built-in stores, so that a file, the usage of its store, the blob it
 * replaces, and the event are written in one transaction. Simultaneous changes share a transaction. Main thread only.
 */
import type { Database } from 'lmdb';
import type { Change, CollectionStore } from '../../catalog/index.js';
import type { LmdbEnvironment } from '../../platform/index.js';
import type { StoredFile } from '../media-store.js';

/** A file and the id of the blob with its content. */
export interface FileEntry extends StoredFile {
  readonly blob: string;
}

type Row = [blob: string, bytes: number, contentType: string, etag: string, modifiedUtc: string];
export type Usage = readonly [bytes: number, files: number];

const NOTHING: Usage = [0, 0];
const SEPARATOR = '\0';
const FORGOTTEN_AT_ONCE_MAX = 5000;

/** Operations of one change. Valid only within the function that receives it. */
export interface TableChange {
  readonly emit: Change['emit'];
  get(store: string, path: string): FileEntry | undefined;
  usage(store: string): Usage;
  put(store: string, entry: FileEntry): void;
  remove(store: string, entry: FileEntry): void;
}

interface Waiting {
  readonly decide: (change: TableChange) => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

export class FileTable {
  private readonly files: Database<Row, Buffer>;
  private readonly usages: Database<Usage, string>;
  /** Blobs that no file names any more and that have yet to be removed. Key: `<store>\0<blob>`. */
  private readonly left: Database<boolean, string>;
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(
    environment: LmdbEnvironment,
    private readonly store: CollectionStore,
  ) {
    this.files = environment.database('media-files', { keyEncoding: 'binary' });
    this.usages = environment.database('media-usage');
    this.left = environment.database('media-left-blobs');
  }

  get(store: string, path: string): FileEntry | undefined {
    const row = this.files.get(keyOf(store, path));
    return row === undefined ? undefined : entryOf(path, row);
  }

  usage(store: string): Usage {
    return this.usages.get(store) ?? NOTHING;
  }

  /** Yields files in the order of the bytes of their paths, after `after`. */
  *range(store: string, prefix: string, after: string): Generator<FileEntry> {
    const [from, behind] = [keyOf(store, prefix), keyOf(store, after)];
    const start = Buffer.compare(behind, from) > 0 ? behind : from;
    const own = keyOf(store, '');
    const first = own.byteLength;
    for (const { key, value } of this.files.getRange({ start })) {
      if (!key.subarray(0, first).equals(own)) return;
      const path = key.toString('utf8', first);
      if (path === after) continue;
      if (!path.startsWith(prefix)) return;
      yield entryOf(path, value);
    }
  }

  /**
   * Runs `decide` in a transaction, in FIFO order. Resolves with its result when it is on disk. `decide` may throw,
   * which fails only this change, but has to do so before it changes anything.
   */
  change<Result>(decide: (change: TableChange) => Result): Promise<Result> {
    const result = new Promise<Result>((resolve, reject) => {
      this.waiting.push({ decide, resolve: resolve as (value: unknown) => void, reject });
    });
    if (!this.isWriting) void this.writeAll();
    return result;
  }

  /** Returns the blobs of a store that have yet to be removed. */
  leftBlobs(store: string): string[] {
    const start = store + SEPARATOR;
    const end = store + String.fromCharCode(SEPARATOR.charCodeAt(0) + 1);
    return Array.from(this.left.getRange({ start, end }), ({ key }) => key.slice(start.length));
  }

  /** Records that these blobs are removed. */
  async removedBlobs(store: string, blobs: readonly string[]): Promise<void> {
    if (blobs.length === 0) return;
    await this.store.change((change) => {
      change.within(() => {
        for (const blob of blobs) void this.left.removeSync(store + SEPARATOR + blob);
      });
    });
  }

  /** Removes all entries of a store, in several transactions. */
  async forget(store: string): Promise<void> {
    for (;;) {
      const keys = [...this.range(store, '', '')].slice(0, FORGOTTEN_AT_ONCE_MAX).map(({ path }) => keyOf(store, path));
      if (keys.length === 0) break;
      await this.store.change((change) => {
        change.within(() => {
          for (const key of keys) void this.files.removeSync(key);
        });
      });
    }
    await this.removedBlobs(store, this.leftBlobs(store));
    await this.store.change((change) => {
      change.within(() => void this.usages.removeSync(store));
    });
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    // Waits one microtask, so that changes of the same turn are written together.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const together = this.waiting;
      this.waiting = [];
      await this.write(together);
    }
    this.isWriting = false;
  }

  private async write(together: readonly Waiting[]): Promise<void> {
    const outcomes: Outcome[] = [];
    try {
      await this.store.change((change) => {
        change.within(() => {
          const step = this.step(change);
          for (const { decide } of together) outcomes.push(outcomeOf(() => decide(step)));
        });
      });
    } catch (error) {
      for (const { reject } of together) reject(error);
      return;
    }
    for (const [position, { resolve, reject }] of together.entries()) {
      const outcome = outcomes[position];
      if (outcome !== undefined && 'value' in outcome) resolve(outcome.value);
      else reject(outcome?.error);
    }
  }

  private step(change: Change): TableChange {
    return {
      emit: (account, event) => change.emit(account, event),
      get: (store, path) => this.get(store, path),
      usage: (store) => this.usage(store),
      put: (store, entry) => {
        const before = this.get(store, entry.path);
        if (before !== undefined) void this.left.putSync(store + SEPARATOR + before.blob, true);
        const { blob, bytes, contentType, etag, modifiedUtc } = entry;
        void this.files.putSync(keyOf(store, entry.path), [blob, bytes, contentType, etag, modifiedUtc]);
        this.count(store, bytes - (before?.bytes ?? 0), before === undefined ? 1 : 0);
      },
      remove: (store, { path, blob, bytes }) => {
        void this.left.putSync(store + SEPARATOR + blob, true);
        void this.files.removeSync(keyOf(store, path));
        this.count(store, -bytes, -1);
      },
    };
  }

  private count(store: string, bytes: number, files: number): void {
    const [usedBytes, usedFiles] = this.usage(store);
    void this.usages.putSync(store, [usedBytes + bytes, usedFiles + files]);
  }
}

function keyOf(store: string, path: string): Buffer {
  return Buffer.from(store + SEPARATOR + path);
}

function entryOf(path: string, [blob, bytes, contentType, etag, modifiedUtc]: Row): FileEntry {
  return { path, blob, bytes, contentType, etag, modifiedUtc };
}

function outcomeOf(action: () => unknown): Outcome {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}
