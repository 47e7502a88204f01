/** Headers in the OpenAPI document: those that operations read, and those of answers. */
import type { AnswerHeaderName, RequestHeaderName } from '../dispatch/operation.js';

type Json = Readonly<Record<string, unknown>>;

const OF_REQUESTS: Readonly<Record<RequestHeaderName, string>> = {
  'if-match': 'ETags, or `*`: done only where the file has one of them now',
  'if-none-match': 'ETags, or `*`: done only where the file has none of them now',
  'mcp-method': 'The method of the message, of agents of 2026 and later',
  'mcp-name': 'The tool that the message calls, of agents of 2026 and later',
  'mcp-protocol-version': 'The version of the protocol that the agent speaks',
  'if-range': 'An ETag: `Range` counts only where the file still has it',
  range: 'Bytes of the file, such as `bytes=0-1023`',
};

type HeaderName = AnswerHeaderName | 'X-Request-Id' | 'Retry-After';

const OF_ANSWERS: Readonly<Record<HeaderName, string>> = {
  'X-Request-Id': 'The id sent with the request, or one made for it.',
  'Retry-After': 'Seconds to wait.',
  'Accept-Ranges': 'That `Range` may ask for some bytes of the file.',
  'Cache-Control': 'Whether the answer may be kept, and asked for again by its ETag.',
  'Content-Disposition': 'Whether a browser may show the file, and under which name it is saved.',
  'Content-Range': 'Which bytes of how many; of a 416, how many there are.',
  'Content-Security-Policy': 'Keeps a browser from running what is in the file.',
  'Cross-Origin-Resource-Policy': 'Keeps pages of other origins from showing the file.',
  ETag: 'Of what the file is now, for `If-Match` and `If-None-Match`.',
  'Last-Modified': 'When the file was written.',
  'Server-Timing': 'Milliseconds that the answer took, by what they went into.',
  'Set-Cookie': 'The cookie of the session.',
  'X-Cache': '`hit`: the answer was in memory; `miss`: it was searched for.',
  'X-Content-Type-Options': 'Keeps a browser from guessing another type than that of the file.',
};

/** Headers of every answer with a status, whatever the operation. */
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
  const names: readonly HeaderName[] = ['X-Request-Id', ...own, ...(OF_STATUSES[status] ?? [])];
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
