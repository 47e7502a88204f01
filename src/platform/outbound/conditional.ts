/** Conditional requests (RFC 9110, 13): validators of an answer, and the headers that ask whether it has changed. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

export type OutboundHeaders = Readonly<Record<string, string>>;

const ETAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const VALIDATOR_CHARACTERS_MAX = 1024;

/**
 * Returns the validators of an answer. Omits invalid ones, and a `Last-Modified` in the future, which would stay valid
 * for ever.
 */
export function validatorsOf(headers: OutboundHeaders, nowMs: number): Validators {
  const { etag = '', 'last-modified': lastModified = '' } = headers;
  const modifiedMs = Date.parse(lastModified);
  const isUsable = !Number.isNaN(modifiedMs) && modifiedMs <= nowMs && lastModified.length <= VALIDATOR_CHARACTERS_MAX;
  return {
    ...(ETAG.test(etag) && etag.length <= VALIDATOR_CHARACTERS_MAX ? { etag } : {}),
    ...(isUsable ? { lastModified } : {}),
  };
}

export function conditionalHeaders({ etag, lastModified }: Validators): OutboundHeaders {
  return {
    ...(etag === undefined ? {} : { 'if-none-match': etag }),
    ...(lastModified === undefined ? {} : { 'if-modified-since': lastModified }),
  };
}
