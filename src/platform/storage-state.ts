/** Whether the data directory can be read and written at the moment, asked of its file system. */
import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemReason } from './system-errors.js';

/** Codes of a file system that refuses to be written and can be read. A full one is written again as soon as there is room. */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['EROFS', 'EACCES', 'EPERM']);
const FULL: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);
/** A file system that answers takes microseconds. */
const ANSWER_MS_MAX = 5000;

export type StorageState =
  | { readonly kind: 'writable' | 'read-only' }
  /** `reason` is a sentence without its full stop. */
  | { readonly kind: 'gone'; readonly reason: string };

export class StorageProbe {
  #looking: Promise<StorageState> | undefined;

  constructor(private readonly dataDir: string) {}

  /** Never rejects. Whoever asks while somebody else does is told the same: a disk that is silent holds one thread, and not one for each who asks. */
  look(): Promise<StorageState> {
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<StorageState>((resolve) => {
      const reason = `its file system has not answered for ${ANSWER_MS_MAX / 1000} s`;
      timer = setTimeout(() => {
        resolve({ kind: 'gone', reason });
      }, ANSWER_MS_MAX).unref();
    });
    return Promise.race([this.#looking, silence]).finally(() => {
      clearTimeout(timer);
    });
  }

  async #ask(): Promise<StorageState> {
    try {
      await stat(join(this.dataDir, 'system', 'data.mdb'));
    } catch (error) {
      return { kind: 'gone', reason: systemReason(error) };
    }
    try {
      // The least that is a write: ext4 that has met an error refuses it, and calls itself writable otherwise.
      const now = new Date();
      await utimes(join(this.dataDir, 'lock'), now, now);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (REFUSALS.has(code)) return { kind: 'read-only' };
      if (!FULL.has(code)) return { kind: 'gone', reason: systemReason(error) };
    }
    return { kind: 'writable' };
  }
}
