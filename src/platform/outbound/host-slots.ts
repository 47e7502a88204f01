/**
 * How many requests are under way at one host and at all, from the first byte sent to the last byte read, and how many may wait for
 * that. One thread only.
 */
import { WorkSlots } from '../work/work-slots.js';
import type { CallEnd } from './call-end.js';
import { OutboundFailedError } from './outbound-error.js';

export interface HostSlotsOptions {
  readonly perHostMax: number;
  readonly totalMax: number;
  readonly waitingMax: number;
}

export class HostSlots {
  private readonly slots: WorkSlots;
  private waiting = 0;

  constructor(private readonly options: HostSlotsOptions) {
    this.slots = new WorkSlots(options.perHostMax, options.totalMax);
  }

  /** What gives the slot back, once; undefined where there is none now. */
  takeAtOnce(host: string): (() => void) | undefined {
    return this.slots.take(host, undefined) ? this.taken(host) : undefined;
  }

  /** Resolves with what gives the slot back, once. Rejects with `too-many-waiting` or the reason of the end. */
  async take(host: string, end: Pick<CallEnd, 'signal'>): Promise<() => void> {
    const freed = { wake: (): void => undefined };
    while (
      !this.slots.take(host, () => {
        freed.wake();
      })
    ) {
      if (this.waiting >= this.options.waitingMax) {
        throw new OutboundFailedError(
          'too-many-waiting',
          `${this.options.waitingMax} requests wait for a connection already.`,
        );
      }
      this.waiting += 1;
      const { signal } = end;
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => {
          reject(signal.reason as Error);
        };
        freed.wake = () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        };
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
      }).finally(() => {
        this.waiting -= 1;
      });
    }
    return this.taken(host);
  }

  private taken(host: string): () => void {
    let isTaken = true;
    return () => {
      if (isTaken) this.slots.release(host);
      isTaken = false;
    };
  }
}
