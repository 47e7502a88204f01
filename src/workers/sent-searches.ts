/**
 * Searches that are out at threads, and who may take those that no thread has begun: a thread that has nothing to do gets them once more, in the opposite order,
 * and whoever claims a search first runs it (docs/decisions/0268). So a search waits for no thread whose processor others have.
 *
 * A claim is a number in shared memory at the place of the search's stop flag: the batch that has begun it, 0 for none. Invariant: a flag is given back, and its claim
 * with it, when no batch has its search any more. Main thread only, but for the claims.
 */
import { SHARED_FLAG, type StopFlags } from './stop-flags.js';
import type { PendingSearch } from './pending-search.js';

/** One time that a search went out. */
export interface SentSearch {
  readonly search: PendingSearch;
  readonly flag: number;
  /** That have it and are not answered. */
  batches: number;
  /** It has its reply. */
  isSettled: boolean;
}

export interface SentBatch {
  /** By which its thread claims; 0: it claims nothing, nobody else gets it. */
  readonly ticket: number;
  readonly sent: readonly SentSearch[];
  /** When it went out, or was given to one more thread. */
  sinceMs: number;
}

/** Several searches take less: what has not been begun for so long waits for a thread that something holds up. Where all is busy, moving sooner costs more than it gains. */
const UNBEGUN_MS = 3;
const TICKET_MAX = 0x7f_ff_ff_ff;

export class SentSearches {
  private lastTicket = 0;
  private readonly out = new Set<SentBatch>();

  /** `claims` is shared with the threads, a number for each flag. */
  constructor(
    private readonly flags: Pick<StopFlags, 'take' | 'giveBack'>,
    private readonly claims: Int32Array<SharedArrayBuffer>,
  ) {}

  /** `mayMove`: other threads may get what is not begun. */
  send(searches: readonly PendingSearch[], nowMs: number, mayMove: boolean): SentBatch {
    const sent = searches.map((search): SentSearch => {
      search.flag = this.flags.take();
      return { search, flag: search.flag, batches: 1, isSettled: false };
    });
    const batch = { ticket: mayMove ? this.nextTicket() : 0, sent, sinceMs: nowMs };
    if (mayMove) this.out.add(batch);
    return batch;
  }

  /** What a thread that has nothing to do may run: of the batch that went out first, what has not been begun for a while. */
  unbegun(nowMs: number): SentBatch | undefined {
    for (const batch of this.out) {
      if (nowMs - batch.sinceMs < UNBEGUN_MS) continue;
      const sent = batch.sent.filter(({ flag }) => flag !== SHARED_FLAG && Atomics.load(this.claims, flag) === 0);
      if (sent.length === 0) continue;
      batch.sinceMs = nowMs;
      for (const each of sent) each.batches += 1;
      // From the end: the other thread goes on from the beginning.
      return { ticket: this.nextTicket(), sent: sent.toReversed(), sinceMs: nowMs };
    }
    return undefined;
  }

  /** True where a lost batch took the search with it, or nobody else has it. */
  isLostWith({ ticket }: SentBatch, { flag, batches }: SentSearch): boolean {
    return batches === 1 || Atomics.load(this.claims, flag) === ticket;
  }

  /** A batch was answered or lost. */
  back(batch: SentBatch): void {
    this.out.delete(batch);
    for (const sent of batch.sent) {
      sent.batches -= 1;
      if (sent.batches > 0) continue;
      if (sent.flag !== SHARED_FLAG) Atomics.store(this.claims, sent.flag, 0);
      this.flags.giveBack(sent.flag, sent.search.signal.aborted);
    }
  }

  private nextTicket(): number {
    this.lastTicket = (this.lastTicket % TICKET_MAX) + 1;
    return this.lastTicket;
  }
}
