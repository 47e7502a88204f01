/**
 * Keeps the service's own memory within its budget while it works. The shares of the budget are what each part is
 * designed for (memory-budget.ts); this file acts on what is measured. Near the limit, memory that the allocator keeps
 * after it was freed is returned to the system, and new work that needs memory waits until there is room, or until no
 * other work is in progress, since waiting would then change nothing. Main thread only.
 */
import type { Kernel } from '../../native-bindings/index.js';
import { pageBytes, procSelf } from './proc-self.js';

/** Interval between two checks while work waits: the duration of a small batch. */
const CHECK_INTERVAL_MS = 50;
/**
 * Delay between the end of what held memory outside of work, such as an upload, and the check: many that end together
 * share one.
 */
const LET_GO_MS = 250;
/** Interval between two checks for a shortage. */
const SHORTAGE_LOOK_MS = 2000;
/**
 * Number of shortage checks without a release after a release that did not suffice: a release stops the main thread for
 * some 50 ms if arenas have half a gigabyte.
 */
const LOOKS_WITHOUT_RELEASE = 15;
/** Share of the budget beyond which no new work begins. The rest is for work in progress. */
const HIGH_WATER = 0.85;
const RESIDENT_FIELD = 1;
const SHARED_FIELD = 2;

/**
 * Bytes of resident memory that belong to no file; undefined if the system does not report it (other than Linux), or no
 * file descriptor is left.
 */
export function residentOwnBytes(): number | undefined {
  const fields = statm();
  return fields && Math.max(0, Number(fields[RESIDENT_FIELD]) - Number(fields[SHARED_FIELD])) * pageBytes();
}

/** Bytes of resident file pages; undefined as above. */
export function residentFileBytes(): number | undefined {
  const fields = statm();
  return fields && Number(fields[SHARED_FIELD]) * pageBytes();
}

/** Fields of `/proc/self/statm`, in pages. */
function statm(): readonly string[] | undefined {
  try {
    return procSelf('statm')?.toString('latin1').split(' ');
  } catch {
    return undefined;
  }
}

export interface OwnMemoryOptions {
  readonly budgetBytes: number;
  readonly releaseFreeMemory: Kernel['releaseFreeMemory'];
  /** Returns the bytes in use; replaceable for tests. */
  readonly measure?: () => number | undefined;
}

export class OwnMemory {
  readonly #budgetBytes: number;
  readonly #highWaterBytes: number;
  readonly #release: () => void;
  readonly #measure: () => number | undefined;
  readonly #waiting: (() => void)[] = [];
  readonly #looks: NodeJS.Timeout[] = [];
  #atWork = 0;
  #timer: NodeJS.Timeout | undefined;
  #letGoTimer: NodeJS.Timeout | undefined;

  constructor({ budgetBytes, releaseFreeMemory, measure = residentOwnBytes }: OwnMemoryOptions) {
    this.#budgetBytes = budgetBytes;
    this.#highWaterBytes = budgetBytes * HIGH_WATER;
    this.#release = releaseFreeMemory;
    this.#measure = measure;
  }

  /** Number of actions that wait for memory. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs the action when there is memory for it, in order of arrival. */
  async run<Result>(action: () => Promise<Result>): Promise<Result> {
    if (this.#waiting.length > 0 || !this.#mayBegin()) {
      await new Promise<void>((begin) => {
        this.#waiting.push(begin);
        this.#watch();
      });
    } else {
      this.#atWork += 1;
    }
    try {
      return await action();
    } finally {
      this.#atWork -= 1;
      this.#admit();
    }
  }

  /**
   * To be called when memory that was held outside of work is freed. Otherwise the allocator would keep it until there
   * is work: 150 MB after 1,000 simultaneous uploads over Node.js's own web server.
   */
  letGo(): void {
    if (this.#letGoTimer !== undefined) return;
    this.#letGoTimer = setTimeout(() => {
      this.#letGoTimer = undefined;
      if (this.#isHigh()) this.#release();
    }, LET_GO_MS).unref();
  }

  /**
   * Calls `tell(true)` repeatedly while more memory is used than the budget has, even after the allocator has returned
   * what it keeps, so that a cache, for instance, can shrink. Calls `tell(false)` while there is room for new work.
   */
  tellOfShortage(tell: (isShort: boolean) => void): void {
    let looksWithoutRelease = 0;
    const look = () => {
      if (!this.#isHigh()) {
        looksWithoutRelease = 0;
        tell(false);
      } else if (this.#isShort()) {
        if (looksWithoutRelease > 0) looksWithoutRelease -= 1;
        else {
          this.#release();
          if (!this.#isShort()) return;
          looksWithoutRelease = LOOKS_WITHOUT_RELEASE;
        }
        tell(true);
      }
    };
    this.#looks.push(setInterval(look, SHORTAGE_LOOK_MS).unref());
  }

  /** Ends the calls of `tellOfShortage`. */
  stop(): void {
    for (const timer of this.#looks.splice(0)) clearInterval(timer);
  }

  #mayBegin(): boolean {
    if (this.#atWork === 0) return true;
    if (!this.#isHigh()) return true;
    this.#release();
    return !this.#isHigh();
  }

  #isShort(): boolean {
    return (this.#measure() ?? 0) > this.#budgetBytes;
  }

  #isHigh(): boolean {
    return (this.#measure() ?? 0) > this.#highWaterBytes;
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#mayBegin()) {
      this.#atWork += 1;
      this.#waiting.shift()?.();
    }
  }

  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#admit();
      if (this.#waiting.length > 0) this.#watch();
    }, CHECK_INTERVAL_MS);
    this.#timer.unref();
  }
}
