/** Answers of models that somebody waits for: one that takes too long is broken off, and counts as a model that is away. */
import { ModelError } from './model-error.js';

/** Rejects with a ModelError after so many milliseconds, with the signal's reason, or as the call does. */
export async function within<Answer>(
  milliseconds: number,
  call: (signal: AbortSignal) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let leave: (() => void) | undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new ModelError(`The model did not answer within ${milliseconds} ms.`, { retry: 'later' }));
    }, milliseconds);
    leave = () => {
      reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
    };
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  });
  const answer = call(controller.signal);
  try {
    return await Promise.race([answer, ended]);
  } finally {
    clearTimeout(timer);
    if (leave !== undefined) signal?.removeEventListener('abort', leave);
    controller.abort();
    answer.catch(() => undefined);
  }
}
