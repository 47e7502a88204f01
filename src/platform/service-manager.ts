/**
 * Notifies the service manager that started this process, by systemd's protocol (sd_notify(3), `Type=notify`), that it
 * is starting, serving or stopping, and, if the manager has a watchdog, that it still works.
 */
import type { Kernel } from '../../native-bindings/index.js';
import type { ServiceLogger } from './logger.js';
import type { Timers } from './work/index.js';

/** A slow start or stop repeatedly asks for this much more time before the manager's timeout, mostly 90 s, ends. */
const MORE_TIME_MS = 60_000;
const MORE_TIME_EVERY_MS = 10_000;
/** Delay before a message is sent again: the manager handles messages in turn, and its queue may be full. */
const TRY_AGAIN_MS = 100;

export interface Watched {
  /** Socket of the manager: a path, or an abstract name that begins with @. */
  readonly socket: string;
  /** The manager ends a process that sends nothing for so long. Undefined: it does not. */
  readonly watchdogMs: number | undefined;
}

/**
 * Reads the manager's variables and removes them from the environment, since programs that the service starts are not
 * the service. Returns undefined if no manager wants to be notified, or in an unknown way.
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
  /** The message to be sent before anything else. */
  #owed: string | undefined;
  #cancel = (): void => undefined;
  #isGone = false;

  /** Begins in the phase of starting. */
  constructor(options: ServiceManagerOptions) {
    this.#options = options;
    this.#wait();
  }

  /** Reports that the service is ready. */
  serving(status: string): void {
    this.#phase = 'serving';
    this.#tell(`READY=1\nSTATUS=${status}`);
  }

  /** Reports that the start may be silent for so long, since the thread that sends messages is busy. */
  takesUpTo(ms: number): void {
    this.#tell(`EXTEND_TIMEOUT_USEC=${Math.round(ms * 1000)}`);
  }

  stopping(): void {
    this.#phase = 'stopping';
    this.#tell('STOPPING=1\nSTATUS=Stopping');
  }

  /** Stops sending: the process ends, or has failed to start. */
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

  /** Sends the pending message, or else a sign of life. */
  #send(): void {
    const { kernel, socket, log } = this.#options;
    const lives = this.#phase === 'serving' ? 'WATCHDOG=1' : `EXTEND_TIMEOUT_USEC=${MORE_TIME_MS * 1000}`;
    try {
      if (kernel.notifyServiceManager(socket, this.#owed ?? lives)) this.#owed = undefined;
    } catch (error) {
      // The service works without it; and a manager that is gone does not return to this socket.
      log.warn({ err: error, socket }, 'Could not report the state of the service to the service manager');
      this.close();
    }
  }
}
