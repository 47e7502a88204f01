/** The body of an answer in the form in which it is sent, no larger than answers may be. */
import { HeadedBytes, StreamedBody } from '../operations/index.js';
import { answerTooLarge } from '../platform/index.js';

/** Undefined: none. Throws `answer-too-large`; what is streamed is never in memory whole, and may be of any length. */
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
    // The runtime's longest string is longer than any answer.
    if (error instanceof RangeError && error.message.includes('string length')) throw answerTooLarge(bytesMax);
    throw error;
  }
}
