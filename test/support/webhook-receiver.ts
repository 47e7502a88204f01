/** A receiver of webhooks on loopback that records deliveries and answers as told. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly id: string; readonly list: string; readonly data: Readonly<Record<string, unknown>> };
  /** Unix milliseconds. */
  readonly atMs: number;
}

/** Answers a delivery; default 204. */
export type Answering = (delivery: Received, response: ServerResponse) => void;

export class WebhookReceiver {
  readonly received: Received[] = [];
  /** False to answer deliveries without recording them. */
  isKeeping = true;
  answering: Answering = (_delivery, response) => response.writeHead(204).end();
  #server: Server | undefined;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const delivery: Received = {
          path: request.url ?? '',
          headers: request.headers,
          text,
          body: JSON.parse(text) as Received['body'],
          atMs: Date.now(),
        };
        if (receiver.isKeeping) receiver.received.push(delivery);
        receiver.answering(delivery, response);
      });
    });
    // Leaves closing connections to the sender: if the server did, the next delivery of a delayed sender could fail.
    server.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.#server = server;
    return receiver;
  }

  /** `http://127.0.0.1:…/hook`. */
  url(path = '/hook'): string {
    return `http://127.0.0.1:${((this.#server as Server).address() as AddressInfo).port}${path}`;
  }

  /** Returns the deliveries to this path, in order. */
  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Returns the events sent to the path as `[type, body]`, when there are so many. */
  async events(count: number, path = '/hook'): Promise<[type: string, body: Received['body']][]> {
    const all = await eventually(
      () => Promise.resolve(this.at(path)),
      (found) => found.length >= count,
    );
    return all.map(({ headers, body }) => [String(headers['x-service-event']), body]);
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}
