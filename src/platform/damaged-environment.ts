/**
 * Whether an environment that LMDB calls damaged is so on the disk. Where a page of its mapped file cannot be read, zeros stand in the
 * mapping until it is closed, and LMDB takes them for damage: what is put aside then may be whole, and is what somebody waits for.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isCut } from './damaged-storage.js';
import { systemReason } from './system-errors.js';

/** Read at once. */
const PIECE_BYTES = 1_048_576;

export class EnvironmentFaults {
  readonly #file: string;
  readonly #before: number;

  /** To be made before the environment in this folder is opened. `unreadableCount`: of the kernel. */
  constructor(
    folder: string,
    private readonly unreadableCount: () => number,
  ) {
    this.#file = join(folder, 'data.mdb');
    this.#before = unreadableCount();
  }

  /**
   * Undefined where what LMDB met is in the file. Otherwise why it says nothing about the file, as a sentence without its full stop: the
   * environment is to be left as it is, closed, and opened again. Reads the whole file, and only after something could not be read.
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
 * Resolves with undefined where the file of an environment can be read from its beginning to its end, and ends behind its last page. Otherwise why not, as a
 * sentence without its full stop. Rejects with the signal's reason.
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
