/** Guards the calls of a model of any provider with its circuit breaker and its rate limit. */
import type { Timers } from '../platform/work/index.js';
import { CallBudget, type BudgetLimits } from './call-budget.js';
import { Circuit } from './circuit.js';
import { LateAnswerError } from './deadline.js';
import { asModelError, type ModelError } from './model-error.js';

export class GuardedCalls {
  readonly #circuit: Circuit;
  readonly #budget: CallBudget;

  constructor(limits: BudgetLimits, timers: Timers) {
    this.#circuit = new Circuit(timers);
    this.#budget = new CallBudget(limits, timers);
  }

  /** Last failure. Undefined if the model answers, as far as is known. */
  get failure(): ModelError | undefined {
    return this.#circuit.failure;
  }

  /** Runs a call. Rejects with a ModelError, or the signal's reason. */
  async run<Answer>(tokens: number, call: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    await this.#budget.take(tokens, signal);
    // Entered after the wait for the rate limit, during which the model may have failed.
    const entered = this.#circuit.enter();
    const enteredMs = performance.now();
    try {
      const answer = await call();
      this.#circuit.succeeded();
      return answer;
    } catch (error) {
      const failure =
        signal?.aborted === true ? latenessOf(signal, performance.now() - enteredMs) : asModelError(error);
      if (failure === undefined) {
        this.#circuit.abandoned(entered);
        throw error;
      }
      // A refused request, or a busy server, shows that the model is there.
      if (failure.retry === 'never' || failure.reason === 'busy') this.#circuit.abandoned(entered);
      else this.#circuit.failed(failure, entered);
      throw failure;
    }
  }
}

/**
 * Returns the missed deadline as a failure of the model. Undefined if the caller left, or if the wait for the rate
 * limit left the model less than half of the time.
 */
function latenessOf({ reason }: AbortSignal, tookMs: number): ModelError | undefined {
  return reason instanceof LateAnswerError && tookMs * 2 >= reason.waitedMs ? reason : undefined;
}
