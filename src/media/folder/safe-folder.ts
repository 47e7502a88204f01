/**
 * Folders entered part by part from a root, never through a link: a name is looked up in the folder that is open, so that nobody who
 * replaces a folder by a link meanwhile leads anybody out. Node.js has no `openat`; on Linux, `/proc/self/fd/<n>/<name>` is one.
 */
import { constants, existsSync, type BigIntStats, type Dirent } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { ServiceError } from '../../platform/index.js';
import type { FolderCalls } from './folder-calls.js';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const FOLDER_MODE = 0o700;
const DESCRIPTORS = '/proc/self/fd';
/** What an open says of a name that is not there, or stands for something else: a link, a file where a folder should be. */
const ABSENT: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'ENAMETOOLONG']);

export function isAbsent(error: unknown): boolean {
  return ABSENT.has((error as NodeJS.ErrnoException).code);
}

/** False where the system has no such way into a folder. */
export function hasSafeFolders(): boolean {
  return existsSync(DESCRIPTORS);
}

/** A file that is open in a folder of a media store. */
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

  /** What was written so far. */
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

/** An open folder. Its names may be used as long as it is not closed. */
export class SafeFolder {
  private discarded: Promise<void> | undefined;

  private constructor(
    private readonly handle: FileHandle,
    private readonly calls: FolderCalls,
  ) {}

  /** The root: a link is followed here, for the operator has named it. */
  static root(path: string, calls: FolderCalls): Promise<SafeFolder> {
    return SafeFolder.opened(path, O_RDONLY | O_DIRECTORY, calls);
  }

  private static async opened(path: string, flags: number, calls: FolderCalls): Promise<SafeFolder> {
    const handle = await calls.run(() => open(path, flags), closed);
    return new SafeFolder(handle, calls);
  }

  /** Runs the action in the folder below this one; rejects with what `isAbsent` knows where there is none. */
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

  /** The folder of this name, for who closes it. */
  enter(name: string): Promise<SafeFolder> {
    return SafeFolder.opened(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, this.calls);
  }

  /** Makes the folders that are missing. Rejects with `conflict` where a file or a link stands in the way. */
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

  /** Opens a file for reading; waits for nobody who would have to write into it. */
  openFile(name: string): Promise<SafeFile> {
    return this.file(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  /** A new file, for writing. */
  createFile(name: string, mode: number): Promise<SafeFile> {
    return this.file(name, O_WRONLY | O_CREAT | O_EXCL, mode);
  }

  private async file(name: string, flags: number, mode?: number): Promise<SafeFile> {
    const handle = await this.calls.run(() => open(this.at(name), flags, mode), closed);
    return new SafeFile(handle, this.calls);
  }

  /** What a name stands for, which may be a link; nothing is opened, so whoever may not read a file sees that it is there. */
  stat(name: string): Promise<BigIntStats> {
    return this.calls.run(() => lstat(this.at(name), { bigint: true }));
  }

  /** Of the folder itself. */
  own(): Promise<BigIntStats> {
    return this.calls.run(() => this.handle.stat({ bigint: true }));
  }

  entries(): Promise<Dirent<Buffer>[]> {
    return this.calls.run(() => readdir(this.path, { withFileTypes: true, encoding: 'buffer' }));
  }

  /** Gives a file of this folder a name in another one, in one step; a file of that name makes way. */
  move(name: string, to: SafeFolder, newName: string): Promise<void> {
    return this.calls.run(() => rename(this.at(name), to.at(newName)));
  }

  unlink(name: string): Promise<void> {
    return this.calls.run(() => unlink(this.at(name)));
  }

  /** A file that may be gone already. */
  discard(name: string): Promise<void> {
    return this.calls.run(() => rm(this.at(name), { force: true }));
  }

  /**
   * The same before the folder is closed, for who has nothing else to do in it: as soon as can be, however long that is. Waited for no
   * longer than other calls; never rejects.
   */
  discardLast(name: string): Promise<void> {
    let ended = (): void => undefined;
    this.discarded = new Promise((resolve) => (ended = resolve));
    return this.calls.release(() => rm(this.at(name), { force: true }).finally(ended));
  }

  /** A file system may write what others left in memory first. */
  sync(): Promise<void> {
    return this.calls.runLong(() => this.handle.sync());
  }

  close(): Promise<void> {
    return this.calls.release(async () => {
      // Its turn came before: it names its file by the descriptor of this folder.
      await this.discarded;
      await this.handle.close();
    });
  }

  /** The path of a name in this folder, for calls that do not follow a link at its end. */
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
