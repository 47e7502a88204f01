/** What an operation answered, as an agent takes it: text that fits into what it can read, and nothing cut off without a word. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { HeadedBytes, StreamedBody, type OperationResult } from '../operations/index.js';
import type { ServiceError } from '../platform/index.js';

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const TEXT = /^(?:text\/|application\/(?:json|x-ndjson|xml|yaml)|image\/svg)/;

type AnswerBody = Pick<OperationResult, 'body' | 'contentType'>;

/** `bytesMax`: of an answer that is given whole; a longer one is an error that says how long it is. */
export async function toolAnswer(
  { body, contentType = 'application/json' }: AnswerBody,
  bytesMax: number,
): Promise<CallToolResult> {
  const bytes = await bytesOf(body, bytesMax);
  if (typeof bytes === 'number') {
    return toolError(
      `The answer has ${bytes} bytes, and a tool answers ${bytesMax} at most. Ask for less: fewer hits or records (size), fewer fields (select), a filter, or the pages behind each other (after, skip).`,
    );
  }
  if (bytes.byteLength === 0) return { content: [{ type: 'text', text: 'Done.' }] };
  const mimeType = contentType.replace(/;.*$/s, '').trim().toLowerCase();
  if (TEXT.test(mimeType)) return { content: [{ type: 'text', text: Buffer.from(bytes).toString('utf8') }] };
  const data = Buffer.from(bytes).toString('base64');
  if (IMAGE.test(mimeType)) return { content: [{ type: 'image', data, mimeType }] };
  return { content: [{ type: 'resource', resource: { uri: 'gannet:file', mimeType, blob: data } }] };
}

/** A mistake that the agent can mend reads it in the same words as everybody else. */
export function toolProblem(error: ServiceError): CallToolResult {
  return toolError(JSON.stringify(error.toProblem()));
}

export function toolError(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

/** The number of bytes where there are too many. */
async function bytesOf(body: unknown, bytesMax: number): Promise<Uint8Array | number> {
  if (body === undefined) return new Uint8Array();
  if (body instanceof StreamedBody) {
    if (body.byteLength <= bytesMax) return wholeOf(body);
    body.letGo();
    return body.byteLength;
  }
  const bytes =
    body instanceof HeadedBytes ? body.borrow() : body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
  if (bytes.byteLength > bytesMax) return bytes.byteLength;
  // What is borrowed is somebody else's by the next answer.
  return body instanceof HeadedBytes ? Buffer.from(bytes) : bytes;
}

async function wholeOf(body: StreamedBody): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}
