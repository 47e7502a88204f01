/**
 * Tells whether an environment that LMDB reports as damaged is damaged on disk. If a page of the mapped file cannot be
 * read, the mapping has zeros in its place until it is closed, and LMDB takes them for damage, while the file may be
 * intact.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isCut } from './damaged-storage.js';
import { systemReason } from './system-errors.js';

/** Bytes read at a time. */
const PIECE_BYTES = 1_048_576;

export class EnvironmentFaults {
  readonly #file: string;
  readonly #before: number;

  /**
   * Must be created before the environment in `folder` is opened. `unreadableCount`: the kernel's count of unreadable
   * pages.
   */
  constructor(
    folder: string,
    private readonly unreadableCount: () => number,
  ) {
    this.#file = join(folder, 'data.mdb');
    this.#before = unreadableCount();
  }

  /**
   * Returns undefined if the damage that LMDB met is in the file. Otherwise returns why it may not be, as a sentence
   * without its full stop: the caller then leaves the environment as it is, closes it and opens it again. Reads the
   * whole file, but only if something could not be read since the constructor ran.
   */
  whyNotOfTheFile(): string | undefined {
    if (this.unreadableCount() === this.#before) return undefined;
    try {
      return isCut(this.#file) ? undefined : readWhole(this.#file);
    } catch (error) {
      return `${this.#file} cannot be read: ${systemReason(error)}`;
    }
  }
}

function readWhole(path: string): string {
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, statSync(path).size)));
    for (let at = 0; ;) {
      const got = readSync(file, piece, 0, piece.length, at);
      if (got === 0) return `${path} could not be read, and can be read again`;
      at += got;
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Resolves with undefined if the whole file of an environment can be read and no page is missing at its end. Otherwise
 * resolves with the reason, as a sentence without its full stop. Rejects with the signal's reason.
 */
export async function whyUnreadable(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, Math.max(1, (await file.stat()).size)));
      for (let at = 0; ;) {
        signal.throwIfAborted();
        const { bytesRead } = await file.read(piece, 0, piece.length, at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
    } finally {
      await file.close();
    }
    return isCut(path)
      ? `${path} ends before its last page: it was cut, and has to be restored from a backup`
      : undefined;
  } catch (error) {
    signal.throwIfAborted();
    return `${path} cannot be read: ${systemReason(error)}`;
  }
}
