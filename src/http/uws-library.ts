/**
 * uWebSockets.js, with what it takes from the environment when it is loaded. Its own limit of 4 KiB holds only for heads that arrive in
 * more than one piece, or with its builds for Node.js 22 and later: the same request would pass here and fail there.
 */
import { createRequire } from 'node:module';
import type * as Library from 'uWebSockets.js';
import type { HttpResponse } from 'uWebSockets.js';

/** Request line and headers of one request. As many bytes may wait on each connection, without a key, for 10 s. */
const HEAD_BYTES_MAX = 32_768;

/**
 * A response whose body is bytes. Of a text the builds for Node.js 22 and later send the bytes that V8 keeps it in: `é` would be one byte that is
 * no UTF-8, and where the length was told the connection would wait for the other (docs/decisions/0221).
 */
export interface ByteResponse extends Pick<
  HttpResponse,
  | 'close'
  | 'cork'
  | 'endWithoutBody'
  | 'onAborted'
  | 'onData'
  | 'onWritable'
  | 'pause'
  | 'resume'
  | 'writeHeader'
  | 'writeStatus'
> {
  end(body?: Uint8Array, closeConnection?: boolean): HttpResponse;
  tryEnd(fullBodyOrChunk: Uint8Array, totalSize: number): [boolean, boolean];
  write(chunk: Uint8Array): boolean;
}

process.env['UWS_HTTP_MAX_HEADERS_SIZE'] = String(HEAD_BYTES_MAX);

/** Loaded by a call: what is imported is loaded before anything here is done, whatever the order of imports, once all is one file. */
export const uWebSockets = createRequire(import.meta.url)('uWebSockets.js') as typeof Library;
