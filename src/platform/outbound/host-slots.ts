/**
 * How many requests are under way at one host and at all, from the first byte sent to the last byte read, and how many may wait for
 * that. One thread only.
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

  /** What gives the slot back, once; undefined where there is none now. */
  takeAtOnce(host: string): (() => void) | undefined {
    return this.slots.take(placeAt(host), undefined) ? this.taken(host) : undefined;
  }

  /** Resolves with what gives the slot back, once. Rejects with `too-many-waiting` or the reason of the end. */
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
      // Taken while it is called: a slot that comes free calls nobody else then.
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

/** Who asks are not told apart. */
function placeAt(host: string): SlotPlace {
  return { owner: '', receiver: host };
}
