/**
 * Folders entered part by part from a root, never through a link: a name is looked up in the folder that is open, so that nobody who
 * replaces a folder by a link meanwhile leads anybody out. Node.js has no `openat`; on Linux, `/proc/self/fd/<n>/<name>` is one.
 */
import { constants, existsSync } from 'node:fs';
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { ServiceError } from '../../platform/index.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
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

/** An open folder. Its names may be used as long as it is not closed. */
export class SafeFolder {
  private constructor(private readonly handle: FileHandle) {}

  /** The root: a link is followed here, for the operator has named it. */
  static async root(path: string): Promise<SafeFolder> {
    return new SafeFolder(await open(path, O_RDONLY | O_DIRECTORY));
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
  async enter(name: string): Promise<SafeFolder> {
    return new SafeFolder(await open(this.at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** Makes the folders that are missing. Rejects with `conflict` where a file or a link stands in the way. */
  async make(parts: readonly string[]): Promise<void> {
    const [first, ...others] = parts;
    if (first === undefined) return;
    try {
      await mkdir(this.at(first), { mode: FOLDER_MODE });
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

  /** The path of a name in this folder, for calls that do not follow a link at its end. */
  at(name: string): string {
    return `${DESCRIPTORS}/${this.handle.fd}/${name}`;
  }

  /** The folder itself, for reading its names. */
  get path(): string {
    return `${DESCRIPTORS}/${this.handle.fd}/`;
  }

  /** Opens a file for reading; waits for nobody who would have to write into it. */
  openFile(name: string): Promise<FileHandle> {
    return open(this.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  }

  sync(): Promise<void> {
    return this.handle.sync();
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

export function inTheWay(name: string): ServiceError {
  return new ServiceError(
    'conflict',
    `In this folder, ${JSON.stringify(name)} is neither a file nor a folder that could take it.`,
  );
}
