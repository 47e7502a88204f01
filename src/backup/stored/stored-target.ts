/**
 * A backup as pieces in a media store. What was copied is stored there and its copy removed, so that at most two
 * lists at a time take space here: one that is sent, and one that is copied.
 */
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { UploadSlots } from '../../media/index.js';
import { readFully, ServiceError, type Cancellation } from '../../platform/index.js';
import type { BackupTarget } from '../backup-target.js';
import { filesBelow } from '../file-keeping.js';
import { inParallel } from '../in-parallel.js';
import { ENVIRONMENT_PIECE_BYTES, pieceBytesOf, type StoredFileOfBackup } from './manifest.js';
import type { PieceStore } from './piece-store.js';

/** Limits of pieces in memory: large ones, and those of environments. */
const LARGE_AT_A_TIME = 4;
const SMALL_AT_A_TIME = 16;
/** Local files read at a time. */
const FILES_AT_A_TIME = 4;
/** Folders on this disk: the next one is copied while the previous one is being sent. */
const FOLDERS_AT_A_TIME = 2;

export class StoredTarget implements BackupTarget {
  /** Nothing is hard-linked in a store. */
  readonly before = undefined;
  readonly filesAtATime = FILES_AT_A_TIME;
  bytesShared = 0;
  private readonly kept = new Map<string, StoredFileOfBackup>();
  private readonly large = new UploadSlots(LARGE_AT_A_TIME);
  private readonly small = new UploadSlots(SMALL_AT_A_TIME);
  private readonly coming = new Set<Promise<void>>();
  private failure: { readonly error: unknown } | undefined;

  constructor(
    readonly folder: string,
    private readonly pieces: PieceStore,
    private readonly signal: Cancellation,
  ) {}

  /** Does nothing: a store reports failures itself. */
  assertAnswers(): Promise<void> {
    return Promise.resolve();
  }

  has(path: string): boolean {
    return this.kept.has(path);
  }

  async keepFile(from: string, path: string): Promise<void> {
    const file = await open(from, 'r');
    try {
      const { size } = await file.stat();
      const pieceBytes = pieceBytesOf(path);
      const slots = pieceBytes > ENVIRONMENT_PIECE_BYTES ? this.large : this.small;
      const parts: Part[] = [];
      await inParallel(placesOf(size, pieceBytes), SMALL_AT_A_TIME, (place) =>
        slots.run(async () => {
          if (this.signal.aborted) throw this.signal.reason;
          const buffer = Buffer.allocUnsafeSlow(Math.min(pieceBytes, size - place * pieceBytes));
          const bytesRead = await readFully(file, buffer, place * pieceBytes);
          if (bytesRead === 0) return;
          const { digest, shared } = await this.pieces.put(buffer.subarray(0, bytesRead));
          if (shared) this.bytesShared += bytesRead;
          parts[place] = { digest, bytes: bytesRead };
        }),
      );
      this.kept.set(path, fileOf(path, pieceBytes, parts));
    } finally {
      await file.close();
    }
  }

  /** Sends a folder; resolves when the next one may be copied. */
  async keepFolder(path: string): Promise<void> {
    this.assertFine();
    const sent = this.send(path).then(
      () => undefined,
      (error: unknown) => {
        this.failure ??= { error };
      },
    );
    this.coming.add(sent);
    void sent.then(() => this.coming.delete(sent));
    // The folder that is copied next is one of them.
    while (this.coming.size >= FOLDERS_AT_A_TIME) await Promise.race(this.coming);
  }

  async leaveOut(path: string): Promise<void> {
    await this.settle();
    for (const each of this.kept.keys()) {
      if (each === path || each.startsWith(`${path}/`)) this.kept.delete(each);
    }
  }

  /** Returns every file, once all of it is in the store. Rejects with the first failure. */
  async files(): Promise<readonly StoredFileOfBackup[]> {
    await this.settle();
    this.assertFine();
    return [...this.kept.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Resolves when nothing is being sent any more, even after failures. */
  async settle(): Promise<void> {
    await Promise.all(this.coming);
  }

  private async send(path: string): Promise<void> {
    const from = join(this.folder, path);
    const files = await filesBelow(from);
    await inParallel(files, FILES_AT_A_TIME, (each) => this.keepFile(join(from, each.path), `${path}/${each.path}`));
    await rm(from, { recursive: true, force: true });
  }

  private assertFine(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

interface Part {
  readonly digest: string;
  readonly bytes: number;
}

function* placesOf(size: number, pieceBytes: number): Generator<number> {
  for (let place = 0; place * pieceBytes < size; place += 1) yield place;
}

/** Returns the file. If it became shorter meanwhile, it ends where reading ended. */
function fileOf(path: string, piece_bytes: number, parts: readonly (Part | undefined)[]): StoredFileOfBackup {
  const read = parts.filter((part) => part !== undefined);
  if (read.slice(0, -1).some(({ bytes }) => bytes !== piece_bytes)) {
    throw new ServiceError('conflict', `${path} changes while it is read: try again later.`);
  }
  const bytes = read.reduce((sum, part) => sum + part.bytes, 0);
  return { path, bytes, piece_bytes, pieces: read.map(({ digest }) => digest) };
}
