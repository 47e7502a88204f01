/** Headers in the OpenAPI document: those that operations read, and those of answers. */
import type { AnswerHeaderName, RequestHeaderName } from '../dispatch/operation.js';

type Json = Readonly<Record<string, unknown>>;

const OF_REQUESTS: Readonly<Record<RequestHeaderName, string>> = {
  'if-match':
    'One or more ETags, or `*` for any. The request is carried out only if the current ETag of the file is among them; otherwise 412',
  'if-none-match':
    'One or more ETags, or `*` for any. The request is carried out only if the current ETag of the file is not among them; otherwise 304 for GET, 412 for PUT and DELETE',
  'mcp-method': 'Method of the message; sent by agents that speak a protocol version of 2026 or later',
  'mcp-name': 'Name of the tool that the message calls; sent by agents that speak a protocol version of 2026 or later',
  'mcp-protocol-version': 'Version of the Model Context Protocol that the agent speaks',
  'if-range': 'An ETag. `Range` is ignored, and the whole file is sent, if the file no longer has this ETag',
  range: 'Range of bytes to return, such as `bytes=0-1023`',
};

type HeaderName = AnswerHeaderName | 'X-Request-Id' | 'Retry-After';

/** Headers of every answer. */
const OF_ALL: readonly HeaderName[] = ['X-Request-Id', 'Cache-Control'];

const OF_ANSWERS: Readonly<Record<HeaderName, string>> = {
  'X-Request-Id': 'Id of the request: the one that the client sent, or else one that the service made.',
  'Retry-After': 'Seconds to wait before the request is sent again.',
  'Accept-Ranges': '`bytes`: the request header `Range` is supported.',
  'Cache-Control':
    '`no-store`: the answer must not be cached. Only files of media stores have `private, no-cache`: a browser may keep them, and asks each time whether they changed.',
  'Content-Disposition': 'Whether a browser shows the file or downloads it, and the name to save it under.',
  'Content-Range':
    'The bytes that are returned, and the size of the file, such as `bytes 0-1023/4096`. With 416: the size of the file alone, such as `bytes */4096`.',
  'Content-Security-Policy': 'Forbids a browser to run scripts in the file.',
  'Cross-Origin-Resource-Policy': 'Forbids pages of other origins to embed the file.',
  ETag: 'Identifies the current content of the file, for `If-Match` and `If-None-Match`.',
  'Last-Modified': 'Time at which the file was written.',
  'Server-Timing': 'Milliseconds spent on the answer, by phase.',
  'Set-Cookie': 'Cookie of the session.',
  'X-Cache': '`hit`: the answer came from the cache; `miss`: the search was run.',
  'X-Content-Type-Options': '`nosniff`: a browser must not guess another content type.',
};

/** Headers of every answer with a status, in addition to those of every answer. */
const OF_STATUSES: Readonly<Record<string, readonly HeaderName[]>> = {
  416: ['Content-Range'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Returns a header parameter of an operation. */
export function describeRequestHeader(name: RequestHeaderName): Json {
  return { name, in: 'header', description: OF_REQUESTS[name], schema: { type: 'string' } };
}

/** Returns the headers of an answer, as references to `answerHeaders`. */
export function headersOf(status: string, own: readonly AnswerHeaderName[] = []): Json {
  const names: readonly HeaderName[] = [...OF_ALL, ...own, ...(OF_STATUSES[status] ?? [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns the descriptions of answer headers, as components of the document. */
export function answerHeaders(): Json {
  return Object.fromEntries(
    Object.entries(OF_ANSWERS).map(([name, description]) => {
      const schema = name === 'Retry-After' ? { type: 'integer', minimum: 1 } : { type: 'string' };
      return [name, { description, schema }];
    }),
  );
}
