/** A backup in a folder of this machine: files that never change are hard-linked, others are copied. */
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFile } from '../platform/index.js';
import type { BackupTarget } from './backup-target.js';
import { filesBelow, keepCopy } from './file-keeping.js';
import { assertAnswers } from './folder-fault.js';
import { inParallel } from './in-parallel.js';

/** The only files not on disk yet when they are taken over: others are linked, or synced when copied. */
const ENVIRONMENT_FILE = 'data.mdb';

export class FolderTarget implements BackupTarget {
  /** Small, so that a disk that stops responding leaves file threads to the rest of the service. */
  readonly filesAtATime = 2;
  bytes = 0;
  bytesShared = 0;
  private readonly kept = new Set<string>();
  /** Copied environment files that are not synced yet, by folder. */
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
   * Resolves when all copies, and the names in these folders, are on disk. Done at the end and concurrently, since a
   * file system syncs many files at once, and would otherwise do so for each of thousands of lists.
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
