/**
 * A worker, seen from the main thread: started when it is first needed, asked questions, sent notices, replaced when it
 * dies. Threads and child processes have this same interface (`worker-thread.ts`, `child-process.ts`); `Vessel` hides
 * the differences.
 *
 * If a worker dies, its calls in flight are rejected with `internal-error`; what must not be lost has to be on disk
 * before it is sent. A worker that dies repeatedly is restarted by itself after growing delays; a question starts it at
 * once. Main thread only.
 */
import { ServiceError } from '../errors.js';
import { afterOwnTime } from '../own-time.js';
import { asResourceError } from '../process-room.js';
import { asProgramError } from '../program.js';
import type {
  Answer,
  Ask,
  FromWorker,
  NoticeName,
  Protocol,
  ProtocolEvent,
  QuestionName,
  ToWorker,
} from './protocol.js';
import { INTERNAL_ERROR_DETAIL, stackOf, valueOf, type WorkerReply } from './reply.js';

const RESTART_MS_FIRST = 500;
const RESTART_MS_MAX = 60_000;
/** A worker that lived this long was healthy: after its death, the next one is started without delay. */
const HEALTHY_MS = 60_000;
const CLOSE_MS_MAX = 4000;
const PROCESSOR_LOOKED_AT_MS = 50;

export interface HostOptions<P extends Protocol> {
  /** Name in logs and metrics. */
  readonly name: string;
  /** Path of the compiled entry file, which calls `serveHost`. */
  readonly entry: string;
  /** Passed to the entry when it starts. */
  readonly data: unknown;
  /** Limit of the JavaScript heap in MiB; a worker that exceeds it dies. */
  readonly heapMibMax: number;
  /** 0 to 19: by how much it yields to searches on a busy processor. */
  readonly niceness: number;
  readonly onEvent?: (...event: ProtocolEvent<P>) => void;
  /** Called for each new worker before other messages are sent to it. */
  readonly onStart?: (host: Host<P>) => void;
  readonly onDeath: (error: Error) => void;
  /** Called with the stack of an unexpected error behind an answer or, for the question `close`, behind its end. */
  readonly onBug: (question: string, stack: string) => void;
  /**
   * The worker ends after so long without a question, and the next question starts another. Only for workers without
   * exclusive resources, since both may run at the same time for a while.
   */
  readonly idleMsMax?: number | undefined;
  /** If it returns true, a worker that died is restarted by itself; otherwise by the next question or notice. */
  readonly isKeptAlive?: () => boolean;
}

export interface CallOptions {
  /** Aborting it rejects the call with the signal's reason and tells the worker. */
  readonly signal?: AbortSignal;
  /**
   * After so long, the call is rejected with a CallTimedOutError, and a child process is killed. A standstill of this
   * process does not count: the worker may have answered meanwhile.
   */
  readonly msMax?: number;
  /**
   * The same limit for the worker's processor time since the call, if the worker reports it: on a busy machine, work
   * takes longer by the clock.
   */
  readonly processorMsMax?: number;
}

/** The call took longer than it may. */
export class CallTimedOutError extends Error {
  override readonly name = 'CallTimedOutError';
}

/** A running thread or process. */
export interface Vessel {
  say(message: ToWorker): void;
  /** Ends it at once, whatever it is doing. */
  kill(): void;
  /** Processor time since its start; undefined if the system does not report it. */
  processorMs?(): number | undefined;
}

export interface VesselEvents {
  readonly onMessage: (message: FromWorker) => void;
  readonly onExit: (error: Error | undefined) => void;
}

interface Pending {
  readonly name: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly settled: () => void;
}

export class Host<P extends Protocol> {
  readonly #options: HostOptions<P>;
  readonly #launch: (events: VesselEvents) => Vessel;
  readonly #killsLateCalls: boolean;
  readonly #pending = new Map<number, Pending>();
  #vessel: Vessel | undefined;
  #startedMs = 0;
  #restartMs = 0;
  #restart: NodeJS.Timeout | undefined;
  #nextNumber = 1;
  #closing: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Workers that are ending because they were idle. */
  readonly #leaving = new Set<Promise<void>>();
  readonly #ending = new Map<Vessel, (error: Error | undefined) => void>();

