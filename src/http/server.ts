/** The HTTP front end, on either web server. Single-threaded: everything here runs on the main thread. */
import { setImmediate } from 'node:timers/promises';
import type { ByteBudget } from '../platform/index.js';
import type { Answer, RequestHandler } from './exchange.js';
import { HttpExchange } from './http-exchange.js';
import { SlowReaders } from './slow-readers.js';
import { UploadWatch } from './upload-watch.js';
import { Visitors, type VisitorOptions } from './visitors.js';
import type { WebServer, WebServerName, WebServerOptions } from './wire.js';

/** When the service stops: time for clients that are still sending a dropped body to read their answers. */
const RESTS_AT_STOP_MS_MAX = 1000;

export interface HttpServerOptions extends Omit<WebServerOptions, 'onRequest'> {
  readonly carriedBy: (options: WebServerOptions) => WebServer;
  readonly handle: RequestHandler;
  /** Budget in which room for answers is reserved. */
  readonly answers: ByteBudget;
  /** Time without any byte of an unfinished body after which it is answered with 408. */
  readonly bodyIdleMsMax: number;
  readonly visitors: VisitorOptions;
}

export interface HttpServer {
  /** The web server used. */
  readonly webServer: WebServerName;
  /** Starts listening; resolves with the port. Rejects with a ListenError. */
  listen(): Promise<number>;
  /** Accepts no new connections; existing ones continue. */
  stopListening(): void;
  /** Ends every connection once its answers are sent, or after the timeout. */
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
  /** Answers being sent. */
  readonly answers: Set<Promise<void>>;
  /** Answered requests whose rest is still being received. */
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
  // Answers of requests handled just now are written in this turn of the event loop.
  await setImmediate();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([Promise.all(sending), timeout]);
  clearTimeout(timer);
}
