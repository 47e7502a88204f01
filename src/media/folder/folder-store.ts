/**
 * A folder of the machine as a media store: all its files count, whoever put them there. An upload is received in a
 * temporary file and renamed in one step. Main thread only.
 */
import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { ServiceError } from '../../platform/index.js';
import { piecesOf, writePiece } from '../file-pieces.js';
import { contentTypeOfName } from '../content-types.js';
import { fileNotFound, RESERVED_PART } from '../media-path.js';
import type {
  FileCheck,
  FileEvents,
  FilePage,
  ListQuery,
  MediaStore,
  OpenFile,
  PutOutcome,
  StoredFile,
  StoreUsage,
  Upload,
} from '../media-store.js';
import { PathLocks } from '../path-locks.js';
import { filesBelow, type FoundFile } from './folder-listing.js';
import { FolderNames } from './folder-names.js';
import { asFolderError, isForbidden } from './folder-faults.js';
import { inTheWay, isAbsent, SafeFolder, type SafeFile } from './safe-folder.js';
import type { FolderCalls } from './folder-calls.js';
import { callsOfDisk } from './folder-disks.js';
import { STORE_UNAVAILABLE } from '../media-problems.js';

const FILE_MODE = 0o600;
/**
 * Bytes of an upload between syncs: otherwise the system would take gigabytes into memory, and the last sync would take
 * minutes on a slow disk.
 */
const UNSYNCED_BYTES_MAX = 64 * 2 ** 20;
const TIME_MS = { min: Date.parse('0001-01-01T00:00:00Z'), max: Date.parse('9999-12-31T23:59:59.999Z') };
/** Larger stores are not counted. */
const COUNTED_FILES_MAX = 100_000;

/**
 * Names of this process's uploads in flight, in any store: the same folder may be in several stores, or be opened again
 * meanwhile.
 */
const underWay = new Set<string>();

export interface FolderStoreOptions {
  readonly path: string;
  /** Folders below `path`, created on the first upload. The store is the last of them. */
  readonly below?: readonly string[];
  readonly events: FileEvents;
  /** Default: calls of the folder's disk. */
  readonly calls?: FolderCalls;
}

export class FolderStore implements MediaStore {
  private readonly locks = new PathLocks();
  private readonly names = new FolderNames();
  private recovered: Promise<void> | undefined;

  constructor(private readonly options: FolderStoreOptions) {}

  async put({ path, body, check }: Upload): Promise<PutOutcome> {
    await this.makeBelow();
    check(await this.stat(path));
    await this.recover();
    return this.inRoot(async (root) => {
      await root.make([RESERVED_PART]);
      return root.within([RESERVED_PART], async (uploads) => {
        const name = randomUUID();
        underWay.add(name);
        try {
          await receive(uploads, name, body);
          return await this.locks.run(path, () => this.place(root, { uploads, name }, { path, check }));
        } finally {
          // If it cannot be removed, the next start removes it.
          await uploads.discardLast(name);
          underWay.delete(name);
        }
      });
    });
  }

  open(path: string): Promise<OpenFile | undefined> {
    return this.reached(path, async (folder, name) => {
      const handle = await folder.openFile(name).catch((error: unknown) => {
        throw isForbidden(error) ? asFolderError(error, path) : error;
      });
      let opened: OpenFile | undefined;
      try {
        const stats = await handle.stat();
        if (stats.isFile()) opened = openFile(handle, storedFile(path, stats));
      } finally {
        if (opened === undefined) await handle.close();
      }
      return opened;
    });
  }

  async stat(path: string): Promise<StoredFile | undefined> {
    return this.reached(path, async (folder, name) => {
      const stats = await folder.stat(name);
      return stats.isFile() ? storedFile(path, stats) : undefined;
    });
  }

  async remove(path: string, check: FileCheck): Promise<StoredFile> {
    return this.locks.run(path, async () => {
      const current = await this.stat(path);
      check(current);
      if (current === undefined) throw fileNotFound(path);
      await this.reached(path, async (folder, name) => {
        await folder.unlink(name);
        await folder.sync();
      });
      this.options.events.deleted(current);
      return current;
    });
  }

  async list({ prefix, after, size }: ListQuery): Promise<FilePage> {
    try {
      return await this.inRoot(async (root) => {
        const files: StoredFile[] = [];
        for await (const found of filesBelow(root, { prefix, after, names: this.names })) {
          if (files.length === size) return { files, hasMore: true };
          const file = await described(found);
          if (file !== undefined) files.push(file);
        }
        return { files, hasMore: false };
      });
    } catch (error) {
      // Nothing was put into the folder yet.
      if ((this.options.below ?? []).length === 0 || !isAbsent(error)) throw error;
      return { files: [], hasMore: false };
    }
  }

