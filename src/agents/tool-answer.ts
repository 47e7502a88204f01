/** Converts an operation's answer into a tool result: text that fits an agent's context, never truncated silently. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { HeadedBytes, StreamedBody, type OperationResult } from '../operations/index.js';
import type { ServiceError } from '../platform/index.js';

const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;
const TEXT = /^(?:text\/|application\/(?:json|x-ndjson|xml|yaml)|image\/svg)/;

type AnswerBody = Pick<OperationResult, 'body' | 'contentType'>;

/** `bytesMax` limits an answer; a longer one becomes an error that states its length. */
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

/** Returns an error that the agent can correct, in the same words as for other callers. */
export function toolProblem(error: ServiceError): CallToolResult {
  return toolError(JSON.stringify(error.toProblem()));
}

export function toolError(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

/** Returns the bytes, or their number if there are too many. */
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
  // Borrowed bytes are overwritten by the next answer.
  return body instanceof HeadedBytes ? Buffer.from(bytes) : bytes;
}

async function wholeOf(body: StreamedBody): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body.pieces()) pieces.push(piece);
  return Buffer.concat(pieces);
}
