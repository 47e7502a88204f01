import { setImmediate } from 'node:timers/promises';
import type { Cancellation } from '../platform/index.js';

/**
 * Limits each account to one agent message per turn of the event loop, so that others wait for one message and not for
 * all that arrived together. A message takes several milliseconds of the main thread, mostly in the library that parses
 * and writes it. Main thread only.
 */
export class MessageTurns {
  /** Turn of the last message of each account that has not begun yet. */
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Resolves when the account's next message may begin. Rejects with the signal's reason if the client has left by
   * then.
   */
  async begin(account: string, signal: Pick<Cancellation, 'aborted' | 'reason'>): Promise<void> {
    const before = this.#last.get(account);
    const turn = before === undefined ? setImmediate() : before.then(() => setImmediate());
    this.#last.set(account, turn);
    await turn;
    if (this.#last.get(account) === turn) this.#last.delete(account);
    if (signal.aborted) throw signal.reason;
  }
}
