/**
 * The head of a request, and where its body ends, as its headers say. A request that leaves it open is refused, since whatever stands in front
 * of the service may see another end: what is a part of the body to one would be a request to the other.
 */
import { ServiceError } from '../platform/index.js';
import type { WireRequest } from './wire.js';

/** What is looked at of a request's headers; '' where one is not there. */
export interface RequestHead {
  /** Bytes of the body: 0 without one, undefined for a chunked one. */
  readonly bodyBytes: number | undefined;
  /** Why nothing that follows these headers can be relied on. */
  readonly fault: ServiceError | undefined;
  readonly apiKey: string;
  readonly requestId: string;
  readonly origin: string;
  readonly contentType: string;
  /** The library closes the connection when this request is answered. Only looked at where there is a body. */
  readonly closes: boolean;
}

/** What the library looks for is as long as `close`. */
const CLOSE_CHARACTERS = 5;

/**
 * Requests without a body, most of all, cost no more here than the look at a few headers. `isReading`: by its method; one that
 * reads and has no body needs no type.
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

/** All headers have to be gone through, since one that is there twice looks like one; so whatever is needed is taken at once. */
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
      // The first that has a value counts.
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

/** The library would take them for the next request, after it has handed this one over. */
function trailersUnknown(): ServiceError {
  return new ServiceError('malformed-request', 'Trailers are not supported: leave the Trailer header out.');
}

/** Of the headers `Content-Length` and `Transfer-Encoding`, each as often as it came. Undefined: they say where the body ends. */
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
