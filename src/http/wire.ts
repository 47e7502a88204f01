/**
 * The interface of the web server: uWebSockets.js, or Node.js's own server if that has no binary (docs/decisions/0346).
 * Names are those of uWebSockets.js, and the rest of the front end is the same for both.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { ConnectionRoom } from './connection-room.js';

/** Limit of request line and headers. Each connection, without a key, may hold as many bytes for 10 s. */
export const HEAD_BYTES_MAX = 32_768;

/** Valid until the handler of the request returns. */
export type WireRequest = Pick<HttpRequest, 'forEach' | 'getHeader' | 'getMethod' | 'getQuery' | 'getUrl'>;

/**
 * A response, whose body is always bytes. For a string, the builds of uWebSockets.js for Node.js 22 and later send the
 * bytes in which V8 stores it: `é` would be one byte, which is not UTF-8, and if the length was announced, the
 * connection would wait for the other (docs/decisions/0221).
 */
export interface WireResponse extends Pick<HttpResponse, 'getRemoteAddressAsText'> {
  close(): unknown;
  cork(action: () => void): unknown;
  /** With `closesConnection`, the connection is closed after everything is sent. */
  end(body?: Uint8Array, closesConnection?: boolean): unknown;
  endWithoutBody(reportedBytes?: number, closesConnection?: boolean): unknown;
  /** The handler is not called if the answer is complete. */
  onAborted(handler: () => void): unknown;
  /** True if chunks given to `onData` belong to the handler. */
  readonly givesChunks?: true;
  /** The chunk is valid until the handler returns, unless `givesChunks`. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** The handler gets the number of body bytes accepted so far, and continues from there. */
  onWritable(handler: (offset: number) => boolean): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Returns whether all of it was accepted, and whether the answer is complete. */
  tryEnd(rest: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean];
  /** False: it is buffered, and the caller should wait for `onWritable`. */
  write(chunk: Uint8Array): boolean;
  writeHeader(name: string, value: string): unknown;
  writeStatus(line: string): unknown;
}

/**
 * How an answer is sent after which the connection is closed, despite what the client is still sending. The head is
 * written before.
 */
export interface LastWords {
  /** Sends the answer; the rest of the request is still read. */
  say(res: WireResponse, body: Uint8Array): void;
  /** Sends the answer and closes; nothing that follows is read. */
  hangUpWith(res: WireResponse, body: Uint8Array): void;
}

export type WebServerName = 'uWebSockets.js' | "Node.js's own web server";

export interface WebServerOptions {
  readonly host: string;
  /** 0: the system chooses one. */
  readonly port: number;
  readonly connections: ConnectionRoom;
  readonly onRequest: (res: WireResponse, req: WireRequest) => void;
}

export interface WebServer {
  /** Name for the operator. */
  readonly name: WebServerName;
  readonly lastWords: LastWords;
  /** Starts listening; resolves with the port. Rejects with a ListenError. */
  listen(): Promise<number>;
  /** Accepts no new connections; existing ones continue. */
  stopListening(): void;
  /** Ends all connections. */
  close(): void;
}
