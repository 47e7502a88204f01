/**
 * Serves the same operations on a Unix socket in the data directory, for the command line on this machine. Whoever can
 * open it (mode 0600: the user that runs the service) may do anything; no key is needed.
 */
import { chmodSync, rmSync } from 'node:fs';
import { HeadedBytes, LOCAL_VISITOR, StreamedBody, tooLarge } from '../operations/index.js';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerClientErrors } from './client-error.js';
import { answerBytes, ClientGone, type Answer, type IncomingRequest, type RequestHandler } from './exchange.js';
import { ServiceError } from '../platform/index.js';
import { framingFault } from './request-framing.js';

export interface ControlSocket {
  listen(): Promise<void>;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}

const SOCKET_MODE = 0o600;
/** A client may be stopped or busy for a while between two requests of a connection. */
const KEEP_ALIVE_MS = 120_000;
/** Time that a client has to notice an answer that comes before its whole request was read. */
const LINGER_MS_MAX = 10_000;

export interface ControlSocketOptions {
  /** How long an idle connection stays open; default 120,000. */
  readonly keepAliveMs?: number;
}

export function createControlSocket(
  path: string,
  handle: RequestHandler,
  { keepAliveMs = KEEP_ALIVE_MS }: ControlSocketOptions = {},
): ControlSocket {
  // Only this user can connect, so requests and their headers have no time limit, even if the client is stopped.
  const options = { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: keepAliveMs, requireHostHeader: false };
  const server = createServer(options, (message, response) => {
    void serve(handle, message, response);
  });
  // Headers beyond a number would be dropped silently; the length of the head is limited instead.
  server.maxHeadersCount = 0;
  answerClientErrors(server);
  // Expectations are ignored: none needs to be refused.
  server.on('checkExpectation', (message, response) => void serve(handle, message, response));
  return {
    async listen() {
      // Left by a process that was killed: this one has the lock of the data directory, so it is not running.
      rmSync(path, { force: true });
      const mask = process.umask(0o177);
      try {
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject);
          server.listen(path, resolve);
        });
      } finally {
        process.umask(mask);
      }
      chmodSync(path, SOCKET_MODE);
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
      rmSync(path, { force: true });
    },
  };
}

async function serve(handle: RequestHandler, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await handle(incoming(message, response));
  if (response.destroyed) {
    if (answer.body instanceof StreamedBody) answer.body.letGo();
    answer.sent?.();
    return;
  }
  if (answer.sent !== undefined) response.once('close', answer.sent);
  const body = writeHead(answer, response);
  if (body instanceof StreamedBody) {
    await sendPieces(body, response, answer);
    return;
  }
  if (!message.complete && body !== undefined) {
    // If the connection were closed at once, the client would report a broken pipe instead of the error in its request.
    response.write(body);
    await linger(message);
    response.end();
    return;
  }
  response.end(body);
}

/**
 * Sends a streamed body. If it breaks off, the connection is closed, so that the client knows that it is incomplete.
 */
async function sendPieces(body: StreamedBody, response: ServerResponse, { broken }: Answer): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  async function* watched() {
    try {
      yield* body.pieces();
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  try {
    await pipeline(Readable.from(watched(), { objectMode: false, highWaterMark: 0 }), response);
  } catch {
    // If there was no failure, the client went away.
    if (failure !== undefined) broken?.(failure.error);
    response.destroy();
  }
}

/** Reads and drops the rest of the request, until it ends, the client goes away, or it takes too long. */
async function linger(message: IncomingMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, LINGER_MS_MAX);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    message.once('end', done).once('close', done).resume();
  });
}

/** Writes the head; returns the body that is to follow. */
function writeHead(answer: Answer, response: ServerResponse): string | Uint8Array | StreamedBody | undefined {
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (answer.contentType !== undefined) response.setHeader('Content-Type', answer.contentType);
  if (answer.body !== undefined) response.setHeader('Content-Length', answerBytes(answer));
  if (answer.close) response.setHeader('Connection', 'close');
  if (answer.headOnly) {
    if (answer.body instanceof StreamedBody) answer.body.letGo();
    return undefined;
  }
  return answer.body instanceof HeadedBytes ? answer.body.toBytes() : answer.body;
}

function incoming(message: IncomingMessage, response: ServerResponse): IncomingRequest {
  const abort = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) abort.abort(new ClientGone());
  });
  const url = message.url ?? '/';
  const question = url.indexOf('?');
  const length = message.headers['content-length'];
  const bodyBytes =
    length === undefined ? (message.headers['transfer-encoding'] === undefined ? 0 : undefined) : Number(length);
  const stream = (bytesMax: number, ready?: Promise<void>) => limited(message, bytesMax, ready);
  return {
    method: message.method ?? 'GET',
    path: question === -1 ? url : url.slice(0, question),
    queryString: question === -1 ? '' : url.slice(question + 1),
    credential: { kind: 'cli' },
    visitor: LOCAL_VISITOR,
    requestIdHeader: headerText(message.headers['x-request-id']),
    contentType: message.headers['content-type'],
    origin: headerText(message.headers.origin),
    header: (name) => headerText(message.headers[name]),
    bodyBytes,
    fault: faultOf(message),
    get bodyPending() {
      return bodyBytes !== 0 && !message.readableEnded;
    },
    signal: abort.signal,
    read: async (bytesMax, ready) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream(bytesMax, ready)) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    stream,
  };
}

/** Node.js answers requests without a Host without a body, and accepts encodings that the service does not decode. */
function faultOf({ httpVersion, headers, headersDistinct }: IncomingMessage): ServiceError | undefined {
  if (headers.host === undefined && httpVersion === '1.1') {
    return new ServiceError('malformed-request', 'A request of HTTP/1.1 has a Host header.');
  }
  return framingFault(headersDistinct['content-length'] ?? [], headersDistinct['transfer-encoding'] ?? []);
}

async function* limited(
  message: IncomingMessage,
  bytesMax: number,
  ready: Promise<void> | undefined,
): AsyncGenerator<Uint8Array> {
  await ready;
  let total = 0;
  try {
    // The stream stays open after enough was read: its client still gets an answer.
    for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      total += chunk.byteLength;
      if (total > bytesMax) throw tooLarge(bytesMax);
      yield chunk;
    }
  } catch (error) {
    // If the client went away, the stream ends with an error of the socket.
    throw message.errored === null || message.errored === undefined ? error : new ClientGone();
  }
}

function headerText(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
