/** Where a backup goes: the ways in which it takes over what was copied. Paths are from the data directory, with `/`. */
export interface BackupTarget {
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
}
