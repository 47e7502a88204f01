/** A backup as a folder of this machine: what never changes gets a second name in it, the rest is copied. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupTarget } from './backup-target.js';
import { filesBelow, keepCopy } from './file-keeping.js';
import { assertAnswers } from './folder-fault.js';

export class FolderTarget implements BackupTarget {
  /** A disk that falls silent leaves others to the service. */
  readonly filesAtATime = 2;
  bytes = 0;
  bytesShared = 0;
  private readonly kept = new Set<string>();

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
    for (const { bytes } of await filesBelow(join(this.folder, path))) this.bytes += bytes;
    this.bytesShared += bytesShared;
  }

  leaveOut(path: string): Promise<void> {
    this.kept.delete(path);
    return rm(join(this.folder, path), { recursive: true, force: true });
  }
}
