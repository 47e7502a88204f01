/**
 * Limits the requests in flight, per host and in total, from the first byte sent to the last byte read, and the
 * requests that wait. One thread only.
 */
import { WorkSlots, type SlotPlace } from '../work/work-slots.js';
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

  /** Returns a function that gives the slot back (further calls do nothing); undefined if no slot is free. */
  takeAtOnce(host: string): (() => void) | undefined {
    return this.slots.take(placeAt(host), undefined) ? this.taken(host) : undefined;
  }

  /**
   * Resolves with a function that gives the slot back, once. Rejects with `too-many-waiting` or the signal's reason.
   */
  async take(host: string, { signal }: Pick<CallEnd, 'signal'>): Promise<() => void> {
    const atOnce = this.takeAtOnce(host);
    if (atOnce !== undefined) return atOnce;
    signal.throwIfAborted();
    if (this.waiting >= this.options.waitingMax) {
      throw new OutboundFailedError(
        'too-many-waiting',
        `${this.options.waitingMax} requests wait for a connection already.`,
      );
    }
    this.waiting += 1;
    return new Promise<() => void>((resolve, reject) => {
      const end = (): void => {
        signal.removeEventListener('abort', onAbort);
        this.waiting -= 1;
      };
      const onAbort = (): void => {
        end();
        reject(signal.reason as Error);
      };
      // The slot is taken within this call: a freed slot calls one waiter at a time.
      const takeIfWanted = (): void => {
        if (signal.aborted || !this.slots.take(placeAt(host), takeIfWanted)) return;
        end();
        resolve(this.taken(host));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      takeIfWanted();
    });
  }

  private taken(host: string): () => void {
    let isTaken = true;
    return () => {
      if (isTaken) this.slots.release(placeAt(host));
      isTaken = false;
    };
  }
}

/** Slots are counted by host only, not by who asks. */
function placeAt(host: string): SlotPlace {
  return { owner: '', receiver: host };
}
