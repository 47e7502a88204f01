/**
 * Looks at the key of a request again when its body is there, and before each piece of a streamed one: an upload may
 * take hours, and a key that is deleted stops working immediately.
 */
import type { Access, ApiKeyRecord, Caller } from '../../access/index.js';
import { ServiceError } from '../../platform/index.js';
import type { RawInput } from './operation.js';

/** Throws `invalid-key` if the key is no longer in force; so does the stream of the returned request, between pieces. */
export function whileKeyInForce(raw: RawInput, { key }: Caller, access: Pick<Access, 'isInForce'>): RawInput {
  const { body, stream } = raw;
  if (key === undefined || (body === undefined && stream === undefined)) return raw;
  assertInForce(key, access);
  return stream === undefined ? raw : { ...raw, stream: piecesInForce(stream, key, access) };
}

async function* piecesInForce(
  stream: AsyncIterable<Uint8Array>,
  key: ApiKeyRecord,
  access: Pick<Access, 'isInForce'>,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    assertInForce(key, access);
    yield piece;
  }
}

function assertInForce(key: ApiKeyRecord, access: Pick<Access, 'isInForce'>): void {
  if (access.isInForce(key)) return;
  throw new ServiceError(
    'invalid-key',
    'The API key was deleted or has expired while the body of the request was on its way. What was written before stays.',
  );
}
