/**
 * Circuit breaker of a model: after several failures in a row, the model is not called for a while, which doubles with
 * each further failure. Then one call is let through, and its success closes the circuit. Calls that were in flight
 * when the circuit opened count as one failure. A model that says when to retry is not called until then.
 */
import type { Timers } from '../platform/work/index.js';
import { ModelError } from './model-error.js';

export interface CircuitOptions {
  /** Consecutive failures that open the circuit. */
  readonly failuresMax: number;
  readonly waitMsFirst: number;
  readonly waitMsMax: number;
}

const CIRCUIT_DEFAULTS: CircuitOptions = { failuresMax: 5, waitMsFirst: 1000, waitMsMax: 60_000 };
/** Limit on the wait that a model may ask for. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export class Circuit {
  readonly #options: CircuitOptions;
  readonly #timers: Timers;
  #failures = 0;
  #waitMs = 0;
  #closedUntilMs = 0;
  #isTried = false;
  /** Number of times the circuit opened. A call that entered before the last opening does not prolong the wait. */
  #openings = 0;
  #lastFailure: ModelError | undefined;

  constructor(timers: Timers, options: CircuitOptions = CIRCUIT_DEFAULTS) {
    this.#options = options;
    this.#timers = timers;
  }

  /** Last failure. Undefined if a call has succeeded since. */
  get failure(): ModelError | undefined {
    return this.#lastFailure;
  }

  /** True if calls are refused. */
  get isOpen(): boolean {
    return this.#waitLeftMs() > 0 || this.#isTried;
  }

  /**
   * Enters a call. Throws a ModelError if the circuit is open. Otherwise the caller has to report `succeeded`, `failed`
   * or `abandoned`, passing the returned number to the last two.
   */
  enter(): number {
    const leftMs = this.#waitLeftMs();
    if (leftMs > 0 || this.#isTried) throw this.#refusal(Math.max(leftMs, this.#options.waitMsFirst));
    if (this.#failures >= this.#options.failuresMax) this.#isTried = true;
    return this.#openings;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#waitMs = 0;
    this.#closedUntilMs = 0;
    this.#isTried = false;
    this.#lastFailure = undefined;
  }

  failed(error: ModelError, entered: number): void {
    this.#lastFailure = error;
    const askedMs = Math.min(error.retryAfterMs ?? 0, RETRY_AFTER_MS_MAX);
    const waitMs = Math.max(askedMs, entered === this.#openings ? this.#countFailure() : 0);
    if (waitMs > 0) this.#closedUntilMs = Math.max(this.#closedUntilMs, this.#timers.nowMs() + waitMs);
  }

  /** Counts a failure. Returns for how many milliseconds the circuit stays open; 0 if it stays closed. */
  #countFailure(): number {
    const { failuresMax, waitMsFirst, waitMsMax } = this.#options;
    this.#isTried = false;
    this.#failures += 1;
    if (this.#failures < failuresMax) return 0;
    this.#openings += 1;
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, waitMsFirst), waitMsMax);
    return this.#waitMs;
  }

  /** Reports a call whose outcome says nothing about the model. */
  abandoned(entered: number): void {
    if (entered === this.#openings) this.#isTried = false;
  }

  #waitLeftMs(): number {
    const leftMs = this.#closedUntilMs - this.#timers.nowMs();
    // Ends the wait if the clock was set back.
    return leftMs > RETRY_AFTER_MS_MAX ? 0 : leftMs;
  }

  #refusal(retryAfterMs: number): ModelError {
    const why = this.#lastFailure?.detail ?? 'It is being tried.';
    return new ModelError(`The model is left alone for a while. ${why}`, {
      retry: 'later',
      reason: 'unavailable',
      retryAfterMs,
    });
  }
}
