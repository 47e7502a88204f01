/** A backup as a folder of this machine: what never changes gets a second name in it, the rest is copied. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupTarget } from './backup-target.js';
import { filesBelow, keepCopy } from './file-keeping.js';

export class FolderTarget implements BackupTarget {
  bytes = 0;
  bytesShared = 0;

  constructor(
    readonly folder: string,
    readonly before: string | undefined,
  ) {}

  has(path: string): boolean {
    return existsSync(join(this.folder, path));
  }

  async keepFile(from: string, path: string): Promise<void> {
    const before = this.before === undefined ? undefined : join(this.before, path);
    const kept = await keepCopy(from, join(this.folder, path), before);
    this.bytes += kept.bytes;
    if (kept.shared) this.bytesShared += kept.bytes;
  }

  async keepFolder(path: string, bytesShared: number): Promise<void> {
    for (const { bytes } of await filesBelow(join(this.folder, path))) this.bytes += bytes;
    this.bytesShared += bytesShared;
  }

  leaveOut(path: string): Promise<void> {
    return rm(join(this.folder, path), { recursive: true, force: true });
  }
}
