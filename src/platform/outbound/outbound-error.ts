import { faultCode, faultSentence } from './fault-sentences.js';

/** Why an outgoing request came to nothing; what the guard refuses is an OutboundRefusedError instead. */
export type OutboundFailure =
  /** No connection, or one that broke. */
  | 'network'
  | 'connect-timeout'
  /** No status line and headers in time. */
  | 'headers-timeout'
  /** Too long between two pieces of the body. */
  | 'idle-timeout'
  /** The whole took too long, with all redirects and retries. */
  | 'total-timeout'
  /** More bytes than are taken from the network. */
  | 'too-large'
  /** More bytes than are taken once they are decompressed. */
  | 'too-large-decompressed'
  | 'too-many-redirects'
  | 'too-many-waiting'
  /** Not HTTP, headers without end, compressed in a way that nobody asked for or not at all, a 304 that nobody asked for. */
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
/** Of the parser of HTTP, and of zlib and brotli. */
const BAD_ANSWER = /^(?:HPE_|Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZLIB)/;

/**
 * What a library threw as one of ours, with a sentence for users. What is an error of ours already, and what was thrown by whoever
 * aborted, stays.
 */
export function asOutboundError(error: unknown, end: { readonly aborted: boolean; readonly reason: unknown }): unknown {
  if (end.aborted) return end.reason;
  const isOurs = error instanceof OutboundFailedError || (error as Error | undefined)?.name === 'OutboundRefusedError';
  if (isOurs) return error;
  const code = faultCode(error) ?? '';
  const reason = REASONS[code] ?? (BAD_ANSWER.test(code) ? 'bad-answer' : 'network');
  return new OutboundFailedError(reason, faultSentence(error), { cause: error });
}