  /** Counts the current files. Returns null if there are too many to count for an answer. */
  async usage(): Promise<StoreUsage> {
    return this.inRoot(async (root) => {
      let [bytesUsed, fileCount] = [0, 0];
      for await (const found of filesBelow(root, { prefix: '', after: '', names: this.names })) {
        bytesUsed += (await described(found))?.bytes ?? 0;
        fileCount += 1;
        if (fileCount > COUNTED_FILES_MAX) return { bytesUsed: null, bytesMax: null, fileCount: null };
      }
      return { bytesUsed, bytesMax: null, fileCount };
    });
  }

  private async place(
    root: SafeFolder,
    received: { readonly uploads: SafeFolder; readonly name: string },
    { path, check }: Pick<Upload, 'path' | 'check'>,
  ): Promise<PutOutcome> {
    const before = await this.stat(path);
    check(before);
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    await root.make(parts);
    await root.within(parts, async (folder) => {
      try {
        await received.uploads.move(received.name, folder, name);
      } catch (error) {
        if (['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? ''))
          throw inTheWay(name);
        throw error;
      }
      await folder.sync();
    });
    const file = await this.stat(path);
    if (file === undefined) throw new ServiceError('conflict', 'The file was deleted during the request.');
    this.options.events.uploaded(file);
    return { file, isNew: before === undefined };
  }

  /** Removes leftovers of a crash; once per process, before the first upload. */
  private recover(): Promise<void> {
    this.recovered ??= this.inRoot(async (root) => {
      try {
        await root.within([RESERVED_PART], async (uploads) => {
          for (const entry of await uploads.entries()) {
            const name = entry.name.toString();
            if (!underWay.has(name)) await uploads.discard(name);
          }
        });
      } catch (error) {
        if (!isAbsent(error)) throw error;
      }
    }).catch((error: unknown) => {
      this.recovered = undefined;
      throw error;
    });
    return this.recovered;
  }

  /** Undefined if there is nothing at the path, or something other than a file. */
  private async reached<Result>(
    path: string,
    action: (folder: SafeFolder, name: string) => Promise<Result>,
  ): Promise<Result | undefined> {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    try {
      return await this.inRoot((root) => root.within(parts, (folder) => action(folder, name)));
    } catch (error) {
      if (isAbsent(error)) return undefined;
      throw error;
    }
  }

  private inRoot<Result>(action: (root: SafeFolder) => Promise<Result>): Promise<Result> {
    return this.inFolder((root) => root.within(this.options.below ?? [], action));
  }

  private async makeBelow(): Promise<void> {
    const { below = [] } = this.options;
    if (below.length > 0) await this.inFolder((root) => root.make(below));
  }

  private async inFolder<Result>(action: (root: SafeFolder) => Promise<Result>): Promise<Result> {
    const { path, calls = callsOfDisk(path) } = this.options;
    let root: SafeFolder;
    try {
      root = await SafeFolder.root(path, calls);
    } catch (error) {
      if (!isAbsent(error) && !isForbidden(error)) throw asFolderError(error);
      throw new ServiceError(STORE_UNAVAILABLE, 'The folder of this media store does not exist, or cannot be read.', {
        cause: error,
      });
    }
    try {
      return await action(root);
    } catch (error) {
      throw asFolderError(error);
    } finally {
      await root.close();
    }
  }
}

async function receive(folder: SafeFolder, name: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await folder.createFile(name, FILE_MODE);
  try {
    let unsynced = 0;
    for await (const piece of body) {
      await writePiece(handle, piece);
      unsynced += piece.byteLength;
      if (unsynced < UNSYNCED_BYTES_MAX) continue;
      await handle.syncData();
      unsynced = 0;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined if it has just been removed. */
async function described({ folder, name, path }: FoundFile): Promise<StoredFile | undefined> {
  try {
    const stats = await folder.stat(name);
    return stats.isFile() ? storedFile(path, stats) : undefined;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function storedFile(path: string, { ino, size, mtimeNs, mtimeMs }: BigIntStats): StoredFile {
  return {
    path,
    bytes: Number(size),
    contentType: contentTypeOfName(path),
    // A file that replaces another has another inode, and a rewritten one another time.
    etag: [ino, size, mtimeNs].map((part) => part.toString(36)).join('-'),
    // Some file systems have times beyond the range of dates.
    modifiedUtc: new Date(Math.min(Math.max(Number(mtimeMs), TIME_MS.min), TIME_MS.max)).toISOString(),
  };
}

function openFile(handle: SafeFile, file: StoredFile): OpenFile {
  const close = () => handle.close();
  return {
    file,
    async *pieces(range = { begin: 0, end: file.bytes }) {
      try {
        yield* piecesOf(handle, range.begin, range.end);
      } catch (error) {
        throw asFolderError(error);
      } finally {
        await close();
      }
    },
    close,
  };
}
