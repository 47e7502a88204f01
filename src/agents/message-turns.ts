/** Main thread only. */
import { setImmediate } from 'node:timers/promises';
import type { Cancellation } from '../platform/index.js';

/**
 * Messages of agents take the thread that answers everybody several milliseconds each, mostly in the library that reads and writes them. Those of one
 * account begin one in a turn of the event loop, so that others wait for one of them, and not for all that came together.
 */
export class MessageTurns {
  /** The last of each account that has not begun. */
  readonly #last = new Map<string, Promise<void>>();

  /** Resolves when the next one of the account may begin; rejects with the signal's reason where its client has left by then. */
  async begin(account: string, signal: Pick<Cancellation, 'aborted' | 'reason'>): Promise<void> {
    const before = this.#last.get(account);
    const turn = before === undefined ? setImmediate() : before.then(() => setImmediate());
    this.#last.set(account, turn);
    await turn;
    if (this.#last.get(account) === turn) this.#last.delete(account);
    if (signal.aborted) throw signal.reason;
  }
}
