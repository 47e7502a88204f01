/**
 * Limits the memory that the lists' stores keep after commits. LMDB keeps the pages that a transaction wrote for the
 * next one of the same environment, as many as the largest transaction had, until the environment is closed. With many
 * lists that are each written once, that would exceed everything else. So the size of a list's batches is limited by
 * the room left for such pages, but never below a minimum. Main thread only.
 */

/** Bytes of pages that LMDB keeps per byte of a batch: records, names, and the freed pages between them. */
const PAGES_A_BATCH_BYTE = 2.4;

export interface StorePagesOptions {
  readonly bytesMax: number;
  readonly batchBytesMin: number;
  readonly batchBytesMax: number;
}

export class StorePages {
  /** Size in bytes of the largest batch of each list, by path. */
  private readonly largest = new Map<string, number>();
  private batchBytes = 0;

  constructor(private readonly options: StorePagesOptions) {}

  /** Returns the maximum size of the next batch of a list. */
  batchBytesMax(listPath: string): number {
    const { bytesMax, batchBytesMin, batchBytesMax } = this.options;
    const room = Math.max(0, bytesMax / PAGES_A_BATCH_BYTE - this.batchBytes);
    const own = this.largest.get(listPath) ?? 0;
    return Math.max(batchBytesMin, Math.min(batchBytesMax, Math.floor(own + room)));
  }

  /** Call it before a batch of that many bytes is committed. */
  written(listPath: string, bytes: number): void {
    const before = this.largest.get(listPath) ?? 0;
    if (bytes <= before) return;
    this.largest.set(listPath, bytes);
    this.batchBytes += bytes - before;
  }

  /** Call it when the list's store is closed. */
  closed(listPath: string): void {
    this.batchBytes -= this.largest.get(listPath) ?? 0;
    this.largest.delete(listPath);
  }

  /** Approximate memory that the stores keep. */
  get bytes(): number {
    return this.batchBytes * PAGES_A_BATCH_BYTE;
  }
}
