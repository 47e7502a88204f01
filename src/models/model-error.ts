/** Errors of models: why a model gave no usable answer. */
import { ModelError as EmbeddingError } from '../vectors/index.js';

/** Kinds by which failures are counted. */
export type ModelFailure = 'busy' | 'throttled' | 'unavailable' | 'bad-answer' | 'refused';

export interface ModelErrorOptions {
  /** `later`: the same request may succeed later. `never`: the request itself is wrong, so a retry is useless. */
  readonly retry: 'later' | 'never';
  /** Default: `refused` for `never`, `throttled` with `retryAfterMs`, otherwise `unavailable`. */
  readonly reason?: ModelFailure;
  /** Milliseconds from now, if the model said when to retry. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The error as lists know it, with the message also as `detail`. */
export class ModelError extends EmbeddingError {
  /** `detail` is one sentence for the operator; it contains no secret. */
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

/** Converts anything thrown during a call into a ModelError. */
export function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ModelError(detail, { retry: 'later', cause: error });
}
