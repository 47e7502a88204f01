/** Why a model gave no answer that can be used. */
import { ModelError as EmbeddingError } from '../vectors/index.js';

/** By which failures are counted. */
export type ModelFailure = 'busy' | 'throttled' | 'unavailable' | 'bad-answer' | 'refused';

export interface ModelErrorOptions {
  /** `later`: the same may succeed another time. `never`: it is about what was asked, and asking again is in vain. */
  readonly retry: 'later' | 'never';
  /** Default: `refused` of what is `never` to be asked again, `throttled` with a time to come back, otherwise `unavailable`. */
  readonly reason?: ModelFailure;
  /** From now on, where the model said so. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** As lists know it; with the sentence under its own name. */
export class ModelError extends EmbeddingError {
  /** `detail` is one sentence for whoever runs the service; it holds no secret. */
  constructor(
    readonly detail: string,
    options: ModelErrorOptions,
  ) {
    super(detail, { reason: reasonOf(options), ...options });
  }
}

function reasonOf({ retry, retryAfterMs }: ModelErrorOptions): ModelFailure {
  if (retry === 'never') return 'refused';
  return retryAfterMs === undefined ? 'unavailable' : 'throttled';
}

/** What anything else that was thrown on the way to a model is to whoever asked it. */
export function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ModelError(detail, { retry: 'later', cause: error });
}
