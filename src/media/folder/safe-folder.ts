/**
 * Enters folders part by part from a root, never through a link. Each name is looked up in the open parent folder, so
 * that replacing a folder by a link meanwhile leads nowhere. Node.js has no `openat`; on Linux,
 * `/proc/self/fd/<n>/<name>` is equivalent.
 */
import { constants, existsSync, type BigIntStats, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { ServiceError } from '../../platform/index.js';
import type { FolderCalls } from './folder-calls.js';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const FOLDER_MODE = 0o700;
const DESCRIPTORS = '/proc/self/fd';
/** Error codes if a name is missing, or is something else: a link, or a file in place of a folder. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG']);

export function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as NodeJS.ErrnoException).code);
}

/** False if the system has no /proc/self/fd. */
export function hasSafeFolders(): boolean {
  return existsSync(DESCRIPTORS);
}

/** An open file in a folder of a media store. */
export class SafeFile {
  constructor(
    private readonly handle: FileHandle,
    private readonly calls: FolderCalls,
  ) {}

  stat(): Promise<BigIntStats> {
    return this.calls.run(() => this.handle.stat({ bigint: true }));
  }

  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }> {
    return this.calls.run(() => this.handle.read(buffer, offset, length, position));
  }

  write(piece: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }> {
    return this.calls.run(() => this.handle.write(piece, offset));
  }

  /** Syncs what was written so far. */
  syncData(): Promise<void> {
    return this.calls.runLong(() => this.handle.datasync());
  }

  sync(): Promise<void> {
    return this.calls.runLong(() => this.handle.sync());
  }

  close(): Promise<void> {
    return this.calls.release(() => this.handle.close());
  }
}

/** An open folder. Its names may be used until it is closed. */
export class SafeFolder {
  private discarded: Promise<void> | undefined;

  private constructor(
    private readonly handle: FileHandle,
    private readonly calls: FolderCalls,
  ) {}

  /** Opens the root. A link is followed here, since the operator configured it. */
  static root(path: string, calls: FolderCalls): Promise<SafeFolder> {
    return SafeFolder.opened(path, O_RDONLY | O_DIRECTORY, calls);
  }

  private static async opened(path: string, flags: number, calls: FolderCalls): Promise<SafeFolder> {
    const handle = await calls.run(() => open(path, flags), closed);
    return new SafeFolder(handle, calls);
  }

  /**
   * Runs the action in the folder below this one. Rejects with an error for which `isAbsent` is true if there is none.
   */
  async within<Result>(parts: readonly string[], action: (folder: SafeFolder) => Promise<Result>): Promise<Result> {
    const [first, ...others] = parts;
    if (first === undefined) return action(this);
    const below = await this.enter(first);
    try {
      return await below.within(others, action);
    } finally {
      await below.close();
    }
  }

  /** Opens the folder of this name; the caller closes it. */
  enter(name: string): Promise<SafeFolder> {
    return SafeFolder.opened(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, this.calls);
  }

  /** Creates missing folders. Rejects with `conflict` if a file or a link is in the way. */
  async make(parts: readonly string[]): Promise<void> {
    const [first, ...others] = parts;
    if (first === undefined) return;
    try {
      await this.calls.run(() => mkdir(this.at(first), { mode: FOLDER_MODE }));
      await this.sync();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    try {
      await this.within([first], (below) => below.make(others));
    } catch (error) {
      if (isAbsent(error)) throw inTheWay(first);
      throw error;
    }
  }

  /** Opens a file for reading, without blocking on a FIFO that has no writer. */
  openFile(name: string): Promise<SafeFile> {
    return this.file(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** Creates a new file for writing. */
  createFile(name: string, mode: number): Promise<SafeFile> {
    return this.file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
  }

  private async file(name: string, flags: number, mode?: number): Promise<SafeFile> {
    const handle = await this.calls.run(() => open(this.at(name), flags, mode), closed);
    return new SafeFile(handle, this.calls);
  }

  /** Returns what a name stands for, possibly a link. Opens nothing, so it works for files without read permission. */
  stat(name: string): Promise<BigIntStats> {
    return this.calls.run(() => lstat(this.at(name), { bigint: true }));
  }

  /** Returns the state of the folder itself. */
  own(): Promise<BigIntStats> {
    return this.calls.run(() => this.handle.stat({ bigint: true }));
  }

  entries(): Promise<Dirent<Buffer>[]> {
    return this.calls.run(() => readdir(this.path, { withFileTypes: true, encoding: 'buffer' }));
  }

  /** Renames a file into another folder atomically, replacing a file of that name. */
  move(name: string, to: SafeFolder, newName: string): Promise<void> {
    return this.calls.run(() => rename(this.at(name), to.at(newName)));
  }

  unlink(name: string): Promise<void> {
    return this.calls.run(() => unlink(this.at(name)));
  }

  /** Removes a file, which may be gone already. */
  discard(name: string): Promise<void> {
    return this.calls.run(() => rm(this.at(name), { force: true }));
  }

  /**
   * Like `discard`, as the last action before the folder is closed. Takes its turn as soon as possible, however long
   * that takes, but is awaited no longer than other calls. Never rejects.
   */
  discardLast(name: string): Promise<void> {
    let ended = (): void => undefined;
    this.discarded = new Promise((resolve) => (ended = resolve));
    return this.calls.release(() => rm(this.at(name), { force: true }).finally(ended));
  }

  /** Syncs the folder. A file system may first write what others have left in memory. */
  sync(): Promise<void> {
    return this.calls.runLong(() => this.handle.sync());
  }

  close(): Promise<void> {
    return this.calls.release(async () => {
      // The removal names its file by this folder's descriptor, and had its turn before.
      await this.discarded;
      await this.handle.close();
    });
  }

  /** Returns the path of a name in this folder, for calls that do not follow a link at its end. */
  private at(name: string): string {
    return `${this.path}${name}`;
  }

  private get path(): string {
    return `${DESCRIPTORS}/${this.handle.fd}/`;
  }
}

function closed(handle: FileHandle): Promise<void> {
  return handle.close().catch(() => undefined);
}

export function inTheWay(name: string): ServiceError {
  return new ServiceError(
    'conflict',
    `In this folder, ${JSON.stringify(name)} is neither a file nor a folder that could take it.`,
  );
}
