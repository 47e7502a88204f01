/**
 * The contents of a built-in store's files: one file a content, `blobs/<id>`, never changed. One that is being received, or that no
 * transaction names yet, is in `incoming/`: what a crash leaves there is moved or removed at the next start.
 */
import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { makeSyncedFolder } from '../../platform/index.js';
import { piecesOf, writePiece } from '../file-pieces.js';
import { FolderSync } from './folder-sync.js';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export interface ReceivedBlob {
  readonly id: string;
  readonly bytes: number;
  /** Of its SHA-256, in base64url. */
  readonly digest: string;
}

export class BlobFolder {
  private readonly incoming: string;
  private readonly blobs: string;
  private made: Promise<void> | undefined;
  private readonly incomingSync: FolderSync;
  private readonly blobsSync: FolderSync;

  /** `assertPlace` rejects where the folders would be made in the wrong place, or are gone with what they are in. */
  constructor(
    path: string,
    private readonly assertPlace: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.incoming = join(path, 'incoming');
    this.blobs = join(path, 'blobs');
    this.incomingSync = new FolderSync(this.incoming);
    this.blobsSync = new FolderSync(this.blobs);
  }

  /**
   * Writes the body down; resolves when it is on disk. `onBytes` is told how many there are so far, before they are written. Whatever
   * it or the body throws leaves nothing behind.
   */
  async receive(body: AsyncIterable<Uint8Array>, onBytes: (bytes: number) => void): Promise<ReceivedBlob> {
    await this.make();
    const id = randomUUID();
    const path = join(this.incoming, id);
    const handle = await open(path, 'wx', FILE_MODE).catch(async (error: unknown) => {
      // Gone since the folders were made.
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

  /** A transaction names it: it is to stay. */
  async keep(id: string): Promise<void> {
    await rename(join(this.incoming, id), join(this.blobs, id));
  }

  /** Rejects with ENOENT. */
  async open(id: string): Promise<FileHandle> {
    try {
      return await open(join(this.blobs, id), 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // Named by a transaction, and not moved yet.
      return open(join(this.incoming, id), 'r').catch(() => open(join(this.blobs, id), 'r'));
    }
  }

  /** Without effect where it is gone. When the power fails, it may come back until `removalsDone`. */
  async remove(id: string): Promise<void> {
    await rm(join(this.blobs, id), { force: true });
    await rm(join(this.incoming, id), { force: true });
  }

  /** Resolves when nothing comes back that was removed before this call. */
  async removalsDone(): Promise<void> {
    try {
      await this.blobsSync.done();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  /** Ids of what lies in `incoming`, while nothing is received. */
  received(): Promise<string[]> {
    return namesIn(this.incoming);
  }

  kept(): Promise<string[]> {
    return namesIn(this.blobs);
  }

  /** Once; again, where it failed. */
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

/** The content in pieces, of which the last comes only when the digest of all is right; `damage` is thrown otherwise. */
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

async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
