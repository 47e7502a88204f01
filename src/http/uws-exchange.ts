/**
 * One request of uWebSockets.js. `HttpRequest` lives only until the route handler returns, so that everything of it is taken
 * at once; chunks of a body are copied, since uWebSockets reuses their memory.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { HeadedBytes, type Credential } from '../operations/index.js';
import type { Cancellation } from '../platform/index.js';
import { answerBytes, ClientGone, type Answer, type IncomingRequest } from './exchange.js';
import { IncomingBody } from './incoming-body.js';
import { statusLine } from './status-lines.js';

/** Characters or bytes of an answer that go out in one write, whatever the connection takes: the library keeps a copy of the rest. */
export const SENT_AT_ONCE_MAX = 65_536;
/** Of a reader that is slow: what is larger than this beside the rest of an answer is not kept for it. */
const KEPT_BESIDE_BYTES_MAX = 65_536;

/** Shared by all requests that nobody listens to: most of them. */
const NO_LISTENERS: (() => void)[] = [];

/** Set when the client goes away. */
class Gone implements Cancellation {
  reason: ClientGone | undefined;
  #listeners: (() => void)[] = NO_LISTENERS;

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  abort(reason: ClientGone): void {
    this.reason = reason;
    for (const listener of this.#listeners) listener();
    this.#listeners = NO_LISTENERS;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }
}

export class UwsExchange implements IncomingRequest {
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly credential: Credential;
  readonly requestIdHeader: string;
  readonly contentType: string | undefined;
  readonly origin: string;
  readonly bodyBytes: number | undefined;
  readonly signal = new Gone();
  readonly #res: HttpResponse;
  #body: IncomingBody | undefined;
  #bodyEnded: boolean;
  #answered = false;
  #keptOpen = false;
  #onGone: (() => void) | undefined;

  constructor(res: HttpResponse, req: HttpRequest) {
    this.#res = res;
    this.method = req.getMethod().toUpperCase();
    this.path = req.getUrl();
    // Undefined where the URL has no `?`, whatever the declaration says.
    this.queryString = textOr(req.getQuery(), '');
    this.credential = { kind: 'key', header: orUndefined(req.getHeader('x-api-key')) };
    this.requestIdHeader = req.getHeader('x-request-id');
    this.origin = req.getHeader('origin');
    this.bodyBytes = declaredBytes(req);
    this.contentType = this.#mayHaveContent() ? orUndefined(req.getHeader('content-type')) : undefined;
    this.#bodyEnded = this.bodyBytes === 0;
  }

  get bodyPending(): boolean {
    return !this.#bodyEnded;
  }

  read(bytesMax: number, ready?: Promise<void>): Promise<Uint8Array> {
    return this.#receive(bytesMax, ready).whole();
  }

  stream(bytesMax: number, ready?: Promise<void>): AsyncIterable<Uint8Array> {
    return this.#receive(bytesMax, ready).stream();
  }

  /** Has to be called before the route handler returns where the answer, or its last piece, comes later. */
  keepOpen(): void {
    if (this.#keptOpen) return;
    this.#keptOpen = true;
    this.#res.onAborted(() => {
      const error = new ClientGone();
      this.signal.abort(error);
      this.#onGone?.();
      this.#body?.fail(error);
    });
  }

  /**
   * Sends the answer, or nothing when the client is gone. Returns a promise where the client takes a long one more slowly than
   * it is sent: it resolves when all is sent or the client is gone.
   */
  write(answer: Answer): Promise<void> | undefined {
    if (this.signal.aborted || this.#answered) return undefined;
    this.#answered = true;
    // Until the route handler returns, the library gathers what is written by itself.
    if (!this.#keptOpen) return this.#writeAll(answer);
    let sent: Promise<void> | undefined;
    this.#res.cork(() => {
      sent = this.#writeAll(answer);
    });
    return sent;
  }

  /** Ends the connection, whatever is still to be sent. */
  hangUp(): void {
    if (!this.signal.aborted) this.#res.close();
  }

  /** A body without bytes has a type all the same; what reads has no body and needs none. */
  #mayHaveContent(): boolean {
    return this.bodyBytes !== 0 || (this.method !== 'GET' && this.method !== 'HEAD');
  }

