/**
 * Node.js's own server, for machines where uWebSockets.js has no binary for the platform, C library or release of
 * Node.js (docs/decisions/0346). It accepts the same requests, as far as its parser allows.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { isSystemError, ServiceError } from '../platform/index.js';
import { answerClientErrors, hangUpWith } from './client-error.js';
import { ListenError } from './listening.js';
import { NodeRequest } from './node-request.js';
import { NodeResponse } from './node-response.js';
import { HEAD_BYTES_MAX, type LastWords, type WebServer, type WebServerOptions } from './wire.js';

/** Timeout for a head, for the next request of a connection, and for a client that reads nothing of an answer. */
const QUIET_MS_MAX = 10_000;
const CHECK_INTERVAL_MS = 2_000;

interface Connection {
  /** Responses that are not answered, or not sent completely. */
  readonly answering: Set<NodeResponse>;
  /** True if the connection ends after an answer: requests that follow are ignored. */
  isOver: boolean;
}

export function createNodeServer({ host, port, connections, onRequest }: WebServerOptions): WebServer {
  const known = new WeakMap<Duplex, Connection>();
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: QUIET_MS_MAX,
    // Bodies are watched by their progress (upload-watch.ts), not by a total time.
    requestTimeout: 0,
    keepAliveTimeout: QUIET_MS_MAX,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    requireHostHeader: false,
  });
  server.timeout = QUIET_MS_MAX;
  // Headers beyond a number would be dropped silently; the length of the head is limited instead.
  server.maxHeadersCount = 0;
  server.on('timeout', (socket: Duplex) => {
    const isWorkedOn = (known.get(socket)?.answering.size ?? 0) > 0;
    if (!isWorkedOn || socket.writableLength > 0) socket.destroy();
  });
  server.on('connection', (socket) => {
    const answering = new Set<NodeResponse>();
    known.set(socket, { answering, isOver: false });
    socket.once('close', () => {
      connections.leave();
      // Node.js only reports it for the response whose turn it is, not for those queued behind it.
      for (const response of answering) response.gone();
    });
    if (!connections.enter()) socket.destroy();
  });
  answerClientErrors(server, (socket) => known.get(socket)?.isOver === true);
  const take = (message: IncomingMessage, response: ServerResponse): void => {
    const { socket } = message;
    const connection = known.get(socket);
    if (connection === undefined || connection.isOver) return;
    // Answered as uWebSockets.js does: Node.js itself would answer without a body.
    if (message.headers.host === undefined && message.httpVersion === '1.1') {
      connection.isOver = true;
      hangUpWith(socket, new ServiceError('malformed-request', 'A request of HTTP/1.1 has a Host header.'));
      return;
    }
    const carried = new NodeResponse(message, response, () => {
      connection.isOver = true;
    });
    connection.answering.add(carried);
    response.once('close', () => {
      connection.answering.delete(carried);
      carried.gone();
    });
    onRequest(carried, new NodeRequest(message));
  };
  server.on('request', take);
  server.on('checkExpectation', take);

  return {
    name: "Node.js's own web server",
    lastWords,
    listen: () =>
      new Promise((resolve, reject) => {
        // Later errors come from connections that could not be accepted; their clients notice.
        server.on('error', (error) => {
          reject(isSystemError(error) && REFUSALS.has(error.code) ? new ListenError(host, port) : error);
        });
        server.listen({ host, port, exclusive: true }, () => {
          resolve((server.address() as AddressInfo).port);
        });
      }),
    stopListening() {
      // The HTTP server's own close would also end connections that wait for their next request.
      NetServer.prototype.close.call(server);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const REFUSALS: ReadonlySet<string | undefined> = new Set(['EADDRINUSE', 'EADDRNOTAVAIL', 'EACCES', 'ENOTFOUND']);

const lastWords: LastWords = {
  say(res, body) {
    (res as NodeResponse).say(body);
  },
  hangUpWith(res, body) {
    res.end(body, true);
  },
};