  constructor(
    options: HostOptions<P>,
    { launch, killsLateCalls }: { launch: (events: VesselEvents) => Vessel; killsLateCalls: boolean },
  ) {
    this.#options = options;
    this.#launch = launch;
    this.#killsLateCalls = killsLateCalls;
  }

  get isRunning(): boolean {
    return this.#vessel !== undefined;
  }

  /** Number of questions that wait for answers. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Asks the worker. Rejects with the worker's ServiceError, `internal-error` if it died, `shutting-down` after
   * `close`, a CallTimedOutError, or the signal's reason.
   */
  call<Name extends QuestionName<P>>(
    name: Name,
    ask: Ask<P, Name>,
    { signal, msMax, processorMsMax }: CallOptions = {},
  ): Promise<Answer<P, Name>> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) throw signal.reason as Error;
      const vessel = this.#started();
      const number = this.#nextNumber++;
      const give = (error: unknown) => {
        this.#giveUp(number, error);
      };
      const onAbort = () => {
        give(signal?.reason);
      };
      const callOff = msMax === undefined ? undefined : afterOwnTime(msMax, () => this.#late(number, `${msMax} ms`));
      const watch = processorMsMax === undefined ? undefined : this.#watchProcessor(vessel, number, processorMsMax);
      signal?.addEventListener('abort', onAbort, { once: true });
      const settled = () => {
        callOff?.();
        clearInterval(watch);
        signal?.removeEventListener('abort', onAbort);
        this.#watchIdleness();
      };
      clearTimeout(this.#idle);
      this.#pending.set(number, { name, resolve, reject, settled });
      vessel.say({ kind: 'question', number, name, ask });
    });
  }

  /** Sends a notice, starting the worker if it does not run. */
  notify<Name extends NoticeName<P>>(name: Name, content: P['notices'][Name]): void {
    this.#started().say({ kind: 'notice', name, content });
  }

  /** Sends a notice if the worker runs; otherwise does nothing. */
  notifyIfRunning<Name extends NoticeName<P>>(name: Name, content: P['notices'][Name]): void {
    this.#vessel?.say({ kind: 'notice', name, content });
  }

  /** Starts the worker if it does not run. Throws `shutting-down` after `close`. */
  start(): void {
    this.#started();
  }

  /** Ends the worker at once, as if it had died. Later questions go to a new one. */
  kill(reason = 'was killed'): void {
    const vessel = this.#vessel;
    if (vessel === undefined) return;
    vessel.kill();
    this.#ended(new Error(`The worker ${this.#options.name} ${reason}`));
  }

  /** Lets the worker finish its work and end; kills it if that takes too long. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart);
    clearTimeout(this.#idle);
    if (this.#vessel !== undefined) await this.#letEnd(this.#vessel);
    await Promise.all(this.#leaving);
  }

  async #letEnd(vessel: Vessel): Promise<void> {
    const ended = new Promise<Error | undefined>((resolve) => this.#ending.set(vessel, resolve));
    vessel.say({ kind: 'close' });
    let late: Error | undefined;
    const timer = setTimeout(() => {
      late = new Error(`The worker ${this.#options.name} did not end within ${CLOSE_MS_MAX} ms and was killed`);
      vessel.kill();
    }, CLOSE_MS_MAX);
    const error = await ended;
    clearTimeout(timer);
    const failure = late ?? error;
    if (failure !== undefined) this.#options.onBug('close', stackOf(failure));
  }

  #watchIdleness(): void {
    const { idleMsMax } = this.#options;
    if (idleMsMax === undefined || this.#pending.size > 0 || this.#closing !== undefined) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      this.#leave();
    }, idleMsMax);
    this.#idle.unref();
  }

  #leave(): void {
    const vessel = this.#vessel;
    if (vessel === undefined || this.#pending.size > 0) return;
    this.#vessel = undefined;
    const left = this.#letEnd(vessel).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  #started(): Vessel {
    if (this.#closing !== undefined)
      throw new ServiceError('shutting-down', 'The service is stopping; try again soon.');
    if (this.#vessel !== undefined) return this.#vessel;
    clearTimeout(this.#restart);
    const vessel = this.#launched({
      onMessage: (message) => {
        this.#hear(message);
      },
      onExit: (error) => {
        this.#ending.get(vessel)?.(error);
        this.#ending.delete(vessel);
        if (this.#vessel === vessel) this.#ended(error);
      },
    });
    this.#vessel = vessel;
    this.#startedMs = performance.now();
    this.#options.onStart?.(this);
    return vessel;
  }

  /**
   * Launches a worker. If the system refuses, reports its end in a microtask, after the caller has registered its
   * question; a restart by itself has no caller to throw to.
   */
  #launched(events: VesselEvents): Vessel {
    try {
      return this.#launch(events);
    } catch (error) {
      queueMicrotask(() => {
        events.onExit(error instanceof Error ? error : new Error(String(error)));
      });
      return { say: () => undefined, kill: () => undefined };
    }
  }

  #hear(message: FromWorker): void {
    if (message.kind === 'event') {
      this.#options.onEvent?.(...([message.name, message.content] as unknown as ProtocolEvent<P>));
      return;
    }
    if (message.kind === 'unclosed') {
      this.#options.onBug('close', message.stack);
      return;
    }
    const pending = this.#take(message.number);
    if (pending !== undefined) this.#settle(pending, message.reply);
  }

  #settle({ name, resolve, reject }: Pending, reply: WorkerReply<unknown>): void {
    try {
      resolve(valueOf(reply, (stack) => this.#options.onBug(name, stack)));
    } catch (error) {
      reject(error);
    }
  }

  #take(number: number): Pending | undefined {
    const pending = this.#pending.get(number);
    this.#pending.delete(number);
    pending?.settled();
    return pending;
  }

  #giveUp(number: number, reason: unknown): void {
    this.#take(number)?.reject(reason);
    this.#vessel?.say({ kind: 'cancel', number });
  }

  #watchProcessor(vessel: Vessel, number: number, msMax: number): NodeJS.Timeout | undefined {
    const before = vessel.processorMs?.();
    if (before === undefined) return undefined;
    return setInterval(() => {
      const spent = (vessel.processorMs?.() ?? before) - before;
      if (spent > msMax) this.#late(number, `${msMax} ms of a processor`);
    }, PROCESSOR_LOOKED_AT_MS);
  }

  #late(number: number, time: string): void {
    const name = this.#pending.get(number)?.name ?? '';
    this.#giveUp(number, new CallTimedOutError(`${this.#options.name} did not answer '${name}' within ${time}`));
    // A process may be in code that receives no messages. Its other calls are lost with it and may be repeated.
    if (this.#killsLateCalls) this.kill('was killed because it took too long');
  }

  #ended(error: Error | undefined): void {
    this.#vessel = undefined;
    for (const number of [...this.#pending.keys()]) {
      this.#take(number)?.reject(reasonOfDeath(error));
    }
    if (this.#closing !== undefined) return;
    this.#options.onDeath(error ?? new Error(`The worker ${this.#options.name} ended by itself`));
    const lived = performance.now() - this.#startedMs;
    this.#restartMs =
      lived > HEALTHY_MS ? 0 : Math.min(Math.max(this.#restartMs * 2, RESTART_MS_FIRST), RESTART_MS_MAX);
    if (this.#options.isKeptAlive?.() !== true) return;
    this.#restart = setTimeout(() => {
      if (this.#closing === undefined && this.#options.isKeptAlive?.() === true) this.#started();
    }, this.#restartMs);
    this.#restart.unref();
  }
}

/**
 * Returns the error for the calls of a worker that died. A full or unreadable disk may keep a worker from starting: its
 * ServiceError arrives as a plain error with the same members. A limit of the process or a replaced program is reported
 * as such, too.
 */
function reasonOfDeath(error: Error | undefined): ServiceError {
  const known = asProgramError(asResourceError(error));
  if (known instanceof ServiceError) return known;
  const { code, detail } = (error ?? {}) as Partial<Pick<ServiceError, 'code' | 'detail'>>;
  const isOfStorage = code === 'storage-full' || code === 'storage-failed' || code === 'not-ready';
  return isOfStorage && detail !== undefined
    ? new ServiceError(code, detail, { cause: error })
    : new ServiceError('internal-error', INTERNAL_ERROR_DETAIL, { cause: error });
}
