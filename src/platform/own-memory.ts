/**
 * Keeps the service's own memory within its budget while it works. The shares of the budget are what each part is made for
 * (memory-budget.ts); this is what is measured: near the limit, what the allocator keeps of freed memory is given back, and new
 * work that needs memory waits until there is room, or until none is under way, when waiting would change nothing.
 * Main thread only.
 */
import type { Kernel } from '../../native-bindings/index.js';
import { pageBytes, procSelf } from './proc-self.js';

/** Between two looks while work is under way: as long as a small batch takes. */
const CHECK_INTERVAL_MS = 50;
/** From the end of what held memory beside work, such as an upload, to the look at what is left of it: many that end together are one. */
const LET_GO_MS = 250;
/** Between two looks at whether more is taken than there is. */
const SHORTAGE_LOOK_MS = 2000;
/** So many looks pass by without giving back, once that was not enough: it stops the main thread for some 50 ms where arenas have half a gigabyte. */
const LOOKS_WITHOUT_RELEASE = 15;
/** Beyond this part of the budget no new work begins. The rest is for what is under way. */
const HIGH_WATER = 0.85;
const RESIDENT_FIELD = 1;
const SHARED_FIELD = 2;

/** Bytes of resident memory that belong to no file; undefined where the system does not tell (other than Linux), or nothing can be opened. */
export function residentOwnBytes(): number | undefined {
  const fields = statm();
  return fields && Math.max(0, Number(fields[RESIDENT_FIELD]) - Number(fields[SHARED_FIELD])) * pageBytes();
}

/** Bytes of resident file pages; undefined as above. */
export function residentFileBytes(): number | undefined {
  const fields = statm();
  return fields && Number(fields[SHARED_FIELD]) * pageBytes();
}

/** Counts of pages. */
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
  /** Bytes in use now; for tests. */
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

  /** Work that waits for memory. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs the action when there is memory for it; the first to come begins first. */
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
   * Told by what held memory beside work and holds it no more. What the allocator keeps of it would stay until there is work: 1,000 uploads at
   * once over Node.js's own web server leave it 150 MB.
   */
  letGo(): void {
    if (this.#letGoTimer !== undefined) return;
    this.#letGoTimer = setTimeout(() => {
      this.#letGoTimer = undefined;
      if (this.#isHigh()) this.#release();
    }, LET_GO_MS).unref();
  }

  /**
   * Tells what can do with less, such as a cache, every so often that more is taken than the budget has, first once what the allocator keeps was given
   * back; and that it is over, while there is room for new work.
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

  /** Nobody is told any more. */
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
