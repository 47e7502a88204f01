/**
 * Holds imports back where they are faster than graphs are made: what has none is compared by every search from the first to the last. A
 * batch waits for merges before its turn in the list's queue, so that small writes go on meanwhile; not for ever: where merges fail,
 * there is nothing to merge or it takes too long, it is written all the same. Main thread only.
 */

/** What searches may read of an index for want of graphs: 400,000 vectors of 128 dimensions, which takes about 2 ms. */
const COMPARED_BYTES_MAX = 25_600_000;
/** Whoever stands between a client and the service may take it for dead after a minute. */
const WAIT_MS_MAX = 20_000;

export interface ImportPacingOptions {
  /** What searches read of an index for want of graphs; of the index in which that is most. */
  readonly comparedBytes: () => number;
  /** The piece of work that is under way, which resolves when the next has begun; undefined where there is none, or it is tried again later. */
  readonly building: () => Promise<void> | undefined;
  /** Other limits; a test may have them. */
  readonly limits?: PacingLimits | undefined;
}

export interface PacingLimits {
  readonly comparedBytesMax: number;
  readonly waitMsMax: number;
}

export class ImportPacing {
  private waiting: Promise<void> | undefined;
  private letGo: (() => void) | undefined;
  private isStopped = false;
  private readonly limits: PacingLimits;

  constructor(private readonly options: ImportPacingOptions) {
    this.limits = options.limits ?? { comparedBytesMax: COMPARED_BYTES_MAX, waitMsMax: WAIT_MS_MAX };
  }

  /** Resolves when a batch may take its turn; never rejects. All that wait go on together. */
  room(): Promise<void> {
    this.waiting ??= this.wait().finally(() => {
      this.waiting = undefined;
    });
    return this.waiting;
  }

  /** True where a batch waits. */
  get holdsBack(): boolean {
    return this.letGo !== undefined;
  }

  /** Nothing waits from now on. */
  stop(): void {
    this.isStopped = true;
    this.letGo?.();
  }

  private async wait(): Promise<void> {
    const { comparedBytes, building } = this.options;
    const { comparedBytesMax, waitMsMax } = this.limits;
    const isOver = () => this.isStopped || comparedBytes() <= comparedBytesMax;
    if (isOver() || building() === undefined) return;
    let isLate = false;
    const ended = new Promise<void>((resolve) => {
      this.letGo = resolve;
    });
    const patience = setTimeout(() => {
      isLate = true;
      this.letGo?.();
    }, waitMsMax);
    patience.unref();
    for (let piece = building(); piece !== undefined && !isLate && !isOver(); piece = building())
      await Promise.race([piece, ended]);
    clearTimeout(patience);
    this.letGo = undefined;
  }
}
