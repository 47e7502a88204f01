/**
 * Memory that the lists' stores keep after a commit. LMDB keeps the pages that a transaction wrote for the next one of the same
 * environment, as many as the largest had, until the environment is closed: with many lists, each written to once, that is more than
 * all the rest. So each list may have batches as large as there is room for what they leave, and no smaller than a least size.
 * Main thread only.
 */

/** Pages of records, names and the freed ones between them, by the bytes of a batch. */
const PAGES_A_BATCH_BYTE = 2.4;

export interface StorePagesOptions {
  readonly bytesMax: number;
  readonly batchBytesMin: number;
  readonly batchBytesMax: number;
}

export class StorePages {
  /** Bytes of the largest batch, by the list's path. */
  private readonly largest = new Map<string, number>();
  private batchBytes = 0;

  constructor(private readonly options: StorePagesOptions) {}

  /** How large the next batch of a list may be. */
  batchBytesMax(listPath: string): number {
    const { bytesMax, batchBytesMin, batchBytesMax } = this.options;
    const room = Math.max(0, bytesMax / PAGES_A_BATCH_BYTE - this.batchBytes);
    const own = this.largest.get(listPath) ?? 0;
    return Math.max(batchBytesMin, Math.min(batchBytesMax, Math.floor(own + room)));
  }

  /** A batch of so many bytes is to be committed. */
  written(listPath: string, bytes: number): void {
    const before = this.largest.get(listPath) ?? 0;
    if (bytes <= before) return;
    this.largest.set(listPath, bytes);
    this.batchBytes += bytes - before;
  }

  /** The list's store is closed. */
  closed(listPath: string): void {
    this.batchBytes -= this.largest.get(listPath) ?? 0;
    this.largest.delete(listPath);
  }

  /** What the stores keep, about. */
  get bytes(): number {
    return this.batchBytes * PAGES_A_BATCH_BYTE;
  }
}
