/**
 * Asks again whether a request is admitted when its body is there, and before each piece of a streamed one: an upload
 * may take hours, and what its key may do ends immediately.
 */
import type { RawInput } from './operation.js';

/** Throws what `assertAdmitted` throws; so does the stream of the returned request, between pieces. */
export function whileAdmitted(raw: RawInput, assertAdmitted: () => void): RawInput {
  const { body, stream } = raw;
  if (body === undefined && stream === undefined) return raw;
  assertAdmitted();
  return stream === undefined ? raw : { ...raw, stream: admittedPieces(stream, assertAdmitted) };
}

async function* admittedPieces(
  stream: AsyncIterable<Uint8Array>,
  assertAdmitted: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    assertAdmitted();
    yield piece;
  }
}
