/**
 * Gathers outcomes of attempts, so that one transaction writes many. What it holds when the process dies is attempted
 * once more. A failed transaction (such as on a full disk) is retried; nothing is lost meanwhile, and lanes stop by
 * themselves when they hold too much. One thread only.
 */
import type { Timers } from './timers.js';
import type { Settlement, WorkTypes } from './work-kind.js';

const GATHER_MS = 20;
const GATHERED_MAX = 500;
const RETRY_MS = 1000;

export interface SettlementBufferOptions<T extends WorkTypes> {
  readonly timers: Timers;
  readonly write: (settlements: readonly Settlement<T>[]) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

interface Waiting<T extends WorkTypes> {
  readonly settlement: Settlement<T>;
  readonly onSettled: () => void;
}

export class SettlementBuffer<T extends WorkTypes> {
  private waiting: Waiting<T>[] = [];
  private cancelTimer: (() => void) | undefined;
  private closed = false;
  private writing: Promise<void> | undefined;

  constructor(private readonly options: SettlementBufferOptions<T>) {}

  push(settlement: Settlement<T>, onSettled: () => void): void {
    this.waiting.push({ settlement, onSettled });
    if (this.waiting.length >= GATHERED_MAX) void this.flush();
    else this.flushIn(GATHER_MS);
  }

  /** True if all that was pushed is on disk. */
  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.writing === undefined;
  }

  /** Resolves when everything pushed so far is on disk, or the transaction has failed. */
  async flush(): Promise<void> {
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    while (this.writing !== undefined) await this.writing;
    if (this.waiting.length === 0) return;
    this.writing = this.write().finally(() => {
      this.writing = undefined;
    });
    await this.writing;
  }

  private flushIn(ms: number): void {
    if (this.closed || this.cancelTimer !== undefined) return;
    this.cancelTimer = this.options.timers.after(ms, () => void this.flush());
  }

  /** Tries once more to write what is there; what cannot be written is attempted again after the next start. */
  close(): Promise<void> {
    this.closed = true;
    return this.flush();
  }

  /** Never rejects. */
  private async write(): Promise<void> {
    const batch = this.waiting;
    this.waiting = [];
    try {
      await this.options.write(batch.map(({ settlement }) => settlement));
    } catch (error) {
      // Before outcomes that came meanwhile: the second outcome of an item builds on its first.
      this.waiting = [...batch, ...this.waiting];
      this.options.onFailure(error);
      this.flushIn(RETRY_MS);
      return;
    }
    for (const { onSettled } of batch) onSettled();
  }
}
