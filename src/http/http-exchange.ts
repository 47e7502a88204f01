/**
 * One HTTP request. Its data are only valid until its handler returns, so they are copied at once; chunks of a body are
 * copied since uWebSockets.js reuses their memory.
 */
import { AGENTS_PATH, HeadedBytes, StreamedBody, type Credential, type Visitor } from '../operations/index.js';
import type { ServiceError } from '../platform/index.js';
import { answerBytes, ClientGone, type Answer, type IncomingRequest } from './exchange.js';
import { IncomingBody, SMALL_BYTES_MAX, type IncomingBodyOptions } from './incoming-body.js';
import { Gone } from './gone.js';
import { dropRest } from './lingering.js';
import { readHead } from './request-framing.js';
import { writeEvents } from './event-writer.js';
import { isPageRequest, type PageHeaders } from './site.js';
import { statusLine } from './status-lines.js';
import type { UploadWatch } from './upload-watch.js';
import { UNKNOWN_VISITOR, type Visitors } from './visitors.js';
import type { LastWords, WireRequest, WireResponse } from './wire.js';
import type { UploadWindow } from './upload-window.js';

/**
 * An answer of at most this length, which uWebSockets.js buffers, is sent completely before its connection is closed.
 */
/** Time for the rest of a short body, before its connection is closed instead. */
const REST_MS_MAX = 2000;
const SHORT_BYTES_MAX = 16_384;
/** Status for a client that has stopped sending: it may continue any time, or never. */
const STALLED_STATUS = 408;

export interface ExchangeNeeds {
  readonly uploads: UploadWatch;
  readonly visitors: Visitors;
  readonly lastWords: LastWords;
}

export class HttpExchange implements IncomingRequest {
  readonly method: string;
  readonly path: string;
  readonly queryString: string;
  readonly credential: Credential;
  readonly visitor: Visitor;
  readonly requestIdHeader: string;
  readonly contentType: string | undefined;
  readonly origin: string;
  readonly page: PageHeaders | undefined;
  readonly bodyBytes: number | undefined;
  readonly fault: ServiceError | undefined;
  readonly signal = new Gone();
  readonly #res: WireResponse;
  /** Undefined once the route handler has returned. */
  #req: WireRequest | undefined;
  readonly #uploads: UploadWatch;
  readonly #lastWords: LastWords;
  #watched: IncomingBody | undefined;
  #body: IncomingBody | undefined;
  #failRead: ((error: Error) => void) | undefined;
  /** True if the library closes the connection after the answer. */
  readonly #closes: boolean;
  #bodyEnded: boolean;
  #answered = false;
  #keptOpen = false;
  #dropsRest = false;
  #onGone: (() => void) | undefined;
  /** Set while an answer waits for the rest of the body. To be called when it has arrived, or if the connection is to be closed. */
  #onRest: ((close: boolean) => void) | undefined;

  constructor(res: WireResponse, req: WireRequest, { uploads, visitors, lastWords }: ExchangeNeeds) {
    this.#res = res;
    this.#req = req;
    this.#uploads = uploads;
    this.#lastWords = lastWords;
    this.method = req.getMethod().toUpperCase();
    this.path = req.getUrl();
    // Undefined if the URL has no `?`, despite its declared type.
    this.queryString = textOr(req.getQuery(), '');
    const head = readHead(req, this.method === 'GET' || this.method === 'HEAD');
    const apiKey = head.apiKey === '' && this.path === AGENTS_PATH ? bearerOf(req) : head.apiKey;
    if (apiKey === '') {
      this.credential = visitors.credential(req);
      this.visitor = visitors.visitor(req, res);
    } else {
      this.credential = { kind: 'key', header: apiKey };
      this.visitor = UNKNOWN_VISITOR;
    }
    this.requestIdHeader = head.requestId;
    this.origin = head.origin;
    this.bodyBytes = head.bodyBytes;
    this.fault = head.fault;
    this.#closes = head.closes;
    this.page = isPageRequest(this.method, this.path, () => req.getHeader('accept'))
      ? { acceptEncoding: req.getHeader('accept-encoding'), ifNoneMatch: req.getHeader('if-none-match') }
      : undefined;
    // A body of zero bytes also has a type.
    this.contentType = orUndefined(head.contentType);
    this.#bodyEnded = this.bodyBytes === 0;
  }

