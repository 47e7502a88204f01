/** Closes the open parts of a service in the opposite order, and gives up on a part that does not close in time. */
import type { ServiceLogger } from './platform/index.js';
import { systemTimers, type Timers } from './platform/work/index.js';

/**
 * Limit of processor time for closing one part, such as a running merge, threads or files. Measured in processor time
 * of the process, because a machine that is busy with something else is no reason to give up.
 */
export const CLOSE_PROCESSOR_MS_MAX = 5000;
/** Limit of wall time for closing one part that waits, for instance for a disk, without using the processor. */
export const CLOSE_MS_MAX = 60_000;
const LOOK_MS = 100;

export interface OpenPartsOptions {
  readonly log: Pick<ServiceLogger, 'debug' | 'warn' | 'error' | 'drain'>;
  /** Default: the timers of the system. */
  readonly timers?: Timers;
  /** Returns the processor time that the process has used so far, in milliseconds. */
  readonly processorMs?: () => number;
  /** Ends the process even if threads are still running. */
  readonly exit: (status: number) => void;
}

export class OpenParts {
  readonly #open: { readonly name: string; readonly close: () => Promise<void> | void }[] = [];
  readonly #options: Required<OpenPartsOptions>;

  constructor({ log, timers = systemTimers, processorMs = processorMsOfProcess, exit }: OpenPartsOptions) {
    this.#options = { log, timers, processorMs, exit };
  }

  opened(name: string, close: () => Promise<void> | void): void {
    this.#open.push({ name, close });
  }

  /**
   * Closes all parts. A part that fails to close is logged. With `exitWhenStuck`, a part that exceeds the limits ends
   * the process: that loses nothing, since a commit is either on disk or has not happened.
   */
  async close(exitWhenStuck: boolean): Promise<void> {
    const { log } = this.#options;
    for (let part = this.#open.pop(); part !== undefined; part = this.#open.pop()) {
      const { name, close } = part;
      // HTTP has its own time limit.
      const stopWatching = exitWhenStuck && name !== 'HTTP' ? this.#watch(name) : undefined;
      const begin = performance.now();
      try {
        await close();
        log.debug({ part: name, ms: Math.round(performance.now() - begin) }, 'Closed');
      } catch (error) {
        log.error({ err: error }, `Closing failed (${name})`);
      }
      stopWatching?.();
    }
    await log.drain();
  }

  #watch(name: string): () => void {
    const { log, timers, processorMs, exit } = this.#options;
    const [beganMs, takenMs] = [timers.nowMs(), processorMs()];
    let cancel: () => void;
    const look = (): void => {
      const [ms, ofProcessorMs] = [timers.nowMs() - beganMs, processorMs() - takenMs];
      if (ofProcessorMs < CLOSE_PROCESSOR_MS_MAX && ms < CLOSE_MS_MAX) {
        cancel = timers.after(LOOK_MS, look);
        return;
      }
      const taken = `${Math.round(ms / 1000)} s, ${Math.round(ofProcessorMs / 1000)} of a processor`;
      log.warn(`Gave up closing (${name}) after ${taken}`);
      void log.drain().then(() => {
        exit(0);
      });
    };
    cancel = timers.after(LOOK_MS, look);
    return () => {
      cancel();
    };
  }
}

function processorMsOfProcess(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

interface Closable {
  close(): Promise<void>;
}

/** Returns a part that is created on first use; closing it before does nothing. */
export function lazily<Part extends Closable>(create: () => Part): Closable & { get(): Part } {
  let part: Part | undefined;
  return {
    get: () => (part ??= create()),
    close: async () => {
      await part?.close();
    },
  };
}