  #writeAll(answer: Answer): Promise<void> | undefined {
    this.#writeHead(answer);
    return this.#writeBody(answer);
  }

  #writeHead({ status, headers, contentType }: Answer): void {
    const res = this.#res;
    // What the library writes without being told.
    if (status !== 200) res.writeStatus(statusLine(status));
    for (const [name, value] of headers) res.writeHeader(name, value);
    if (contentType !== undefined) res.writeHeader('Content-Type', contentType);
  }

  #writeBody(answer: Answer): Promise<void> | undefined {
    const { status, body, headOnly, close } = answer;
    const res = this.#res;
    if (body === undefined) {
      // Given as undefined, the length would be sent as 2^63: a 204, which has none, must leave it out altogether.
      if (status === 204 && !close) res.endWithoutBody();
      else res.endWithoutBody(0, close);
    } else if (headOnly) {
      this.#endHead(answerBytes(answer), close);
    } else if (body instanceof HeadedBytes) {
      if (body.byteLength > SENT_AT_ONCE_MAX && !close) return this.#writeSlowly(body.toBytes());
      // The library copies what the connection does not take before it returns.
      res.end(body.borrow(), close);
    } else if (body.length <= SENT_AT_ONCE_MAX || close) {
      res.end(body, close);
    } else {
      return this.#writeSlowly(typeof body === 'string' ? Buffer.from(body) : body);
    }
    return undefined;
  }

  /**
   * The library takes a length that it only reports for bytes still to come, and then hangs up on the connection's next
   * request; so the header is written by hand where the connection is to live on.
   */
  #endHead(bytes: number, close: boolean): void {
    if (close) {
      this.#res.endWithoutBody(bytes, close);
    } else {
      this.#res.writeHeader('Content-Length', String(bytes));
      this.#res.endWithoutBody();
    }
  }

  /** In pieces that the connection takes, so that a slow reader does not make a second copy of the rest pile up. */
  #writeSlowly(body: Uint8Array): Promise<void> | undefined {
    const res = this.#res;
    this.keepOpen();
    const [, done] = res.tryEnd(body, body.byteLength);
    if (done) return undefined;
    const sentBytes = res.getWriteOffset();
    const rest = ownBytes(body, sentBytes);
    return new Promise((resolve) => {
      this.#onGone = resolve;
      res.onWritable((offset) => {
        const [sentAll, ended] = res.tryEnd(rest.subarray(offset - sentBytes), body.byteLength);
        if (ended) resolve();
        return sentAll;
      });
    });
  }

  #receive(bytesMax: number, ready: Promise<void> | undefined): IncomingBody {
    const res = this.#res;
    // A response that is answered or aborted must not be touched; a connection left paused would never close.
    const whileOpen = (action: () => void) => () => {
      if (!this.signal.aborted && !this.#answered) action();
    };
    const source = { pause: whileOpen(() => res.pause()), resume: whileOpen(() => res.resume()) };
    const body = new IncomingBody(source, { bytesMax, announcedBytes: this.bodyBytes, ready });
    this.#body = body;
    res.onData((chunk, isLast) => {
      if (this.#answered) return;
      body.push(new Uint8Array(chunk));
      if (isLast) {
        this.#bodyEnded = true;
        body.end();
      }
      body.settle();
    });
    return body;
  }
}

/** The bytes from `begin` on, without much else that would be kept with them: an answer may be a part of a larger buffer. */
function ownBytes(body: Uint8Array, begin: number): Uint8Array {
  const rest = body.subarray(begin);
  return body.buffer.byteLength - rest.byteLength > KEPT_BESIDE_BYTES_MAX ? rest.slice() : rest;
}

/** Bytes of the body as the headers say: 0 without one, undefined for a chunked one. */
function declaredBytes(req: HttpRequest): number | undefined {
  const length = req.getHeader('content-length');
  if (length !== '') return Number(length);
  return req.getHeader('transfer-encoding') === '' ? 0 : undefined;
}

function orUndefined(header: string): string | undefined {
  return header === '' ? undefined : header;
}

function textOr(text: string | undefined, otherwise: string): string {
  return text ?? otherwise;
}
