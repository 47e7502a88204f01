/** Where a backup goes: the ways in which it takes over what was copied. Paths are from the data directory, with `/`. */
export interface BackupTarget {
  /** Each of them holds one of the few threads that all of the service reads and writes files with. */
  readonly filesAtATime: number;
  /** On a file system of this machine; environments and lists are copied into it. */
  readonly folder: string;
  /** A folder with the backup before, of which files may get second names. */
  readonly before: string | undefined;
  has(path: string): boolean;
  /** Takes over a file that is no copy yet. Rejects with ENOENT where it is gone. */
  keepFile(from: string, path: string): Promise<void>;
  /** All below this path of `folder` is whole. `bytesShared`: of it, what takes no room of its own. */
  keepFolder(path: string, bytesShared: number): Promise<void>;
  /** The file, or all below the folder, is no part of the backup any more. */
  leaveOut(path: string): Promise<void>;
  /** Called before each list and file: rejects where nothing can be put there now, as where its disk does not answer any more. */
  assertAnswers(): Promise<void>;
}
