/**
 * Calls of the file systems that folders lie on which somebody has named: those of media stores, and of backups. One that is shared over a
 * network may not answer for minutes, or for good, and such a call cannot be broken off: it keeps one of the few threads that all of the service
 * reads and writes with. So stores have some of these at most, and those of one disk fewer than all; who waits too long is told so, and the
 * call ends when it will. Main thread only.
 */
import { NEVER, ServiceError, WeightedTurns } from '../../platform/index.js';
import { STORE_UNAVAILABLE } from '../media-problems.js';

/** What Node.js has unless its variable says otherwise. */
const THREADS_DEFAULT = 4;
const SHARE_OF_THREADS = 3 / 4;
const CALLS_OF_ONE_MAX = 2;
/** A disk that has to spin up, or a server that starts anew, answers before. */
const ANSWER_MS_MAX = 30_000;
/** What is in memory goes to the disk: as long as there is more of it, or others write as well, that is no silence. */
const LONG_ANSWER_MS_MAX = 600_000;
const RETRY_AFTER_SECONDS = 30;

export interface FolderCallsOptions {
  /** Of all folders that others have named; those that this process has, where it is not given. */
  readonly turns?: WeightedTurns;
  /** Whose folder it is, at the beginning of a sentence. */
  readonly folder?: string;
  readonly callsMax?: number;
  readonly answerMsMax?: number;
  readonly longAnswerMsMax?: number;
  /** So long a call may wait for its turn; as long as for its answer, where it is not given. */
  readonly turnMsMax?: number;
}

const turnsOfAll = new WeightedTurns(
  Math.max(1, Math.floor((Number(process.env['UV_THREADPOOL_SIZE']) || THREADS_DEFAULT) * SHARE_OF_THREADS)),
);

/** Of all stores on one disk: where one does not answer, none does. */
export class FolderCalls {
  private readonly own: WeightedTurns;
  /** Calls that have not been answered in time. */
  private stuck = 0;

  constructor(private readonly options: FolderCallsOptions = {}) {
    this.own = new WeightedTurns(options.callsMax ?? CALLS_OF_ONE_MAX);
  }

  /**
   * What the call resolves or rejects with. Rejects with `store-unavailable` where that takes too long; `late` is given what comes all the
   * same.
   */
  run<Result>(call: () => Promise<Result>, late: (result: Result) => unknown = () => undefined): Promise<Result> {
    return this.within(this.answerMsMax, call, late);
  }

  /** The same for a call that takes minutes on a disk that is well, as a sync does. */
  runLong<Result>(call: () => Promise<Result>): Promise<Result> {
    return this.within(this.options.longAnswerMsMax ?? LONG_ANSWER_MS_MAX, call);
  }

  /** A call that gives back what is held: it waits as long as it has to, and is waited for no longer than others. Never rejects. */
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
      // Whoever came now would wait behind a call that does not end.
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

  /** It may be well. */
  private turnless(): ServiceError {
    return this.unavailable('could not be asked: calls of folders that others have named take all turns');
  }

  private unavailable(what: string): ServiceError {
    const detail = `${this.options.folder ?? 'The folder of this media store'} ${what}.`;
    return new ServiceError(STORE_UNAVAILABLE, detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
