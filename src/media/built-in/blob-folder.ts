/**
 * Stores the contents of a built-in store's files: one immutable file per content, `blobs/<id>`. A content that is
 * being received, or that no transaction names yet, is in `incoming/`; what a crash leaves there is moved or removed at
 * the next start.
 */
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSyncedFolder } from '../../platform/index.js';
import { piecesOf, writePiece } from '../file-pieces.js';
import { FolderSync } from './folder-sync.js';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Names of the folders, by which backups know them. */
export const INCOMING_FOLDER = 'incoming';
export const BLOBS_FOLDER = 'blobs';

export interface ReceivedBlob {
  readonly id: string;
  readonly bytes: number;
  /** SHA-256 in base64url. */
  readonly digest: string;
}

export class BlobFolder {
  private readonly incoming: string;
  private readonly blobs: string;
  private made: Promise<void> | undefined;
  private readonly incomingSync: FolderSync;
  private readonly blobsSync: FolderSync;

  /** `assertPlace` rejects if the folders would be created in the wrong place, or have vanished with their parent. */
  constructor(
    path: string,
    private readonly assertPlace: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.incoming = join(path, INCOMING_FOLDER);
    this.blobs = join(path, BLOBS_FOLDER);
    this.incomingSync = new FolderSync(this.incoming);
    this.blobsSync = new FolderSync(this.blobs);
  }

  /**
   * Writes the body to a new blob and resolves when it is on disk. Calls `onBytes` with the total number of bytes
   * before each write. If it or the body throws, nothing is left behind.
   */
  async receive(body: AsyncIterable<Uint8Array>, onBytes: (bytes: number) => void): Promise<ReceivedBlob> {
    await this.make();
    const id = randomUUID();
    const path = join(this.incoming, id);
    const handle = await open(path, 'wx', FILE_MODE).catch(async (error: unknown) => {
      // The folders may have vanished since they were created.
      await this.assertPlace();
      throw error;
    });
    try {
      const received = await writeAll(handle, body, onBytes);
      await handle.sync();
      await handle.close();
      await this.incomingSync.done();
      return { id, ...received };
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Moves a blob to `blobs/` once a transaction names it. */
  async keep(id: string): Promise<void> {
    await rename(join(this.incoming, id), join(this.blobs, id));
  }

  /**
   * The same for a blob that was left in `incoming/`. A backup may have copied it while it was received, and again when
   * it was complete and moved: that one is kept.
   */
  async keepLeft(id: string): Promise<void> {
    // A backup has no empty folders.
    await this.make();
    if (await isThere(join(this.blobs, id))) await rm(join(this.incoming, id), { force: true });
    else await this.keep(id);
  }

  /** Rejects with ENOENT. */
  async open(id: string): Promise<FileHandle> {
    try {
      return await open(join(this.blobs, id), 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // A transaction names it already, but it may not have been moved yet.
      return open(join(this.incoming, id), 'r').catch(() => open(join(this.blobs, id), 'r'));
    }
  }

  /**
   * Removes a blob; does nothing if it is gone. After a power failure it may reappear unless `removalsDone` has
   * resolved.
   */
  async remove(id: string): Promise<void> {
    await rm(join(this.blobs, id), { force: true });
    await rm(join(this.incoming, id), { force: true });
  }

  /** Resolves when the removals before this call survive a power failure. */
  async removalsDone(): Promise<void> {
    try {
      await this.blobsSync.done();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Returns the ids in `incoming`. Call only while nothing is being received. */
  received(): Promise<string[]> {
    return namesIn(this.incoming);
  }

  kept(): Promise<string[]> {
    return namesIn(this.blobs);
  }

  /** Creates the folders once; tries again after a failure. */
  private make(): Promise<void> {
    this.made ??= this.makeFolders().catch((error: unknown) => {
      this.made = undefined;
      throw error;
    });
    return this.made;
  }

  private async makeFolders(): Promise<void> {
    await this.assertPlace();
    for (const path of [this.incoming, this.blobs]) await makeSyncedFolder(path, FOLDER_MODE);
  }
}

async function writeAll(
  handle: FileHandle,
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): Promise<{ readonly bytes: number; readonly digest: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.byteLength;
    onBytes(bytes);
    hash.update(piece);
    await writePiece(handle, piece);
  }
  return { bytes, digest: hash.digest('base64url') };
}

/** Yields the content in pieces. Throws `damage` before the last piece if the digest or the length is wrong. */
export async function* verifiedPieces(
  handle: FileHandle,
  { bytes, digest, damage }: { readonly bytes: number; readonly digest: string; readonly damage: () => Error },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let last: Uint8Array | undefined;
  for await (const piece of piecesOf(handle, 0, bytes)) {
    hash.update(piece);
    if (last !== undefined) yield last;
    last = piece;
  }
  if (hash.digest('base64url') !== digest) throw damage();
  if (last !== undefined) yield last;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
