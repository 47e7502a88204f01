/** A plain HTTP client that can also send invalid requests. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerChecker } from './answer-checker.js';

/**
 * Shorter than the service's limit of 10 s for idle connections, so that no connection is closed while a request is
 * being sent. Measured from the last request: the service counts from its answer, which may stay unread for long if
 * this process is held up.
 */
const IDLE_MS_MAX = 4000;
/**
 * FIFO, since the default would reuse the most recently answered connection, which may have just been closed because
 * its answer took long.
 */
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: IDLE_MS_MAX, scheduling: 'fifo' });
const sentMs = new WeakMap<Socket, number>();

/** Closes connections that the agent's timers would have closed if this process had not been held up. */
function dropIdleConnections(): void {
  for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []))
    if (performance.now() - (sentMs.get(socket) ?? 0) > IDLE_MS_MAX) socket.destroy();
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Parsed JSON; undefined if there is none. */
  readonly body: unknown;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly bytes?: string | Uint8Array;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
}

export type ServiceAddress = string | { readonly socketPath: string };

export class ServiceClient {
  constructor(
    readonly address: ServiceAddress,
    readonly key: string | undefined,
    readonly checker?: AnswerChecker,
  ) {}

  get(path: string, query?: RequestOptions['query']): Promise<Answer> {
    return this.send('GET', path, query === undefined ? {} : { query });
  }

  post(path: string, json: unknown): Promise<Answer> {
    return this.send('POST', path, { json });
  }

  put(path: string, json: unknown): Promise<Answer> {
    return this.send('PUT', path, { json });
  }

  patch(path: string, json: unknown): Promise<Answer> {
    return this.send('PATCH', path, { json });
  }

  delete(path: string, query?: RequestOptions['query']): Promise<Answer> {
    return this.send('DELETE', path, query === undefined ? {} : { query });
  }

  /** Imports records in bulk, as NDJSON or in another format. */
  bulk(
    account: string,
    list: string,
    records: readonly unknown[] | string | Uint8Array,
    contentType = 'application/x-ndjson',
  ) {
    const bytes =
      typeof records === 'string' || records instanceof Uint8Array
        ? records
        : records.map((record) => `${JSON.stringify(record)}\n`).join('');
    return this.send('POST', `/search-result/${account}/${list}/bulk`, {
      bytes,
      headers: { 'Content-Type': contentType },
    });
  }

  /** Sends the request, and checks the answer against the OpenAPI document if there is a checker. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const answer = await this.#exchange(method, path, options);
    this.checker?.check(method, path, answer);
    return answer;
  }

  #exchange(method: string, path: string, { headers = {}, json, bytes, query }: RequestOptions): Promise<Answer> {
    const content = json === undefined ? bytes : JSON.stringify(json);
    const sent: Record<string, string> = { ...(this.key === undefined ? {} : { 'X-API-Key': this.key }) };
    if (json !== undefined) sent['Content-Type'] = 'application/json';
    if (content !== undefined) sent['Content-Length'] = String(Buffer.byteLength(content));
    const target = query === undefined ? path : `${path}?${queryString(query)}`;
    dropIdleConnections();
    return new Promise((resolve, reject) => {
      const outgoing = httpRequest(
        { ...destination(this.address), method, path: target, headers: { ...sent, ...headers }, agent },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.on('error', reject);
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, body: parsed(text) });
          });
        },
      );
      outgoing.on('error', reject);
      outgoing.once('socket', (socket) => sentMs.set(socket, performance.now()));
      outgoing.end(content);
    });
  }
}

function destination(address: ServiceAddress) {
  if (typeof address !== 'string') return address;
  const { hostname, port } = new URL(address);
  return { host: hostname, port };
}

function queryString(query: NonNullable<RequestOptions['query']>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(String(value)))}`)
    .join('&');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Replaces unpaired surrogates, which no URL can contain, as browsers do. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
