/** The HTTP front end on whichever web server carries it. Single-threaded: everything here runs on the main thread. */
import { setImmediate } from 'node:timers/promises';
import type { ByteBudget } from '../platform/index.js';
import type { Answer, RequestHandler } from './exchange.js';
import { HttpExchange } from './http-exchange.js';
import { SlowReaders } from './slow-readers.js';
import { UploadWatch } from './upload-watch.js';
import { Visitors, type VisitorOptions } from './visitors.js';
import type { WebServer, WebServerName, WebServerOptions } from './wire.js';

/** Clients that are still sending what nobody reads have so long to take their answers when the service stops. */
const RESTS_AT_STOP_MS_MAX = 1000;

export interface HttpServerOptions extends Omit<WebServerOptions, 'onRequest'> {
  readonly carriedBy: (options: WebServerOptions) => WebServer;
  readonly handle: RequestHandler;
  /** Where room for answers is reserved. */
  readonly answers: ByteBudget;
  /** Of a body on its way nothing arrives for so long: 408. */
  readonly bodyIdleMsMax: number;
  readonly visitors: VisitorOptions;
}

export interface HttpServer {
  /** What carries it. */
  readonly webServer: WebServerName;
  /** The port that it listens on. Rejects with a ListenError. */
  listen(): Promise<number>;
  /** No new connections; those that exist go on. */
  stopListening(): void;
  /** Ends every connection once the answers on their way are sent, or after the time given. */
  close(timeoutMs: number): Promise<void>;
}

export function createHttpServer({
  handle,
  carriedBy,
  answers,
  bodyIdleMsMax,
  visitors: visitorOptions,
  ...options
}: HttpServerOptions): HttpServer {
  const sending: Sending = { answers: new Set(), rests: new Set(), slowReaders: new SlowReaders(answers) };
  const uploads = new UploadWatch({ idleMsMax: bodyIdleMsMax });
  const visitors = new Visitors(visitorOptions);
  const server = carriedBy({
    ...options,
    onRequest: (res, req) => {
      serve(handle, new HttpExchange(res, req, { uploads, visitors, lastWords: server.lastWords }), sending);
    },
  });
  return {
    webServer: server.name,
    listen: () => server.listen(),
    stopListening: () => server.stopListening(),
    async close(timeoutMs) {
      server.stopListening();
      await Promise.all([
        settled(sending.answers, timeoutMs),
        settled(sending.rests, Math.min(timeoutMs, RESTS_AT_STOP_MS_MAX)),
      ]);
      server.close();
      uploads.close();
    },
  };
}

interface Sending {
  /** Those on their way. */
  readonly answers: Set<Promise<void>>;
  /** Of requests that are answered and still come. */
  readonly rests: Set<Promise<void>>;
  readonly slowReaders: SlowReaders;
}

function serve(handle: RequestHandler, exchange: HttpExchange, sending: Sending): void {
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

function send(exchange: HttpExchange, answer: Answer, sending: Sending): void {
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
