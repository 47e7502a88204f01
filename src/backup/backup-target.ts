/**
 * The destination of a backup, which takes over what was copied. Paths are relative to the data directory, with `/`.
 */
export interface BackupTarget {
  /**
   * Number of files at a time. Each occupies one of the few threads with which the whole service reads and writes
   * files.
   */
  readonly filesAtATime: number;
  /** A folder of this machine, into which environments and lists are copied. */
  readonly folder: string;
  /** Folder of the previous backup, whose files may be hard-linked. */
  readonly before: string | undefined;
  has(path: string): boolean;
  /** Takes over a file that was not copied yet. Rejects with ENOENT if it is gone. */
  keepFile(from: string, path: string): Promise<void>;
  /** Everything below this path of `folder` is complete. `bytesShared`: bytes of it that take no space of their own. */
  keepFolder(path: string, bytesShared: number): Promise<void>;
  /** Removes a file, or everything below a folder, from the backup. */
  leaveOut(path: string): Promise<void>;
  /**
   * Called before each list and file; rejects if the destination cannot be written now, for instance because its disk
   * does not respond.
   */
  assertAnswers(): Promise<void>;
}
