/** Answers what never becomes a request: Node.js's HTTP parser refuses it, and would answer without a body. */
import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../platform/index.js';
import { PROBLEM_TYPE } from './failures.js';
import { statusLine } from './status-lines.js';

/** `isOver`: true for a connection of which nothing more is read, as its client was told. */
export function answerClientErrors(server: Server, isOver: (socket: Duplex) => boolean = () => false): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A head that arrives too late is not malformed.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy();
    else if (!isOver(socket)) hangUpWith(socket, asProblem(error));
  });
  server.on('connect', (_request, socket) => {
    hangUpWith(
      socket,
      new ServiceError('method-not-allowed', 'The service is not a proxy: it does not support CONNECT.'),
    );
  });
}

function asProblem({ code }: NodeJS.ErrnoException): ServiceError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ServiceError('headers-too-large', 'The URL and headers are longer than the service accepts.');
  }
  return new ServiceError('malformed-request', 'This is not a valid HTTP request.');
}

/** Answers with the error and ends the connection: where the next request would begin is not known. */
export function hangUpWith(socket: Duplex, error: ServiceError): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(error.toProblem());
  const head = [
    `HTTP/1.1 ${statusLine(error.status)}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