  /** True if it is answered, and the rest of the request is read and dropped. */
  get dropsRest(): boolean {
    return this.#dropsRest;
  }

  get bodyPending(): boolean {
    return !this.#bodyEnded;
  }

  header(name: string): string {
    if (this.#req === undefined) throw new Error('the headers of a request are there in its first turn only');
    return this.#req.getHeader(name);
  }

  /** Must be called when the route handler returns. */
  endTurn(): void {
    this.#req = undefined;
  }

  read(bytesMax: number, ready?: Promise<void>): Promise<Uint8Array> {
    const isSmall = this.bodyBytes !== undefined && this.bodyBytes <= Math.min(bytesMax, SMALL_BYTES_MAX);
    return isSmall && ready === undefined ? this.#readSmall(bytesMax) : this.#receive({ bytesMax, ready }).whole();
  }

  stream(bytesMax: number, ready?: Promise<void>, window?: UploadWindow): AsyncIterable<Uint8Array> {
    return this.#receive({ bytesMax, ready, window }).stream();
  }

  /** Must be called before the route handler returns if the answer, or its last piece, comes later. */
  keepOpen(): void {
    if (this.#keptOpen) return;
    this.#keptOpen = true;
    this.#res.onAborted(() => {
      const error = new ClientGone();
      this.signal.abort(error);
      this.#onGone?.();
      this.#failRead?.(error);
      this.#body?.fail(error);
      this.#unwatch();
    });
  }

  /**
   * Sends the answer, or nothing if the client is gone. Returns a promise if the client receives a long one more slowly
   * than it is sent: it resolves when all is sent or the client is gone.
   */
  write(answer: Answer): Promise<void> | undefined {
    if (this.signal.aborted || this.#answered) {
      if (answer.body instanceof StreamedBody) answer.body.letGo();
      return undefined;
    }
    if (this.#body !== undefined && this.bodyPending && !answer.close) return this.#writeBehindBody(answer);
    // The library's builds for Node.js 22 and later leave a connection paused when its request is answered.
    this.#body?.letGo();
    this.#answered = true;
    this.#unwatch();
    if (this.fault !== undefined) return this.#hangUpWith(answer);
    if (this.#isReadOn(answer)) return this.#readOnBehind(answer, answer.body);
    // Until the route handler returns, the library corks writes itself.
    if (!this.#keptOpen) return this.#writeAll(answer);
    let sent: Promise<void> | undefined;
    this.#res.cork(() => {
      sent = this.#writeAll(answer);
    });
    return sent;
  }

  /**
   * Sends the answer when the rest of the body, which is short, has arrived. When a body ends, the library takes the
   * timeout from its connection until the answer; if that was sent before, the connection would have none for good.
   */
  #writeBehindBody(answer: Answer): Promise<void> {
    this.keepOpen();
    return new Promise((resolve) => {
      // A client that does not send the rest gets its answer all the same, and a connection that is closed behind it.
      const timer = setTimeout(() => this.#onRest?.(true), REST_MS_MAX).unref();
      this.#onGone = resolve;
      this.#onRest = (close) => {
        clearTimeout(timer);
        this.#onRest = undefined;
        resolve(this.write(close ? { ...answer, close } : answer));
      };
      // Nobody reads the body, so it may be paused for its reader.
      this.#body?.letGo();
    });
  }

  /** Ends the connection, whatever is still to be sent. */
  hangUp(): void {
    if (!this.signal.aborted) this.#res.close();
  }

