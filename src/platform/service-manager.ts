/**
 * Tells the service manager that started this process how far it is, by systemd's protocol (sd_notify(3), `Type=notify`): that it
 * starts, serves, stops, and, where the manager watches it, that it still works.
 */
import type { Kernel } from '../../native-bindings/index.js';
import type { ServiceLogger } from './logger.js';
import type { Timers } from './work/index.js';

/** A start or stop that takes long says so before the manager's patience, mostly 90 s, is over, and asks for this much more. */
const MORE_TIME_MS = 60_000;
const MORE_TIME_EVERY_MS = 10_000;
/** The manager takes messages in turn, and may have no room for one at a moment. */
const TRY_AGAIN_MS = 100;

export interface Watched {
  /** Where the manager listens: a path, or a name that begins with @. */
  readonly socket: string;
  /** The manager ends a process that says nothing for so long. Undefined: it does not. */
  readonly watchdogMs: number | undefined;
}

/**
 * What the manager put into the environment, and takes it out: programs that the service starts are not the service. Undefined where no manager
 * asks to be told, or in a way that is not known here.
 */
export function takeServiceManager(env: NodeJS.ProcessEnv, pid = process.pid): Watched | undefined {
  const { NOTIFY_SOCKET: socket, WATCHDOG_USEC: watchdogUs, WATCHDOG_PID: watchdogPid } = env;
  for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) Reflect.deleteProperty(env, name);
  if (socket === undefined || !/^[/@]./s.test(socket)) return undefined;
  const watches = watchdogPid === undefined || watchdogPid === String(pid);
  const watchdogMs = watches && /^[1-9]\d*$/.test(watchdogUs ?? '') ? Number(watchdogUs) / 1000 : undefined;
  return { socket, watchdogMs };
}

export interface ServiceManagerOptions extends Watched {
  readonly kernel: Pick<Kernel, 'notifyServiceManager'>;
  readonly timers: Timers;
  readonly log: Pick<ServiceLogger, 'warn'>;
}

export class ServiceManager {
  readonly #options: ServiceManagerOptions;
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';
  /** What the manager has to hear before anything else. */
  #owed: string | undefined;
  #cancel = (): void => undefined;
  #isGone = false;

  /** The process is starting. */
  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Whoever waits for the service may go on. */
  serving(status: string): void {
    this.#phase = 'serving';
    this.#tell(`READY=1\nSTATUS=${status}`);
  }

  /** The start says nothing for so long at most: the thread that would is at work. */
  takesUpTo(ms: number): void {
    this.#tell(`EXTEND_TIMEOUT_USEC=${Math.round(ms * 1000)}`);
  }

  stopping(): void {
    this.#phase = 'stopping';
    this.#tell('STOPPING=1\nSTATUS=Stopping');
  }

  /** The process ends, or has failed to start. */
  close(): void {
    this.#isGone = true;
    this.#cancel();
  }

  #tell(text: string): void {
    if (this.#isGone) return;
    this.#owed = text;
    this.#cancel();
    this.#send();
    this.#wait();
  }

  #wait(): void {
    const pauseMs = this.#pauseMs();
    if (pauseMs === undefined || this.#isGone) return;
    this.#cancel = this.#options.timers.after(pauseMs, () => {
      this.#send();
      this.#wait();
    });
  }

  #pauseMs(): number | undefined {
    if (this.#owed !== undefined) return TRY_AGAIN_MS;
    const { watchdogMs } = this.#options;
    if (this.#phase !== 'serving') return MORE_TIME_EVERY_MS;
    return watchdogMs === undefined ? undefined : watchdogMs / 2;
  }

  /** What is owed, else that the process lives. */
  #send(): void {
    const { kernel, socket, log } = this.#options;
    const lives = this.#phase === 'serving' ? 'WATCHDOG=1' : `EXTEND_TIMEOUT_USEC=${MORE_TIME_MS * 1000}`;
    try {
      if (kernel.notifyServiceManager(socket, this.#owed ?? lives)) this.#owed = undefined;
    } catch (error) {
      // It serves all the same; and a manager that has gone does not come back to this socket.
      log.warn({ err: error, socket }, 'The service manager cannot be told how far the service is');
      this.close();
    }
  }
}
