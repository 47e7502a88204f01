/**
 * What carries requests and answers: uWebSockets.js, or Node.js's own server where that has no binary (docs/decisions/0346). Its names are those
 * of uWebSockets.js, and the rest of the front end is one for both.
 */
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { ConnectionRoom } from './connection-room.js';

/** Request line and headers of one request. As many bytes may wait on each connection, without a key, for 10 s. */
export const HEAD_BYTES_MAX = 32_768;

/** Lives until the handler of the request returns. */
export type WireRequest = Pick<HttpRequest, 'forEach' | 'getHeader' | 'getMethod' | 'getQuery' | 'getUrl'>;

/**
 * A response whose body is bytes. Of a text the builds of uWebSockets.js for Node.js 22 and later send the bytes that V8 keeps it in: `é` would be
 * one byte that is no UTF-8, and where the length was told the connection would wait for the other (docs/decisions/0221).
 */
export interface WireResponse extends Pick<HttpResponse, 'getRemoteAddressAsText'> {
  close(): unknown;
  cork(action: () => void): unknown;
  /** With a connection that is closed behind it: what is still to be sent is. */
  end(body?: Uint8Array, closesConnection?: boolean): unknown;
  endWithoutBody(reportedBytes?: number, closesConnection?: boolean): unknown;
  /** Not where the answer is complete. */
  onAborted(handler: () => void): unknown;
  /** What `onData` gives is nobody else's. */
  readonly givesChunks?: true;
  /** The chunk is good until the handler returns, unless it is given. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  /** The handler is told how many bytes of the body were taken so far, and gives the next from there on. */
  onWritable(handler: (offset: number) => boolean): unknown;
  pause(): unknown;
  resume(): unknown;
  /** Whether all of it was taken, and whether the answer is complete. */
  tryEnd(rest: Uint8Array, totalBytes: number): [isTaken: boolean, isDone: boolean];
  /** False: it is kept, and the next one should wait for `onWritable`. */
  write(chunk: Uint8Array): boolean;
  writeHeader(name: string, value: string): unknown;
  writeStatus(line: string): unknown;
}

/** How an answer is sent behind which its connection is closed, by what is ready to go on with what follows. The head is written. */
export interface LastWords {
  /** And what still comes is read on. */
  say(res: WireResponse, body: Uint8Array): void;
  /** And nothing that follows is looked at. */
  hangUpWith(res: WireResponse, body: Uint8Array): void;
}

export type WebServerName = 'uWebSockets.js' | "Node.js's own web server";

export interface WebServerOptions {
  readonly host: string;
  /** 0: one that the system chooses. */
  readonly port: number;
  readonly connections: ConnectionRoom;
  readonly onRequest: (res: WireResponse, req: WireRequest) => void;
}

export interface WebServer {
  /** As it is told to the operator. */
  readonly name: WebServerName;
  readonly lastWords: LastWords;
  /** The port that it listens on. Rejects with a ListenError. */
  listen(): Promise<number>;
  /** No new connections; those that exist go on. */
  stopListening(): void;
  /** Ends all connections. */
  close(): void;
}
