/**
 * Holds back imports that are faster than the building of graphs, because every search compares all vectors without a
 * graph. A batch waits for merges before its turn in the list's queue, so that small writes continue meanwhile. It is
 * written all the same if merges fail, there is nothing to merge or it takes too long. Main thread only.
 */

/**
 * Bytes of vectors without a graph that searches may read: 400,000 vectors of 128 dimensions, which takes about 2 ms.
 */
const COMPARED_BYTES_MAX = 25_600_000;
/** A proxy between client and service may consider the connection dead after a minute. */
const WAIT_MS_MAX = 20_000;

export interface ImportPacingOptions {
  /** Bytes of vectors without a graph that searches read; that of the index with the most. */
  readonly comparedBytes: () => number;
  /**
   * The task in progress, which resolves when the next one has begun; undefined if there is none, or it is to be
   * retried later.
   */
  readonly building: () => Promise<void> | undefined;
  /** Other limits, for tests. */
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

  /** Resolves when a batch may take its turn. Never rejects. All waiting batches continue together. */
  room(): Promise<void> {
    this.waiting ??= this.wait().finally(() => {
      this.waiting = undefined;
    });
    return this.waiting;
  }

  /** True if a batch is waiting. */
  get holdsBack(): boolean {
    return this.letGo !== undefined;
  }

  /** Lets all batches continue from now on. */
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
