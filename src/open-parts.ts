/** What a service has open, closed in the opposite order, with an end to the patience for a part that does not. */
import type { ServiceLogger } from './platform/index.js';
import { systemTimers, type Timers } from './platform/work/index.js';

/**
 * For what has to be closed once the requests are answered: merges that run, threads, files. It is counted in what the process takes of the
 * processors, for a machine that is busy with something else is no reason to give up.
 */
export const CLOSE_PROCESSOR_MS_MAX = 5000;
/** And for what takes none and waits: for a disk, or for nothing. */
export const CLOSE_MS_MAX = 60_000;
const LOOK_MS = 100;

export interface OpenPartsOptions {
  readonly log: Pick<ServiceLogger, 'debug' | 'warn' | 'error' | 'drain'>;
  /** Default: those of the system. */
  readonly timers?: Timers;
  /** What the process has taken of the processors so far, in milliseconds. */
  readonly processorMs?: () => number;
  /** Ends the process, though threads are at work. */
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

  /** A part that fails to close is logged. With `exitWhenStuck`, one that does not end ends the process: a commit is on disk or is not. */
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
      log.warn(`Closing (${name}) took ${taken}, and is given up`);
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

/** Made at its first use; closing what was never used does nothing. */
export function lazily<Part extends Closable>(create: () => Part): Closable & { get(): Part } {
  let part: Part | undefined;
  return {
    get: () => (part ??= create()),
    close: async () => {
      await part?.close();
    },
  };
}
