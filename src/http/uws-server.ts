/** The web server uWebSockets.js. A response of it must not be used once it is answered or aborted. */
import { createRequire } from 'node:module';
import type * as Library from 'uWebSockets.js';
import type { us_listen_socket } from 'uWebSockets.js';
import { ListenError } from './listening.js';
import { HEAD_BYTES_MAX, type LastWords, type WebServer, type WebServerOptions, type WireResponse } from './wire.js';

/**
 * `LIBUS_LISTEN_EXCLUSIVE_PORT`: otherwise two processes could listen on one port, each getting half of the
 * connections.
 */
const EXCLUSIVE_PORT = 1;
/** Bytes that the library buffers before it writes. */
const GATHERED_BYTES_MAX = 16_384;
const LINE_END_BYTES = 2;

/**
 * Loads the library; throws if it has no binary for this machine. The limit of a head is set by an environment
 * variable, which is read at loading. The library's own limit of 4 KiB only applies to heads that arrive in several
 * pieces, or in its builds for Node.js 22 and later, so the same request would pass in one place and fail in another.
 */
export function loadUWebSockets(): typeof Library {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);
  return createRequire(import.meta.url)('uWebSockets.js') as typeof Library;
}

export function createUwsServer(
  { App, us_listen_socket_close, us_socket_local_port }: typeof Library,
  { host, port, connections, onRequest }: WebServerOptions,
): WebServer {
  const app = App();
  let socket: us_listen_socket | undefined;
  // Called with 1 for each new connection, and with -1 for each that is gone.
  app.filter((res, change) => {
    if (change === -1) connections.leave();
    else if (!connections.enter()) res.close();
  });
  app.any('/*', onRequest);
  // The native function takes host, port, options and callback together; its declaration lacks this form.
  const listen = app.listen.bind(app) as unknown as (
    host: string,
    port: number,
    options: number,
    callback: (socket: us_listen_socket | false) => void,
  ) => void;

  return {
    name: 'uWebSockets.js',
    lastWords,
    listen: () =>
      new Promise((resolve, reject) => {
        listen(host, port, EXCLUSIVE_PORT, (listening) => {
          if (listening === false) {
            reject(new ListenError(host, port));
            return;
          }
          socket = listening;
          resolve(us_socket_local_port(listening));
        });
      }),
    stopListening() {
      if (socket === undefined) return;
      us_listen_socket_close(socket);
      socket = undefined;
    },
    close() {
      app.close();
    },
  };
}

/**
 * Answers after which the connection is closed. After answering a request, the library goes on parsing what follows,
 * whatever the answer says about the connection, and closes as soon as it has written such an answer itself. So these
 * are written without it noticing.
 */
const lastWords: LastWords = {
  say(res, body) {
    writePast(res, body);
  },
  /** Only what exceeds the library's buffer is sent at once, so the JSON is padded with spaces. */
  hangUpWith(res, body) {
    const padded = Buffer.alloc(GATHERED_BYTES_MAX, ' ');
    writePast(res, Buffer.concat([body, padded.subarray(body.byteLength)]));
    res.close();
  },
};

/**
 * Writes the body as part of a header. The library ends each header line, so the last line end belongs to the body;
 * white space after JSON is harmless.
 */
function writePast(res: WireResponse, body: Uint8Array): void {
  res.writeHeader('Connection', 'close');
  const length = Buffer.from(`${body.byteLength + LINE_END_BYTES}\r\n\r\n`);
  // Declared as a string, but bytes are accepted.
  res.writeHeader('Content-Length', Buffer.concat([length, body]) as unknown as string);
}
