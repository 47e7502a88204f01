/** Checks whether the data directory can be read and written at the moment, by asking its file system. */
import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './system-code.js';
import { systemReason } from './system-errors.js';

/**
 * Codes of a failed change of a file's time that do not mean that writes are refused: a full disk can be written again
 * once there is space, some file systems have no times, and the file may have been moved away.
 */
const NO_REFUSALS: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT'],
  ...['ENOSYS', 'EINVAL', 'EOPNOTSUPP', 'ENOTSUP'],
  'ENOENT',
]);
/** A file system that works responds within microseconds. */
const ANSWER_MS_MAX = 5000;

export type StorageState =
  | { readonly kind: 'writable' | 'read-only' }
  /** `reason` is a sentence without its full stop. */
  | { readonly kind: 'gone'; readonly reason: string };

const WRITABLE: StorageState = { kind: 'writable' };
const READ_ONLY: StorageState = { kind: 'read-only' };
const SILENT: StorageState = {
  kind: 'gone',
  reason: `its file system has not answered for ${ANSWER_MS_MAX / 1000} s`,
};

export class StorageProbe {
  readonly #reached: SharedLook<StorageState>;
  readonly #written: SharedLook<StorageState>;

  constructor(dataDir: string) {
    this.#reached = new SharedLook(() => reached(dataDir), SILENT);
    this.#written = new SharedLook(() => written(dataDir), READ_ONLY);
  }

  /**
   * Never rejects. Returns `gone` only if the data cannot be reached, since searches are served as long as they can be.
   */
  async look(): Promise<StorageState> {
    const state = await this.#reached.look();
    return state.kind === 'gone' ? state : this.#written.look();
  }
}

/**
 * Shares one look among concurrent callers: a disk that does not respond then blocks one thread, not one per caller.
 */
export class SharedLook<Answer> {
  #looking: Promise<Answer> | undefined;

  /** `silent`: the answer for a disk that does not respond. */
  constructor(
    private readonly ask: () => Promise<Answer>,
    private readonly silent: Answer,
  ) {}

  look(): Promise<Answer> {
    this.#looking ??= this.ask().finally(() => {
      this.#looking = undefined;
    });
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<Answer>((resolve) => {
      timer = setTimeout(() => {
        resolve(this.silent);
      }, ANSWER_MS_MAX).unref();
    });
    return Promise.race([this.#looking, silence]).finally(() => {
      clearTimeout(timer);
    });
  }
}

async function reached(dataDir: string): Promise<StorageState> {
  try {
    await stat(join(dataDir, 'system', 'data.mdb'));
    return WRITABLE;
  } catch (error) {
    return { kind: 'gone', reason: systemReason(error) };
  }
}

async function written(dataDir: string): Promise<StorageState> {
  try {
    // The smallest write: ext4 after an error refuses it, while it otherwise calls itself writable.
    const now = new Date();
    await utimes(join(dataDir, 'lock'), now, now);
    return WRITABLE;
  } catch (error) {
    return NO_REFUSALS.has(systemCode(error)) ? WRITABLE : READ_ONLY;
  }
}
