/** What a search worker answers for a search that failed. */
import { isKernelError } from '../../native-bindings/index.js';
import { answerTooLarge, ServiceError } from '../platform/index.js';
import { failureReply, type Postponement, type WorkerFailure } from '../platform/hosts/reply.js';
import { LongAnswerError } from '../search/index.js';

/** `answerBytesMax` is undefined if the search shares a buffer with others, and is made again if its answer is long. */
export function searchFailure(error: unknown, answerBytesMax: number | undefined): WorkerFailure {
  // The search itself exceeds a limit of the kernel: the caller can ask for less.
  if (isKernelError(error) && error.code === 'limit')
    return failureReply(new ServiceError('unprocessable', `The search cannot be made: ${error.message}.`));
  if (!(error instanceof LongAnswerError)) return failureReply(error);
  return answerBytesMax === undefined ? postponed('long') : failureReply(answerTooLarge(answerBytesMax));
}

export function postponed(why: Postponement): WorkerFailure {
  return { ...failureReply(new ServiceError('overloaded', 'The answer was put off.')), postponed: why };
}
