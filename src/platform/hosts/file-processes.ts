/**
 * Reads untrusted files in processes of their own, a limited number at a time; other files wait. A process that takes
 * too long or too much memory is killed, and only its file fails: a file cannot affect others. Main thread only.
 */
import { ServiceError } from '../errors.js';
import { createChildProcess, type ChildProcessOptions } from './child-process.js';
import { CallTimedOutError, type Host } from './host.js';
import { HostPool } from './host-pool.js';

/** Time limit for a process to start, on a busy machine. */
const READY_MS_MAX = 60_000;
/**
 * Wall time per processor time. A process with so small a share of the processors will not get more: its file is given
 * up.
 */
const CLOCK_BY_PROCESSOR_MAX = 20;
const TOO_MUCH_MEMORY = /took more than \d+ MiB/;
/** The message of a process that others than the service killed; the service gives other reasons. */
const KILLED_BY_OTHERS = 'The process ended with SIGKILL';

/** Protocol of a process that reads files: the content of a file within limits, or why it cannot be read. */
export interface FileProtocol<Content, Limits, Fault extends string> {
  readonly questions: {
    /** Answered as soon as the process can read files. */
    readonly ready: { readonly ask: null; readonly answer: null };
    readonly read: {
      readonly ask: { readonly bytes: Uint8Array; readonly limits: Limits };
      readonly answer: Content | { readonly fault: Fault; readonly message: string };
    };
  };
  readonly notices: Record<never, never>;
  readonly events: Record<never, never>;
}

/** Faults of a file that made its process exceed a limit or crash. */
type DeadlyFault = 'timed-out' | 'too-large' | 'damaged';

interface TimeLimit {
  /** Limit of processor time if the system reports that of a process, as Linux does; otherwise of wall time. */
  readonly msMax: number;
}

/** Options of readers of all kinds of files. */
export interface FileReaderOptions<Limits> {
  readonly processes: number;
  /** Limit of the resident memory of each process. */
  readonly memoryMibMax: number;
  readonly limits: Limits;
  /** Called for a process that ended by itself or was killed; its files are reported elsewhere. */
  readonly onDeath: (error: Error) => void;
  /** Called with the stack of an unexpected error in a process. */
  readonly onBug: (stack: string) => void;
}

export interface FileProcessesOptions<Content, Limits, Fault extends string> {
  /** Name of such a file in messages: `document`. */
  readonly noun: string;
  readonly processes: number;
  readonly limits: Limits;
  /** Time after `limits.msMax` before the process is killed: it should end the reading itself by then. Default 0. */
  readonly graceMs?: number;
  /** Its `name` is that of the settings section whose `memory_mib_max` applies. */
  readonly host: Omit<ChildProcessOptions<FileProtocol<Content, Limits, Fault>>, 'data' | 'onBug'>;
  /** Called with the stack of an unexpected error in a process. */
  readonly onBug: (stack: string) => void;
  readonly asError: (fault: Fault | DeadlyFault, message: string) => Error;
}

interface FileAsked<Limits> {
  readonly bytes: Uint8Array;
  readonly limits: Limits;
  readonly first: boolean;
  readonly mayBeKilled: boolean;
}

export class FileProcesses<Content extends object, Limits extends TimeLimit, Fault extends string> {
  readonly #options: FileProcessesOptions<Content, Limits, Fault>;
  readonly #pool: HostPool<FileProtocol<Content, Limits, Fault>>;

  constructor(options: FileProcessesOptions<Content, Limits, Fault>) {
    const { host, processes, onBug } = options;
    this.#options = options;
    this.#pool = new HostPool(
      Array.from({ length: processes }, () =>
        createChildProcess({
          ...host,
          data: null,
          onBug: (_question, stack) => {
            onBug(stack);
          },
        }),
      ),
    );
  }

  /** Number of waiting files that go before others. */
  get waitingFirst(): number {
    return this.#pool.waitingFirst;
  }

  /**
   * Reads a file. Rejects with an error of `asError` if the file cannot be read, a ServiceError if no process could be
   * started or all are closed, or the signal's reason. `first`: before all that wait without it; `limits`: instead of
   * the default.
   */
  async read(
    bytes: Uint8Array,
    signal?: AbortSignal,
    { first = false, limits = this.#options.limits }: { readonly first?: boolean; readonly limits?: Limits } = {},
  ): Promise<Content> {
    const asked = { bytes, limits, first };
    try {
      return await this.#read({ ...asked, mayBeKilled: true }, signal);
    } catch (error) {
      // Somebody killed the process, or the system did for lack of memory. If that happens again, the file is the
      // cause.
      if (signal?.aborted === true || reasonOf(error) !== KILLED_BY_OTHERS) throw error;
      return this.#read({ ...asked, mayBeKilled: false }, signal);
    }
  }

  /** `mayBeKilled`: if others kill the process, rejects with that error instead of a fault of the file. */
  #read({ bytes, limits, first, mayBeKilled }: FileAsked<Limits>, signal: AbortSignal | undefined): Promise<Content> {
    return this.#pool.use(
      async (host) => {
        await host.call('ready', null, { msMax: READY_MS_MAX, ...(signal === undefined ? {} : { signal }) });
        signal?.throwIfAborted();
        const answer = await this.#ask(host, { bytes, limits, mayBeKilled }, signal);
        if ('fault' in answer) throw this.#options.asError(answer.fault, answer.message);
        return answer;
      },
      signal,
      { first },
    );
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #ask(
    host: Host<FileProtocol<Content, Limits, Fault>>,
    { mayBeKilled, ...asked }: Omit<FileAsked<Limits>, 'first'>,
    signal: AbortSignal | undefined,
  ) {
    const { noun, graceMs = 0 } = this.#options;
    const msMax = asked.limits.msMax + graceMs;
    // The process receives no messages while it reads.
    const stop = () => {
      host.kill(`was killed because nobody wants its ${noun} any more`);
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const clockMsMax = process.platform === 'linux' ? CLOCK_BY_PROCESSOR_MAX * msMax : msMax;
      return await host.call('read', asked, { msMax: clockMsMax, processorMsMax: msMax });
    } catch (error) {
      signal?.throwIfAborted();
      if (mayBeKilled && reasonOf(error) === KILLED_BY_OTHERS) throw error;
      throw this.#asFault(error, asked.limits);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * Converts the error of a call to a fault of the file. The process was ready before the call, so the file caused its
   * death.
   */
  #asFault(error: unknown, { msMax }: Limits): unknown {
    const { noun, host, asError } = this.#options;
    if (error instanceof CallTimedOutError) return asError('timed-out', `The ${noun} could not be read in ${msMax} ms`);
    if (!(error instanceof ServiceError) || error.code !== 'internal-error') return error;
    const reason = reasonOf(error);
    const limit = `the ${host.memoryMibMax} MiB that one may have (${host.name}.memory_mib_max)`;
    return TOO_MUCH_MEMORY.test(reason)
      ? asError('too-large', `Reading the ${noun} takes more memory than ${limit}`)
      : asError('damaged', `Reading the ${noun} ended the process that read it`);
  }
}

/** Returns why a process ended during a call; '' for other errors. */
function reasonOf(error: unknown): string {
  return error instanceof ServiceError && error.cause instanceof Error ? error.cause.message : '';
}
