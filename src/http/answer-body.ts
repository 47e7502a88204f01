/** Converts the body of an answer to the form in which it is sent, and checks its size. */
import { HeadedBytes, StreamedBody } from '../operations/index.js';
import { answerTooLarge } from '../platform/index.js';

/**
 * Returns undefined if there is none. Throws `answer-too-large`; a streamed body is never in memory as a whole, and may
 * have any length.
 */
export function finishedBody(body: unknown, bytesMax: number): Uint8Array | HeadedBytes | StreamedBody | undefined {
  if (body instanceof StreamedBody) return body;
  const isFinished = body === undefined || body instanceof Uint8Array || body instanceof HeadedBytes;
  const finished = isFinished ? body : jsonOf(body, bytesMax);
  if (finished !== undefined && finished.byteLength > bytesMax) throw answerTooLarge(bytesMax);
  return finished;
}

function jsonOf(body: unknown, bytesMax: number): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    // The longest string of the runtime is longer than any answer.
    if (error instanceof RangeError && error.message.includes('string length')) throw answerTooLarge(bytesMax);
    throw error;
  }
}
