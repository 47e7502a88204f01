/**
 * Keeps a model that fails from being asked again and again: after some failures in a row it is left alone for a time, longer each
 * time, then asked once, and with the first success as before. Calls that were under way at one moment fail together, and count as one for that. A model that says when to come back is left alone until then.
 */
import type { Timers } from '../platform/work/index.js';
import { ModelError } from './model-error.js';

export interface CircuitOptions {
  /** In a row. */
  readonly failuresMax: number;
  readonly waitMsFirst: number;
  readonly waitMsMax: number;
}

const CIRCUIT_DEFAULTS: CircuitOptions = { failuresMax: 5, waitMsFirst: 1000, waitMsMax: 60_000 };
/** A model that asks for more is asked after so long all the same: it may have meant it otherwise. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export class Circuit {
  readonly #options: CircuitOptions;
  readonly #timers: Timers;
  #failures = 0;
  #waitMs = 0;
  #closedUntilMs = 0;
  #isTried = false;
  /** How often it was opened: calls that were entered before the last time make it wait no longer. */
  #openings = 0;
  #lastFailure: ModelError | undefined;

  constructor(timers: Timers, options: CircuitOptions = CIRCUIT_DEFAULTS) {
    this.#options = options;
    this.#timers = timers;
  }

  /** Why the last call failed, where none has succeeded since. */
  get failure(): ModelError | undefined {
    return this.#lastFailure;
  }

  /** Whether calls are kept from the model. */
  get isOpen(): boolean {
    return this.#waitLeftMs() > 0 || this.#isTried;
  }

  /**
   * Throws a ModelError where the model is to be left alone; otherwise whoever called says `succeeded`, `failed` or `abandoned` afterwards, the last two
   * with what this returns.
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

  /** Returns for how long the model is left alone from now on; 0: it is not. */
  #countFailure(): number {
    const { failuresMax, waitMsFirst, waitMsMax } = this.#options;
    this.#isTried = false;
    this.#failures += 1;
    if (this.#failures < failuresMax) return 0;
    this.#openings += 1;
    this.#waitMs = Math.min(Math.max(this.#waitMs * 2, waitMsFirst), waitMsMax);
    return this.#waitMs;
  }

  /** The call came to no end that says anything of the model. */
  abandoned(entered: number): void {
    if (entered === this.#openings) this.#isTried = false;
  }

  #waitLeftMs(): number {
    const leftMs = this.#closedUntilMs - this.#timers.nowMs();
    // A clock that was set back does not make it wait for longer than it ever would.
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
