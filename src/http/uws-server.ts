/** uWebSockets.js as what carries requests. A response of it is used only until it is answered or aborted. */
import { createRequire } from 'node:module';
import type * as Library from 'uWebSockets.js';
import type { us_listen_socket } from 'uWebSockets.js';
import { ListenError } from './listening.js';
import { HEAD_BYTES_MAX, type LastWords, type WebServer, type WebServerOptions, type WireResponse } from './wire.js';

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`: without it two processes could listen on one port, each with half of the connections. */
const EXCLUSIVE_PORT = 1;
/** What the library gathers before it writes anything. */
const GATHERED_BYTES_MAX = 16_384;
const LINE_END_BYTES = 2;

/**
 * Throws where it has no binary for this machine. It takes the environment's word when it is loaded: its own limit of 4 KiB holds only for heads
 * that arrive in more than one piece, or with its builds for Node.js 22 and later, so that the same request would pass here and fail there.
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
  // Called with 1 for each connection that is made, and with -1 for each that is gone.
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
 * The library goes on to parse what follows an answered request, whatever the answer says about the connection, and closes as soon as it has
 * written an answer of its own. So these are written past its back.
 */
const lastWords: LastWords = {
  say(res, body) {
    writePast(res, body);
  },
  /** Only what exceeds the library's buffer is sent at once: blanks behind the JSON see to that. */
  hangUpWith(res, body) {
    const padded = Buffer.alloc(GATHERED_BYTES_MAX, ' ');
    writePast(res, Buffer.concat([body, padded.subarray(body.byteLength)]));
    res.close();
  },
};

/** The library ends each header's line: the last line end belongs to the body, as blanks behind JSON may. */
function writePast(res: WireResponse, body: Uint8Array): void {
  res.writeHeader('Connection', 'close');
  const length = Buffer.from(`${body.byteLength + LINE_END_BYTES}\r\n\r\n`);
  // What is declared as a text may be bytes.
  res.writeHeader('Content-Length', Buffer.concat([length, body]) as unknown as string);
}
