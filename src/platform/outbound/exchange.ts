/**
 * One request and its answer over an undici dispatcher. An answer without a body resolves when it has ended, without a
 * stream being created: polling unchanged pages causes thousands of these.
 */
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { CallEnd } from './call-end.js';
import type { OutboundHeaders } from './conditional.js';
import { OutboundFailedError } from './outbound-error.js';

/** Shorter chunks are joined: a server may send single bytes, and each would pass through all streams. */
const PIECE_BYTES_MIN = 1024;
/** Limit of interim answers (RFC 9110, 15.2). A server that exceeds it sends nothing else, as fast as they are read. */
const INTERIM_ANSWERS_MAX = 100;
const BODYLESS_STATUSES: ReadonlySet<number> = new Set([204, 205, 304]);

export interface Answer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: OutboundHeaders;
  /** Must be read or destroyed; undefined if there is none. */
  readonly body: Readable | undefined;
}

/** Sends the request. Rejects with the error of the connection, or with the reason that ended the call. */
export function exchanged(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, end: CallEnd): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (end.reason !== undefined) reject(end.reason);
    else dispatcher.dispatch(request, new Exchange({ isHead: request.method === 'HEAD', end, resolve, reject }));
  });
}

interface ExchangeOptions {
  readonly isHead: boolean;
  readonly end: CallEnd;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status = 0;
  private interimAnswers = 0;
  private headers: OutboundHeaders = {};
  private body: AnswerBody | undefined;

  constructor(private readonly options: ExchangeOptions) {
    options.end.tell((reason) => {
      // Before there is a connection, undici would not report the abortion.
      options.reject(reason);
      this.controller?.abort(reason);
      this.body?.destroy(reason);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    const { reason } = this.options.end;
    if (reason !== undefined) controller.abort(reason);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // An interim answer.
    if (status < 200) {
      this.interimAnswers += 1;
      if (this.interimAnswers > INTERIM_ANSWERS_MAX) controller.abort(tooManyInterim());
      return;
    }
    this.status = status;
    this.headers = joined(headers);
    if (this.options.isHead || BODYLESS_STATUSES.has(status)) return;
    this.body = new AnswerBody(controller);
    this.answer();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.body?.add(chunk) === false) controller.pause();
  }

  onResponseEnd(): void {
    if (this.body === undefined) this.answer();
    else this.body.end();
  }

  /** The controller is undefined if there never was a connection. */
  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.options.reject(error);
    this.body?.destroy(error);
  }

  private answer(): void {
    const { status, headers, body } = this;
    this.options.resolve({ status, headers, body });
  }
}

function tooManyInterim(): OutboundFailedError {
  const detail = `The server sends more than ${INTERIM_ANSWERS_MAX} answers before its answer.`;
  return new OutboundFailedError('bad-answer', detail);
}

/** The body of an answer, received at the pace of its reader; destroying it closes the connection. */
class AnswerBody extends Readable {
  private isWhole = false;
  /** Short chunks received in the current turn, to be joined. */
  private short: Buffer[] = [];

  constructor(private readonly controller: Dispatcher.DispatchController) {
    super({ highWaterMark: 65_536 });
    // It may fail before anybody reads it; the reader gets the error then.
    this.on('error', () => undefined);
  }

  /** Returns false if the reader wants nothing more for now. */
  add(piece: Buffer): boolean {
    if (piece.length < PIECE_BYTES_MIN) {
      if (this.short.push(piece) === 1) process.nextTick(() => this.handOver());
      return true;
    }
    this.handOver();
    return this.push(piece);
  }

  end(): void {
    this.handOver();
    this.isWhole = true;
    this.push(null);
  }

  override _read(): void {
    this.controller.resume();
  }

  private handOver(): void {
    const { short } = this;
    if (short.length === 0 || this.destroyed) return;
    this.short = [];
    if (!this.push(short.length === 1 ? short[0] : Buffer.concat(short))) this.controller.pause();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (!this.isWhole) this.controller.abort(error ?? new Error('Nobody reads the answer.'));
    done(error);
  }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): OutboundHeaders {
  const known: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) known[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return known;
}
