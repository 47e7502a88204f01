/** A response of Node.js's server with the interface of uWebSockets.js. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WireResponse } from './wire.js';

/** Bytes passed to Node.js at a time, since it buffers what the connection does not accept. */
const PIECE_BYTES_MAX = 65_536;
const NO_BYTES = new ArrayBuffer(0);

export class NodeResponse implements WireResponse {
  readonly givesChunks = true;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #becomesLast: () => void;
  #sentBytes = 0;
  #isComplete = false;
  #onAborted: (() => void) | undefined;
  #onData: ((chunk: ArrayBuffer, isLast: boolean) => void) | undefined;
  #onWritable: ((offset: number) => boolean) | undefined;

  /** `becomesLast`: called when the connection is to end after this response. */
  constructor(message: IncomingMessage, response: ServerResponse, becomesLast: () => void) {
    this.#message = message;
    this.#response = response;
    this.#becomesLast = becomesLast;
    // Errors of a connection that is gone; `onAborted` reports that.
    response.on('error', () => undefined);
    message.on('error', () => undefined);
  }

  getRemoteAddressAsText(): ArrayBuffer {
    return bytesOf(Buffer.from(this.#message.socket.remoteAddress ?? ''));
  }

  /** Sets the handler, replacing the previous one. */
  onAborted(handler: () => void): void {
    this.#onAborted = handler;
  }

  /** The response is sent completely, or its connection is gone. */
  gone(): void {
    const tell = this.#onAborted;
    this.#onAborted = undefined;
    if (!this.#isComplete) tell?.();
  }

  /** Sets the handler, replacing the previous one. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    const isFirst = this.#onData === undefined;
    this.#onData = handler;
    if (!isFirst) return;
    this.#message.on('data', (chunk: Buffer) => this.#onData?.(bytesOf(chunk), false));
    this.#message.once('end', () => this.#onData?.(NO_BYTES, true));
  }

  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  cork(action: () => void): void {
    this.#response.cork();
    try {
      action();
    } finally {
      this.#response.uncork();
    }
  }

  writeStatus(line: string): void {
    const blank = line.indexOf(' ');
    this.#response.statusCode = Number(line.slice(0, blank));
    this.#response.statusMessage = line.slice(blank + 1);
  }

  writeHeader(name: string, value: string): void {
    this.#response.appendHeader(name, value);
  }

  write(chunk: Uint8Array): boolean {
    return this.#send(chunk);
  }

  /** Writes as much as the connection accepts; the caller passes the rest later (`onWritable`). */
  tryEnd(rest: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean] {
    if (!this.#response.headersSent) this.#response.setHeader('Content-Length', totalBytes);
    let at = 0;
    let isFlowing = !this.#response.writableNeedDrain;
    while (isFlowing && at < rest.byteLength) {
      const piece = rest.subarray(at, at + PIECE_BYTES_MAX);
      at += piece.byteLength;
      this.#sentBytes += piece.byteLength;
      isFlowing = this.#send(piece);
    }
    const isDone = isFlowing && this.#sentBytes >= totalBytes;
    if (isDone) this.#complete();
    return [isFlowing && at === rest.byteLength, isDone];
  }

  onWritable(handler: (offset: number) => boolean): void {
    if (this.#onWritable === undefined) this.#response.on('drain', () => this.#onWritable?.(this.#sentBytes));
    this.#onWritable = handler;
  }

  end(body?: Uint8Array, closesConnection = false): void {
    if (closesConnection) this.#closeBehind();
    if (!this.#response.headersSent) this.#response.setHeader('Content-Length', body?.byteLength ?? 0);
    if (body !== undefined && body.byteLength > 0) this.#send(body);
    this.#complete();
  }

  endWithoutBody(reportedBytes?: number, closesConnection = false): void {
    if (closesConnection) this.#closeBehind();
    if (reportedBytes !== undefined) this.#response.setHeader('Content-Length', reportedBytes);
    this.#complete();
  }

  /** Writes the whole body without ending the response: the rest of the request is still read. */
  say(body: Uint8Array): void {
    this.#closeBehind();
    this.#response.setHeader('Content-Length', body.byteLength);
    this.#send(body);
  }

  close(): void {
    this.#message.socket.destroy();
  }

  /** Copies the bytes: borrowed memory is overwritten in the next turn, when Node.js may not have sent it yet. */
  #send(bytes: Uint8Array): boolean {
    return this.#response.write(Buffer.from(bytes));
  }

  #closeBehind(): void {
    this.#becomesLast();
    this.#response.setHeader('Connection', 'close');
  }

  #complete(): void {
    this.#isComplete = true;
    this.#response.end();
  }
}

/** Chunks of a body own their memory: a copy would create as much garbage as there are uploads. */
function bytesOf({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer {
  if (byteLength === buffer.byteLength) return buffer as ArrayBuffer;
  return buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
