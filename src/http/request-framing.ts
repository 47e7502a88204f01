/**
 * Reads the head of a request, and determines where its body ends. A request whose headers are ambiguous about that is
 * refused: a proxy in front of the service may see another end, so that a part of the body for one would be a request
 * for the other.
 */
import { ServiceError } from '../platform/index.js';
import type { WireRequest } from './wire.js';

/** The headers of a request that the service uses; '' if a header is missing. */
export interface RequestHead {
  /** Bytes of the body: 0 without one, undefined for a chunked one. */
  readonly bodyBytes: number | undefined;
  /** Why nothing after these headers can be trusted. */
  readonly fault: ServiceError | undefined;
  readonly apiKey: string;
  readonly requestId: string;
  readonly origin: string;
  readonly contentType: string;
  /** True if the library closes the connection after the answer. Only determined for requests with a body. */
  readonly closes: boolean;
}

/** Length of `close`, by which the library recognizes that header. */
const CLOSE_CHARACTERS = 5;

/**
 * Reads the head. For requests without a body, this only costs a look at a few headers. `isReading`: true if the method
 * only reads; such a request without a body needs no content type.
 */
export function readHead(req: WireRequest, isReading: boolean): RequestHead {
  const length = req.getHeader('content-length');
  if (length !== '' || req.getHeader('transfer-encoding') !== '') return headWithBody(req);
  return {
    apiKey: req.getHeader('x-api-key'),
    requestId: req.getHeader('x-request-id'),
    origin: req.getHeader('origin'),
    contentType: isReading ? '' : req.getHeader('content-type'),
    bodyBytes: 0,
    fault: undefined,
    closes: false,
  };
}

/** Reads a head by going through all headers, since looking one up does not show that it is repeated. */
function headWithBody(req: WireRequest): RequestHead {
  let [apiKey, requestId, origin, contentType] = ['', '', '', ''];
  const lengths: string[] = [];
  const codings: string[] = [];
  let hasTrailer = false;
  req.forEach((name, value) => {
    switch (name) {
      case 'content-length':
        lengths.push(value);
        break;
      case 'transfer-encoding':
        codings.push(value);
        break;
      case 'trailer':
        hasTrailer = true;
        break;
      // The first non-empty value counts.
      case 'x-api-key':
        apiKey ||= value;
        break;
      case 'x-request-id':
        requestId ||= value;
        break;
      case 'origin':
        origin ||= value;
        break;
      case 'content-type':
        contentType ||= value;
        break;
    }
  });
  const fault = framingFault(lengths, codings) ?? (hasTrailer ? trailersUnknown() : undefined);
  const isOpen = fault !== undefined || codings.length > 0;
  const bodyBytes = isOpen ? undefined : Number(lengths[0]);
  const closes = req.getHeader('connection').length === CLOSE_CHARACTERS;
  return { apiKey, requestId, origin, contentType, bodyBytes, fault, closes };
}

/** The library would take trailers for the next request, after it has passed this one on. */
function trailersUnknown(): ServiceError {
  return new ServiceError('malformed-request', 'Trailers are not supported: leave the Trailer header out.');
}

/**
 * Checks all values of the headers `Content-Length` and `Transfer-Encoding`. Returns undefined if they determine the
 * end of the body.
 */
export function framingFault(lengths: readonly string[], codings: readonly string[]): ServiceError | undefined {
  const detail = contradiction(lengths, codings);
  return detail === undefined ? undefined : new ServiceError('malformed-request', detail);
}

function contradiction(lengths: readonly string[], codings: readonly string[]): string | undefined {
  if (codings.length > 0 && lengths.length > 0) {
    return 'A request has either a Content-Length or a Transfer-Encoding, not both.';
  }
  if (codings.length > 1 || codings.some((coding) => coding.toLowerCase() !== 'chunked')) {
    return "The only Transfer-Encoding that is understood is 'chunked', once.";
  }
  const isOne = lengths.every((each) => each === lengths[0]);
  return isOne ? undefined : 'The request has two Content-Length headers that contradict each other.';
}
