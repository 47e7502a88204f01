/** The cancellation of a request whose client goes away. */
import type { AbortListener, Cancellation } from '../platform/index.js';
import type { ClientGone } from './exchange.js';

/** Aborted when the client goes away. */
export class Gone implements Cancellation {
  reason: ClientGone | undefined = undefined;
  /** Kept apart from `#others`, since most requests have at most one listener. */
  #listener: AbortListener | undefined = undefined;
  #others: AbortListener[] | undefined = undefined;

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  abort(reason: ClientGone): void {
    this.reason = reason;
    const listeners = [this.#listener, ...(this.#others ?? [])];
    this.#listener = this.#others = undefined;
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener?.handleEvent();
    }
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.#listener === undefined) this.#listener = listener;
    else (this.#others ??= []).push(listener);
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    if (this.#listener === listener) this.#listener = undefined;
    else this.#others = this.#others?.filter((other) => other !== listener);
  }
}
