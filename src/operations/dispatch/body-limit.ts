/** Limits of an operation's body, independent of the transport. */
import { ServiceError, type Config } from '../../platform/index.js';
import { OPTIONS_BODY_BYTES_MAX, type Operation } from './operation.js';

/** Returns the limit in bytes of a JSON body. */
export function jsonBodyBytesMax(
  { bodyBytesMax }: Pick<Operation, 'bodyBytesMax'>,
  { limits }: Pick<Config, 'limits'>,
): number {
  return Math.min(bodyBytesMax ?? OPTIONS_BODY_BYTES_MAX, limits.json_body_bytes_max);
}

export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError('body-too-large', `The body is larger than ${bytesMax} bytes.`);
}
