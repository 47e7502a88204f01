/** A backup as a folder of this machine: what never changes gets a second name in it, the rest is copied. */
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFile } from '../platform/index.js';
import type { BackupTarget } from './backup-target.js';
import { filesBelow, keepCopy } from './file-keeping.js';
import { assertAnswers } from './folder-fault.js';
import { inParallel } from './in-parallel.js';

/** Everything else is on disk when it is there: linked from where it is, or synced where it is copied. */
const ENVIRONMENT_FILE = 'data.mdb';

export class FolderTarget implements BackupTarget {
  /** A disk that falls silent leaves others to the service. */
  readonly filesAtATime = 2;
  bytes = 0;
  bytesShared = 0;
  private readonly kept = new Set<string>();
  /** Folders with copies that are not on disk yet. */
  private readonly written = new Map<string, readonly string[]>();

  constructor(
    readonly folder: string,
    readonly before: string | undefined,
  ) {}

  has(path: string): boolean {
    return this.kept.has(path);
  }

  assertAnswers(): Promise<void> {
    return assertAnswers(this.folder);
  }

  async keepFile(from: string, path: string): Promise<void> {
    const before = this.before === undefined ? undefined : join(this.before, path);
    const kept = await keepCopy(from, join(this.folder, path), before);
    this.kept.add(path);
    this.bytes += kept.bytes;
    if (kept.shared) this.bytesShared += kept.bytes;
  }

  async keepFolder(path: string, bytesShared: number): Promise<void> {
    const files = await filesBelow(join(this.folder, path));
    for (const { bytes } of files) this.bytes += bytes;
    this.bytesShared += bytesShared;
    const environments = files.filter((file) => basename(file.path) === ENVIRONMENT_FILE);
    this.written.set(
      path,
      environments.map((file) => join(this.folder, path, file.path)),
    );
  }

  /**
   * Resolves when all that was copied is on disk, and the names in these folders. At the end and beside each other: a file system writes what
   * it has to for many at once, and would do so for each of thousands of lists otherwise.
   */
  async settle(folders: Iterable<string>): Promise<void> {
    const files = [...this.written.values()].flat();
    this.written.clear();
    await inParallel([...files, ...folders], this.filesAtATime, syncFile);
  }

  leaveOut(path: string): Promise<void> {
    this.kept.delete(path);
    this.written.delete(path);
    return rm(join(this.folder, path), { recursive: true, force: true });
  }
}
