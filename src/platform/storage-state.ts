/** Whether the data directory can be read and written at the moment, asked of its file system. */
import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './system-code.js';
import { systemReason } from './system-errors.js';

/**
 * Where the time of a file cannot be set and nothing is said of writes: a full disk is written again as soon as there is room, some file
 * systems have no times, and somebody may have moved the file away.
 */
const NO_REFUSALS: ReadonlySet<unknown> = new Set([
  ...['ENOSPC', 'EDQUOT'],
  ...['ENOSYS', 'EINVAL', 'EOPNOTSUPP', 'ENOTSUP'],
  'ENOENT',
]);
/** A file system that answers takes microseconds. */
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

  /** Never rejects. Gone is only what cannot be looked at, for searches are served from what can. */
  async look(): Promise<StorageState> {
    const state = await this.#reached.look();
    return state.kind === 'gone' ? state : this.#written.look();
  }
}

/** Whoever asks while somebody else does is told the same: a disk that is silent holds one thread, and not one for each who asks. */
export class SharedLook<Answer> {
  #looking: Promise<Answer> | undefined;

  /** `silent`: what is told of a disk that does not answer. */
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
    // The least that is a write: ext4 that has met an error refuses it, and calls itself writable otherwise.
    const now = new Date();
    await utimes(join(dataDir, 'lock'), now, now);
    return WRITABLE;
  } catch (error) {
    return NO_REFUSALS.has(systemCode(error)) ? WRITABLE : READ_ONLY;
  }
}
