/** An HTTP server on loopback that answers as a test defines, and records requests. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Script = (asked: Asked, response: ServerResponse) => void;

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}

export class ScriptedServer {
  readonly asked: Asked[] = [];
  script: Script = (_asked, response) => response.end();
  underWayMax = 0;
  #underWay = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#underWay += 1;
      this.underWayMax = Math.max(this.underWayMax, this.#underWay);
      // An answer is finished with its last byte: the client may send the next request before `close` is emitted.
      const over = once(() => (this.#underWay -= 1));
      response.once('finish', over).once('close', over);
      void this.#answer(request, response);
    });
    // Leaves closing connections to the client: if the server did, the next request of a delayed client could fail.
    this.#server.keepAliveTimeout = 0;
  }

  static async start(): Promise<ScriptedServer> {
    const started = new ScriptedServer();
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve));
    return started;
  }

  get underWay(): number {
    return this.#underWay;
  }

  url(path = '/'): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const asked = { method, path, headers, body: Buffer.concat(chunks).toString() };
    this.asked.push(asked);
    this.script(asked, response);
  }

  /** Closes all connections, so that the next request has to connect. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
