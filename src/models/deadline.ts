/** Deadlines for answers of models: a late call is aborted and counts as a failure of the model. */
import { ModelError } from './model-error.js';

/** Thrown if the model did not answer before the deadline. */
export class LateAnswerError extends ModelError {
  constructor(readonly waitedMs: number) {
    super(`The model did not answer within ${waitedMs} ms.`, { retry: 'later' });
  }
}

/**
 * Runs `call` with a deadline. Rejects with a LateAnswerError after so many milliseconds, with the signal's reason, or
 * as the call does. The reason of the call's signal tells which of the two aborted it.
 */
export async function within<Answer>(
  milliseconds: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const controller = new AbortController();
  const ended = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason as Error), { once: true });
  });
  const leave = () => {
    controller.abort(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
  };
  const timer = setTimeout(() => {
    controller.abort(new LateAnswerError(milliseconds));
  }, milliseconds);
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([ended, call(controller.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', leave);
  }
}
