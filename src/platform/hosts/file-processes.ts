/**
 * Reads files of others in processes of their own, as many at a time as it may; the others wait. A process that takes too long or too
 * much memory is killed, and its file is told as such: what one file does to its reader concerns no other. Main thread only.
 */
import { ServiceError } from '../errors.js';
import { createChildProcess, type ChildProcessOptions } from './child-process.js';
import { CallTimedOutError, type Host } from './host.js';
import { HostPool } from './host-pool.js';

/** To come up, on a busy machine. */
const READY_MS_MAX = 60_000;
/** A process that gets so small a share of the processors by the clock will not get more: its file is given up. */
const CLOCK_BY_PROCESSOR_MAX = 20;
const TOO_MUCH_MEMORY = /took more than \d+ MiB/;
/** What the service kills is told otherwise. */
const KILLED_BY_OTHERS = 'The process ended with SIGKILL';

/** What is asked of a process that reads files: what is in one within limits, or why that cannot be said. */
export interface FileProtocol<Content, Limits, Fault extends string> {
  readonly questions: {
    /** Answered as soon as files can be read. */
    readonly ready: { readonly ask: null; readonly answer: null };
    readonly read: {
      readonly ask: { readonly bytes: Uint8Array; readonly limits: Limits };
      readonly answer: Content | { readonly fault: Fault; readonly message: string };
    };
  };
  readonly notices: Record<never, never>;
  readonly events: Record<never, never>;
}

/** What is said of a file that did to its process what none may. */
type DeadlyFault = 'timed-out' | 'too-large' | 'damaged';

interface TimeLimit {
  /** Of a processor where the system tells that of a process, as Linux does; else by the clock. */
  readonly msMax: number;
}

/** What readers of all kinds of files are told by whoever has them. */
export interface FileReaderOptions<Limits> {
  readonly processes: number;
  /** Resident memory of each. */
  readonly memoryMibMax: number;
  readonly limits: Limits;
  /** A process that ended by itself or was killed; its files are told elsewhere. */
  readonly onDeath: (error: Error) => void;
  /** An error of the program in a process, and where. */
  readonly onBug: (stack: string) => void;
}

export interface FileProcessesOptions<Content, Limits, Fault extends string> {
  /** What a file is called in messages: `document`. */
  readonly noun: string;
  readonly processes: number;
  readonly limits: Limits;
  /** After `limits.msMax`, by when the process should have ended by itself what it reads. Default 0. */
  readonly graceMs?: number;
  /** Its name is that of the section of settings whose `memory_mib_max` it has. */
  readonly host: Omit<ChildProcessOptions<FileProtocol<Content, Limits, Fault>>, 'data' | 'onBug'>;
  /** An error of the program in a process, and where. */
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

  /** Files that wait before others. */
  get waitingFirst(): number {
    return this.#pool.waitingFirst;
  }

  /**
   * Rejects with an error of `asError` that says why there is nothing to be read, with a ServiceError where no process could be started or
   * all are closed, and with the signal's reason. `first`: before all that wait without it; `limits`: others than those of most files.
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
      // Somebody ended its process, or the system for want of memory. Where that comes again, it is the file's doing.
      if (signal?.aborted === true || reasonOf(error) !== KILLED_BY_OTHERS) throw error;
      return this.#read({ ...asked, mayBeKilled: false }, signal);
    }
  }

  /** `mayBeKilled`: where something else kills the process, that is told as it is and not as a fault of the file. */
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
    // It hears nothing while it reads.
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

  /** The process was ready before it was asked, so its death is the file's doing. */
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

/** Why a process ended that had something in hand; '' of other errors. */
function reasonOf(error: unknown): string {
  return error instanceof ServiceError && error.cause instanceof Error ? error.cause.message : '';
}
