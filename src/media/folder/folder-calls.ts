/**
 * Limits calls to file systems of folders that users configured, for media stores and backups. A network share may not
 * answer for minutes, or ever, and such a call cannot be cancelled: it occupies one of the few threads (libuv pool)
 * through which the whole service reads and writes. So all stores together may use only a part of the threads, and
 * those of one disk fewer. A caller that waits too long gets an error, while the call goes on until it ends. Main
 * thread only.
 */
import { NEVER, ServiceError, WeightedTurns } from '../../platform/index.js';
import { STORE_UNAVAILABLE } from '../media-problems.js';

/** Node.js's default for UV_THREADPOOL_SIZE. */
const THREADS_DEFAULT = 4;
const SHARE_OF_THREADS = 3 / 4;
const CALLS_OF_ONE_MAX = 2;
/** Long enough for a disk to spin up or a server to restart. */
const ANSWER_MS_MAX = 30_000;
/** For calls that write memory to disk: they take longer the more there is, and if others write as well. */
const LONG_ANSWER_MS_MAX = 600_000;
const RETRY_AFTER_SECONDS = 30;

export interface FolderCallsOptions {
  /** Shared by all configured folders. Default: the turns of this process. */
  readonly turns?: WeightedTurns;
  /** Whose folder it is, as the beginning of a sentence. */
  readonly folder?: string;
  readonly callsMax?: number;
  readonly answerMsMax?: number;
  readonly longAnswerMsMax?: number;
  /** Longest wait for a turn. Default: as long as for the answer. */
  readonly turnMsMax?: number;
}

const turnsOfAll = new WeightedTurns(
  Math.max(1, Math.floor((Number(process.env['UV_THREADPOOL_SIZE']) || THREADS_DEFAULT) * SHARE_OF_THREADS)),
);

/** Calls to one disk: if it does not answer for one store, it does not for the others. */
export class FolderCalls {
  private readonly own: WeightedTurns;
  /** Calls that have not been answered in time. */
  private stuck = 0;

  constructor(private readonly options: FolderCallsOptions = {}) {
    this.own = new WeightedTurns(options.callsMax ?? CALLS_OF_ONE_MAX);
  }

  /** Runs a call. Rejects with `store-unavailable` if it takes too long; a later result is passed to `late`. */
  run<Result>(call: () => Promise<Result>, late: (result: Result) => unknown = () => undefined): Promise<Result> {
    return this.within(this.answerMsMax, call, late);
  }

  /** Like `run`, for calls such as a sync that take minutes even on a healthy disk. */
  runLong<Result>(call: () => Promise<Result>): Promise<Result> {
    return this.within(this.options.longAnswerMsMax ?? LONG_ANSWER_MS_MAX, call);
  }

  /**
   * Runs a call that releases a resource: it waits for its turn as long as necessary, but is awaited no longer than
   * others. Never rejects.
   */
  release(call: () => Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.stuck > 0 ? 0 : this.answerMsMax);
      this.called(call, NEVER)
        .catch(() => undefined)
        .finally(() => {
          clearTimeout(timer);
          resolve();
        });
    });
  }

  private within<Result>(
    answerMsMax: number,
    call: () => Promise<Result>,
    late?: (result: Result) => unknown,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Fails at once: the caller would wait behind a call that does not end.
      if (this.stuck > 0) throw this.silent();
      const given = new AbortController();
      const giveUp = (reason: ServiceError) => {
        given.abort(reason);
        reject(reason);
      };
      let timer = setTimeout(() => {
        giveUp(this.turnless());
      }, this.options.turnMsMax ?? answerMsMax);
      const begin = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          giveUp(this.silent());
        }, answerMsMax);
        return call();
      };
      this.called(begin, given.signal, late)
        .then(resolve, reject)
        .finally(() => {
          clearTimeout(timer);
        });
    });
  }

  private get answerMsMax(): number {
    return this.options.answerMsMax ?? ANSWER_MS_MAX;
  }

  private async called<Result>(
    call: () => Promise<Result>,
    given: AbortSignal,
    late?: (result: Result) => unknown,
  ): Promise<Result> {
    const giveBackOwn = await this.own.take(1, given);
    try {
      const giveBack = await (this.options.turns ?? turnsOfAll).take(1, given);
      try {
        return await this.begun(call, given, late);
      } finally {
        giveBack();
      }
    } finally {
      giveBackOwn();
    }
  }

  private async begun<Result>(
    call: () => Promise<Result>,
    given: AbortSignal,
    late?: (result: Result) => unknown,
  ): Promise<Result> {
    given.throwIfAborted();
    const givenUp = () => {
      this.stuck += 1;
    };
    given.addEventListener('abort', givenUp, { once: true });
    try {
      const result = await call();
      if (given.aborted) late?.(result);
      return result;
    } finally {
      given.removeEventListener('abort', givenUp);
      if (given.aborted) this.stuck -= 1;
    }
  }

  private silent(): ServiceError {
    return this.unavailable('does not answer');
  }

  /** Error for a call that got no turn; the disk itself may be fine. */
  private turnless(): ServiceError {
    return this.unavailable('could not be asked: calls of folders that others have named take all turns');
  }

  private unavailable(what: string): ServiceError {
    const detail = `${this.options.folder ?? 'The folder of this media store'} ${what}.`;
    return new ServiceError(STORE_UNAVAILABLE, detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
