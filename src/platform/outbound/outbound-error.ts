import { faultCode, faultSentence } from './fault-sentences.js';

/** Reason why an outgoing request failed. Refusals of the guard are OutboundRefusedErrors instead. */
export type OutboundFailure =
  /** No connection, or a broken one. */
  | 'network'
  | 'connect-timeout'
  /** No status line and headers in time. */
  | 'headers-timeout'
  /** Too long a pause between two chunks of the body. */
  | 'idle-timeout'
  /** The whole call took too long, including all redirects and retries. */
  | 'total-timeout'
  /** More bytes received than allowed. */
  | 'too-large'
  /** More bytes after decompression than allowed. */
  | 'too-large-decompressed'
  | 'too-many-redirects'
  | 'too-many-waiting'
  /** Not HTTP, endless headers, an unwanted or invalid compression, or a 304 to an unconditional request. */
  | 'bad-answer';

export class OutboundFailedError extends Error {
  override readonly name = 'OutboundFailedError';
  readonly code = 'ERR_OUTBOUND_FAILED';

  constructor(
    readonly reason: OutboundFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const REASONS: Readonly<Record<string, OutboundFailure>> = {
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_HEADERS_TIMEOUT: 'headers-timeout',
  UND_ERR_BODY_TIMEOUT: 'idle-timeout',
  UND_ERR_HEADERS_OVERFLOW: 'bad-answer',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'bad-answer',
};
/** Codes of the HTTP parser, zlib and brotli. */
const BAD_ANSWER = /^(?:HPE_|Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZLIB)/;

/**
 * Converts a library's error to an OutboundFailedError with a sentence for users. Errors of this client, and the reason
 * of an abortion, stay as they are.
 */
export function asOutboundError(error: unknown, end: { readonly aborted: boolean; readonly reason: unknown }): unknown {
  if (end.aborted) return end.reason;
  const isOurs = error instanceof OutboundFailedError || (error as Error | undefined)?.name === 'OutboundRefusedError';
  if (isOurs) return error;
  const code = faultCode(error) ?? '';
  const reason = REASONS[code] ?? (BAD_ANSWER.test(code) ? 'bad-answer' : 'network');
  return new OutboundFailedError(reason, faultSentence(error), { cause: error });
}
