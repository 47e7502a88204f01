/**
 * The HTTP front end on uWebSockets.js. Single-threaded: everything here runs on the main thread, and a `HttpResponse` is used
 * only until it is answered or aborted.
 */
import { setImmediate } from 'node:timers/promises';
import type { us_listen_socket } from 'uWebSockets.js';
import type { ByteBudget } from '../platform/index.js';
import type { Answer, RequestHandler } from './exchange.js';
import type { ConnectionRoom } from './connection-room.js';
import { ListenError } from './listening.js';
import { SlowReaders } from './slow-readers.js';
import { UploadWatch } from './upload-watch.js';
import { UwsExchange } from './uws-exchange.js';
import { uWebSockets } from './uws-library.js';
import { Visitors, type VisitorOptions } from './visitors.js';

const { App, us_listen_socket_close, us_socket_local_port } = uWebSockets;

/** `LIBUS_LISTEN_EXCLUSIVE_PORT`: without it two processes could listen on one port, each with half of the connections. */
const EXCLUSIVE_PORT = 1;
/** Clients that are still sending what nobody reads have so long to take their answers when the service stops. */
const RESTS_AT_STOP_MS_MAX = 1000;

export interface HttpServerOptions {
  readonly handle: RequestHandler;
  readonly host: string;
  /** 0: one that the system chooses. */
  readonly port: number;
  /** Where room for answers is reserved. */
  readonly answers: ByteBudget;
  /** Of a body on its way nothing arrives for so long: 408. */
  readonly bodyIdleMsMax: number;
  readonly visitors: VisitorOptions;
  readonly connections: ConnectionRoom;
}

export interface HttpServer {
  /** The port that it listens on. Rejects with a ListenError. */
  listen(): Promise<number>;
  /** No new connections; those that exist go on. */
  stopListening(): void;
  /** Ends every connection once the answers on their way are sent, or after the time given. */
  close(timeoutMs: number): Promise<void>;
}

export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { handle, host, port, answers, bodyIdleMsMax, connections } = options;
  const app = App();
  let socket: us_listen_socket | undefined;
  const sending: Sending = { answers: new Set(), rests: new Set(), slowReaders: new SlowReaders(answers) };
  const uploads = new UploadWatch({ idleMsMax: bodyIdleMsMax });
  const needs = { uploads, visitors: new Visitors(options.visitors) };
  // Called with 1 for each connection that is made, and with -1 for each that is gone.
  app.filter((res, change) => {
    if (change === -1) connections.leave();
    else if (!connections.enter()) res.close();
  });
  app.any('/*', (res, req) => {
    serve(handle, new UwsExchange(res, req, needs), sending);
  });

  function stopListening(): void {
    if (socket === undefined) return;
    us_listen_socket_close(socket);
    socket = undefined;
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        const onListen = (listening: us_listen_socket | false): void => {
          if (listening === false) {
            reject(new ListenError(host, port));
            return;
          }
          socket = listening;
          resolve(us_socket_local_port(listening));
        };
        listenOn(host, port, onListen);
      }),
    stopListening,
    async close(timeoutMs) {
      stopListening();
      await Promise.all([
        settled(sending.answers, timeoutMs),
        settled(sending.rests, Math.min(timeoutMs, RESTS_AT_STOP_MS_MAX)),
      ]);
      app.close();
      uploads.close();
    },
  };

  function listenOn(address: string, at: number, onListen: (socket: us_listen_socket | false) => void): void {
    // The native function takes host, port, options and callback together; its declaration lacks this form.
    const listen = app.listen.bind(app) as unknown as (
      host: string,
      port: number,
      options: number,
      callback: (socket: us_listen_socket | false) => void,
    ) => void;
    listen(address, at, EXCLUSIVE_PORT, onListen);
  }
}

interface Sending {
  /** Those on their way. */
  readonly answers: Set<Promise<void>>;
  /** Of requests that are answered and still come. */
  readonly rests: Set<Promise<void>>;
  readonly slowReaders: SlowReaders;
}

function serve(handle: RequestHandler, exchange: UwsExchange, sending: Sending): void {
  const answer = handle(exchange);
  exchange.endTurn();
  if (answer instanceof Promise) {
    exchange.keepOpen();
    void answer.then((later) => {
      send(exchange, later, sending);
    });
  } else {
    send(exchange, answer, sending);
  }
}

function send(exchange: UwsExchange, answer: Answer, sending: Sending): void {
  const sent = exchange.write(answer);
  if (sent === undefined) {
    answer.sent?.();
    return;
  }
  const waited = exchange.dropsRest ? sending.rests : sending.answers;
  waited.add(sent);
  if (!exchange.dropsRest) {
    sending.slowReaders.add(sent, () => {
      exchange.hangUp();
    });
  }
  void sent.then(() => {
    waited.delete(sent);
    answer.sent?.();
  });
}

async function settled(sending: ReadonlySet<Promise<void>>, timeoutMs: number): Promise<void> {
  // Answers of requests that were just handled are written in this turn of the event loop.
  await setImmediate();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([Promise.all(sending), timeout]);
  clearTimeout(timer);
}
