/** What every call of a model goes through, whoever provides it: its circuit and its budget. */
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

  /** Why the model gives no answers at the moment; undefined where it does, as far as is known. */
  get failure(): ModelError | undefined {
    return this.#circuit.failure;
  }

  /** Rejects with a ModelError, or the signal's reason. */
  async run<Answer>(tokens: number, call: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    await this.#budget.take(tokens, signal);
    // After the wait: much may have happened to the model meanwhile.
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
      // What it does not want, or has no room for, says that it is there.
      if (failure.retry === 'never' || failure.reason === 'busy') this.#circuit.abandoned(entered);
      else this.#circuit.failed(failure, entered);
      throw failure;
    }
  }
}

/** Undefined where it says nothing of the model: whoever asked has left, or the budget has left it less than half of the time. */
function latenessOf({ reason }: AbortSignal, tookMs: number): ModelError | undefined {
  return reason instanceof LateAnswerError && tookMs * 2 >= reason.waitedMs ? reason : undefined;
}
