/** How long the body of an operation may be, by whichever way it comes. */
import { ServiceError, type Config } from '../../platform/index.js';
import { OPTIONS_BODY_BYTES_MAX, type Operation } from './operation.js';

/** Of a JSON body. */
export function jsonBodyBytesMax(
  { bodyBytesMax }: Pick<Operation, 'bodyBytesMax'>,
  { limits }: Pick<Config, 'limits'>,
): number {
  return Math.min(bodyBytesMax ?? OPTIONS_BODY_BYTES_MAX, limits.json_body_bytes_max);
}

export function tooLarge(bytesMax: number): ServiceError {
  return new ServiceError('body-too-large', `The body is larger than ${bytesMax} bytes.`);
}
