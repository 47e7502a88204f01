/**
 * Where the body of a request ends, as its headers say. A request that leaves it open is refused, since whatever stands in front
 * of the service may see another end: what is a part of the body to one would be a request to the other.
 */
import type { HttpRequest } from 'uWebSockets.js';
import { ServiceError } from '../platform/index.js';

export interface RequestFraming {
  /** Bytes of the body: 0 without one, undefined for a chunked one. */
  readonly bodyBytes: number | undefined;
  /** Why nothing that follows these headers can be relied on. */
  readonly fault: ServiceError | undefined;
}

const WITHOUT_BODY: RequestFraming = { bodyBytes: 0, fault: undefined };
const CHUNKED: RequestFraming = { bodyBytes: undefined, fault: undefined };

/** Requests without a body, most of all, cost no more here than the look at two headers. */
export function readFraming(req: HttpRequest): RequestFraming {
  const length = req.getHeader('content-length');
  if (length === '' && req.getHeader('transfer-encoding') === '') return WITHOUT_BODY;
  const lengths: string[] = [];
  const codings: string[] = [];
  let hasTrailer = false;
  req.forEach((name, value) => {
    if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') codings.push(value);
    else if (name === 'trailer') hasTrailer = true;
  });
  const fault = framingFault(lengths, codings) ?? (hasTrailer ? trailersUnknown() : undefined);
  if (fault !== undefined) return { bodyBytes: undefined, fault };
  return codings.length > 0 ? CHUNKED : { bodyBytes: Number(length), fault: undefined };
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
