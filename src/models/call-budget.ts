/**
 * Rate limit of a model: requests and tokens per minute, counted over a sliding window, as providers count them. Calls
 * that do not fit wait in FIFO order. One instance per model; used in one thread.
 */
import type { Timers } from '../platform/work/index.js';

const MINUTE_MS = 60_000;

export interface BudgetLimits {
  /** Null if unlimited. */
  readonly requestsPerMinute: number | null;
  /** Null if unlimited. A call with more tokens than this waits until no other call is in the window. */
  readonly tokensPerMinute: number | null;
}

interface Spent {
  readonly atMs: number;
  readonly tokens: number;
}

interface Waiting {
  readonly tokens: number;
  readonly admit: () => void;
}

export class CallBudget {
  readonly #limits: BudgetLimits;
  readonly #timers: Timers;
  #spent: Spent[] = [];
  #tokens = 0;
  #waiting: Waiting[] = [];
  #cancelTimer: (() => void) | undefined;

  constructor(limits: BudgetLimits, timers: Timers) {
    this.#limits = limits;
    this.#timers = timers;
  }

  /** Resolves when a request of so many tokens may be made, and counts it. Rejects with the signal's reason. */
  take(tokens: number, signal?: AbortSignal): Promise<void> {
    if (this.#limits.requestsPerMinute === null && this.#limits.tokensPerMinute === null) return Promise.resolve();
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) throw signal.reason as Error;
      const onAbort = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        this.#admit();
        reject(signal?.reason as Error);
      };
      const waiting = {
        tokens,
        admit: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(waiting);
      this.#admit();
    });
  }

  /** Admits waiting calls in order, as long as they fit. */
  #admit(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const nowMs = this.#timers.nowMs();
    this.#forget(nowMs);
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (!this.#fits(first.tokens)) break;
      this.#waiting.shift();
      this.#spent.push({ atMs: nowMs, tokens: first.tokens });
      this.#tokens += first.tokens;
      first.admit();
    }
    const oldest = this.#spent[0];
    if (this.#waiting.length === 0 || oldest === undefined) return;
    this.#cancelTimer = this.#timers.after(Math.max(1, oldest.atMs + MINUTE_MS - nowMs), () => {
      this.#admit();
    });
  }

  #forget(nowMs: number): void {
    // Entries in the future, after the clock was set back, are dropped: none counts for longer than a minute.
    const kept = this.#spent.filter(({ atMs }) => atMs > nowMs - MINUTE_MS && atMs <= nowMs);
    this.#spent = kept;
    this.#tokens = kept.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  #fits(tokens: number): boolean {
    if (this.#spent.length === 0) return true;
    const { requestsPerMinute, tokensPerMinute } = this.#limits;
    return (
      this.#spent.length < (requestsPerMinute ?? Infinity) && this.#tokens + tokens <= (tokensPerMinute ?? Infinity)
    );
  }
}