  #writeAll(answer: Answer): Promise<void> | undefined {
    this.#writeHead(answer);
    return this.#writeBody(answer);
  }

  #hangUpWith(answer: Answer): undefined {
    this.#writeHead(answer);
    this.#lastWords.hangUpWith(this.#res, answer.body instanceof Uint8Array ? answer.body : new Uint8Array(0));
  }

  /** True for a short answer that closes the connection while the client may still be sending. */
  #isReadOn(answer: Answer): answer is Answer & { readonly body: Uint8Array } {
    const { body, headOnly, close } = answer;
    return (
      (close || this.#closes) &&
      this.bodyPending &&
      body instanceof Uint8Array &&
      !headOnly &&
      body.byteLength <= SHORT_BYTES_MAX
    );
  }

  #readOnBehind(answer: Answer, body: Uint8Array): Promise<void> {
    this.keepOpen();
    this.#dropsRest = true;
    this.#res.cork(() => {
      this.#writeHead(answer);
      this.#lastWords.say(this.#res, body);
    });
    return new Promise((resolve) => {
      const isAwaited = answer.status !== STALLED_STATUS;
      const stop = dropRest(this.#res, { isAwaited }, () => this.hangUp());
      this.#onGone = () => {
        stop();
        resolve();
      };
    });
  }

  #unwatch(): void {
    if (this.#watched !== undefined) this.#uploads.remove(this.#watched);
  }

  #writeHead({ status, headers, contentType }: Answer): void {
    const res = this.#res;
    // The library writes status 200 by itself.
    if (status !== 200) res.writeStatus(statusLine(status));
    for (const [name, value] of headers) res.writeHeader(name, value);
    if (contentType !== undefined) res.writeHeader('Content-Type', contentType);
  }

  #writeBody(answer: Answer): Promise<void> | undefined {
    const { status, body, headOnly, close, events } = answer;
    const res = this.#res;
    if (events !== undefined) {
      this.keepOpen();
      this.#onGone = writeEvents(res, events);
    } else if (body === undefined) {
      // If undefined is passed, the library sends a length of 2^63; a 204 has no length, so the argument is omitted.
      if (status === 204 && !close) res.endWithoutBody();
      else res.endWithoutBody(0, close);
    } else if (headOnly) {
      if (body instanceof StreamedBody) body.letGo();
      this.#endHead(answerBytes(answer), close);
    } else if (body instanceof StreamedBody) {
      this.keepOpen();
      return this.#writePieces(body, answer);
    } else if (close) {
      // If the library drops the body, it closes the connection after its timeout.
      this.keepOpen();
      res.end(body instanceof HeadedBytes ? body.borrow() : body, true);
    } else {
      return this.#writeBytes(body);
    }
    return undefined;
  }

  /**
   * Ends an answer to HEAD. The library takes a length without a body for bytes still to come, and closes the
   * connection at its next request; so the header is written by hand if the connection stays open.
   */
  #endHead(bytes: number, close: boolean): void {
    if (close) {
      this.#res.endWithoutBody(bytes, close);
    } else {
      this.#res.writeHeader('Content-Length', String(bytes));
      this.#res.endWithoutBody();
    }
  }

  /**
   * Writes piece by piece, each when the connection has accepted the previous one. A body that breaks off, or is
   * shorter than announced, ends the connection, so that its client sees that it is incomplete.
   */
  async #writePieces(body: StreamedBody, { broken }: Answer): Promise<void> {
    const total = body.byteLength;
    try {
      let sentBytes = 0;
      if (total === 0) this.#res.cork(() => this.#res.endWithoutBody(0));
      for await (const piece of body.pieces()) {
        if (piece.byteLength === 0) continue;
        if (!(await this.#writePiece(piece, sentBytes, total))) return;
        sentBytes += piece.byteLength;
      }
      if (sentBytes < total) throw new Error(`an answer of ${total} bytes ended after ${sentBytes}`);
    } catch (error) {
      if (!this.signal.aborted) broken?.(error);
      this.hangUp();
    }
  }

  /** Resolves with false if the client is gone, or all is sent. */
  async #writePiece(piece: Uint8Array, sentBytes: number, total: number): Promise<boolean> {
    const res = this.#res;
    let rest = piece;
    while (!this.signal.aborted) {
      const writable = new Promise<number>((resolve) => {
        this.#onGone = () => resolve(sentBytes);
        res.onWritable((offset) => {
          resolve(offset);
          return true;
        });
      });
      let [isTaken, isDone] = [false, false];
      res.cork(() => {
        [isTaken, isDone] = res.tryEnd(rest, total);
      });
      if (isDone) return false;
      if (isTaken) return true;
      rest = piece.subarray((await writable) - sentBytes);
    }
    return false;
  }

  /**
   * Writes a body. The library copies what the connection accepts at once; the rest is passed when there is room, so
   * that a slow reader does not cause a second copy to pile up.
   *
   * Never uses `end`: if the library cannot send what it has buffered before, `end` drops the body, and the process is
   * ended over a request that nobody answered (before uWebSockets 20.77; docs/decisions/0284).
   */
  #writeBytes(body: Uint8Array | HeadedBytes): Promise<void> | undefined {
    const res = this.#res;
    const { byteLength } = body;
    const isDone = res.tryEnd(body instanceof HeadedBytes ? body.borrow() : body, byteLength)[1];
    if (isDone) return undefined;
    this.keepOpen();
    const kept = body instanceof HeadedBytes ? body.toBytes() : body;
    return new Promise((resolve) => {
      this.#onGone = resolve;
      res.onWritable((offset) => {
        const [sentAll, ended] = res.tryEnd(kept.subarray(offset), byteLength);
        if (ended) resolve();
        return sentAll;
      });
    });
  }

  /**
   * Reads a small body. It mostly arrives with its head as one chunk, and is taken as it is. Only one in several chunks
   * needs waiting, pausing and watching, which is a third of the cost of such a request.
   */
  #readSmall(bytesMax: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#failRead = reject;
      this.#res.onData((chunk, isLast) => {
        if (this.#answered) return;
        if (isLast && this.#body === undefined) {
          this.#bodyEnded = true;
          resolve(new Uint8Array(chunk).slice());
          return;
        }
        let body = this.#body;
        if (body === undefined) {
          body = this.#makeBody({ bytesMax });
          body.whole().then(resolve, reject);
        }
        this.#take(body, chunk, isLast);
      });
    });
  }

  #receive(options: Omit<IncomingBodyOptions, 'announcedBytes'>): IncomingBody {
    const body = this.#makeBody(options);
    // Any other body gets its first chunk, possibly empty, in this turn.
    if (this.bodyBytes === undefined) this.#watch(body);
    this.#res.onData((chunk, isLast) => {
      if (!this.#answered) this.#take(body, chunk, isLast);
    });
    return body;
  }

  #makeBody(options: Omit<IncomingBodyOptions, 'announcedBytes'>): IncomingBody {
    const res = this.#res;
    // An answered or aborted response must not be touched; a connection left paused would never close.
    const whileOpen = (action: () => void) => () => {
      if (!this.signal.aborted && !this.#answered) action();
    };
    const source = { pause: whileOpen(() => res.pause()), resume: whileOpen(() => res.resume()) };
    const ownsChunks = res.givesChunks === true;
    const body = new IncomingBody(source, { ...options, announcedBytes: this.bodyBytes, ownsChunks });
    this.#body = body;
    return body;
  }

  #take(body: IncomingBody, chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#onRest !== undefined) {
      this.#bodyEnded = isLast;
      // Nobody reads it: it is refused.
      if (isLast) this.#onRest(false);
      return;
    }
    body.push(new Uint8Array(chunk));
    if (isLast) {
      this.#bodyEnded = true;
      body.end();
    }
    if (!isLast || body.needsTime) this.#watch(body);
    else this.#unwatch();
    body.settle();
  }

  #watch(body: IncomingBody): void {
    if (this.#watched !== undefined) return;
    this.#watched = body;
    this.#uploads.add(body);
  }
}

function orUndefined(header: string): string | undefined {
  return header === '' ? undefined : header;
}

/** Returns the key of a header `Authorization: Bearer …`; '' without one. */
function bearerOf(req: WireRequest): string {
  return /^Bearer +(\S+) *$/i.exec(req.getHeader('authorization'))?.[1] ?? '';
}

function textOr(text: string | undefined, otherwise: string): string {
  return text ?? otherwise;
}
