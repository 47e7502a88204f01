/**
 * Pieces of files in a media store, each named by the SHA-256 of its content, so that equal bytes are stored once,
 * whatever file they belong to.
 */
import { webcrypto } from 'node:crypto';
import { listedPages, STORE_UNAVAILABLE, type MediaStore, type StoredFile } from '../../media/index.js';
import { asStorageError, isOutOfSpace, OperatorError, ServiceError } from '../../platform/index.js';
import { inParallel } from '../in-parallel.js';

const FOLDER = 'pieces/';
const PIECE = /^pieces\/[0-9a-f]{2}\/(?<digest>[0-9a-f]{64})$/u;
/** Delays before a server that does not respond is asked again. */
const WAITS_MS = [200, 1000];
const REMOVED_AT_A_TIME = 4;

export interface PutPiece {
  readonly digest: string;
  /** True if the store already had the piece. */
  readonly shared: boolean;
}

/** The disk of the place is full; the message names it, since several disks take part in a backup. */
export class PlaceFullError extends ServiceError {}

export class PieceStore {
  private known: Map<string, number> | undefined;
  private readonly coming = new Map<string, Promise<void>>();

  /** `told`: the place as the operator typed it. */
  constructor(
    private readonly store: MediaStore,
    private readonly told: string,
  ) {}

  /** Lists the existing pieces. To be called before the first `put`. */
  async look(): Promise<void> {
    this.known = new Map();
    for await (const { path, bytes } of filesOf(this.store, FOLDER)) {
      const digest = digestIn(path);
      if (digest !== undefined) this.known.set(digest, bytes);
    }
  }

  /**
   * Stores a piece; it is on disk there when this resolves. Rejects with `store-unavailable`, `store-full` or
   * `storage-full`.
   */
  async put(bytes: Uint8Array): Promise<PutPiece> {
    const digest = await digestOf(bytes);
    // A piece with another length was left by a damaged store.
    if (this.known?.get(digest) === bytes.byteLength) return { digest, shared: true };
    const coming = this.coming.get(digest);
    if (coming !== undefined) {
      await coming;
      return { digest, shared: true };
    }
    const sent = putWhole(this.store, pathOf(digest), bytes, this.told);
    this.coming.set(digest, sent);
    try {
      await sent;
      this.known?.set(digest, bytes.byteLength);
    } finally {
      this.coming.delete(digest);
    }
    return { digest, shared: false };
  }

  /**
   * Returns the piece, with its checksum verified. `of`: the file that it belongs to. Rejects with an `OperatorError`
   * that names both.
   */
  async read(digest: string, bytes: number, of: string): Promise<Uint8Array> {
    const content = await this.whole(digest, bytes);
    if (typeof content === 'string') throw this.lost(pathOf(digest), of, content);
    return content;
  }

  /** Returns what is wrong with a piece; undefined if it is intact. */
  async faultOf(digest: string, bytes: number): Promise<string | undefined> {
    const content = await this.whole(digest, bytes);
    return typeof content === 'string' ? content : undefined;
  }

  /** Removes all pieces except these. Resolves with the number of removed pieces. */
  async removeBut(wanted: ReadonlySet<string>): Promise<number> {
    const left: string[] = [];
    for await (const { path } of filesOf(this.store, FOLDER)) {
      const digest = digestIn(path);
      if (digest !== undefined && !wanted.has(digest)) left.push(path);
    }
    await inParallel(left, REMOVED_AT_A_TIME, (path) => removeIfThere(this.store, path));
    return left.length;
  }

  private async whole(digest: string, bytes: number): Promise<Uint8Array | 'is missing' | 'is damaged'> {
    const content = await readWhole(this.store, pathOf(digest), bytes);
    if (content === undefined) return 'is missing';
    return content.byteLength === bytes && (await digestOf(content)) === digest ? content : 'is damaged';
  }

  private lost(path: string, of: string, what: string): OperatorError {
    return new OperatorError(
      `The piece ${path} of ${of} ${what} in ${this.told}: this backup cannot be restored. ` +
        `\`gannet backup list ${this.told}\` lists the others.`,
    );
  }
}

/** Yields the files whose paths begin with `prefix`, in order. */
export async function* filesOf(store: MediaStore, prefix: string): AsyncGenerator<StoredFile> {
  for await (const files of listedPages(store, { prefix })) yield* files;
}

export async function putWhole(store: MediaStore, path: string, bytes: Uint8Array, told: string): Promise<void> {
  try {
    await patiently(() =>
      store.put({
        path,
        contentType: 'application/octet-stream',
        bytes: bytes.byteLength,
        body: oneOf(bytes),
        check: () => undefined,
        isConditional: false,
      }),
    );
  } catch (error) {
    // A full disk is reported differently by the store of a folder and by the server of a bucket.
    const failure = asStorageError(error);
    if (!(failure instanceof ServiceError) || !isOutOfSpace(failure)) throw failure;
    throw new PlaceFullError('storage-full', `The disk of ${told} is full: free space there and try again.`, {
      cause: error,
    });
  }
}

/** Returns undefined if there is no such file; stops reading once it has more than `bytesMax` bytes. */
export async function readWhole(
  store: MediaStore,
  path: string,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<Uint8Array | undefined> {
  return patiently(async () => {
    const file = await store.open(path);
    if (file === undefined) return undefined;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const piece of file.pieces()) {
        pieces.push(piece);
        bytes += piece.byteLength;
        if (bytes > bytesMax) break;
      }
    } finally {
      await file.close();
    }
    return Buffer.concat(pieces);
  });
}

export async function removeIfThere(store: MediaStore, path: string): Promise<void> {
  if ((await store.stat(path)) !== undefined) await store.remove(path, () => undefined);
}

async function patiently<Result>(action: () => Promise<Result>): Promise<Result> {
  for (const waitMs of WAITS_MS) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== STORE_UNAVAILABLE.code) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
  return action();
}

/** Computed by another thread, since this one answers requests. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
}

function pathOf(digest: string): string {
  return `${FOLDER}${digest.slice(0, 2)}/${digest}`;
}

function digestIn(path: string): string | undefined {
  return PIECE.exec(path)?.groups?.['digest'];
}

async function* oneOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
