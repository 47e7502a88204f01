/** The answer to an outgoing request. Its body must be read or discarded: until then it holds a connection. */
import { finished, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import type { GiveWay } from '../search-activity.js';
import type { OutboundHeaders } from './conditional.js';
import { retryAfterMs } from './retry-after.js';

const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]{1,40})"?/i;

const END_HEADERS = ['content-length', 'transfer-encoding', 'content-encoding'] as const;

export interface OutboundAnswer {
  readonly status: number;
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: OutboundHeaders;
  /** The URL that answered, after all redirects. */
  readonly url: string;
  /** The redirects on the way, in order. */
  readonly redirects: readonly { readonly status: number; readonly url: string }[];
}

export class OutboundResponse implements OutboundAnswer {
  readonly status: number;
  readonly headers: OutboundHeaders;
  readonly url: string;
  readonly redirects: OutboundAnswer['redirects'];

  /**
   * `stream`: undefined if the answer has no body. `asError` converts errors of reading. `giveWay`: waited for before a
   * whole body is returned.
   */
  constructor(
    { status, headers, url, redirects }: OutboundAnswer,
    private readonly stream: Readable | undefined,
    private readonly asError: (error: unknown) => unknown,
    private readonly giveWay?: Pick<GiveWay, 'wait'>,
  ) {
    this.status = status;
    this.headers = headers;
    this.url = url;
    this.redirects = redirects;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get hasBody(): boolean {
    return this.stream !== undefined;
  }

  /**
   * True if the answer tells its end, by length, chunks or compression. Otherwise a truncated body looks complete when
   * the connection closes.
   */
  get tellsItsEnd(): boolean {
    return END_HEADERS.some((name) => (this.headers[name] ?? '') !== '');
  }

  /** True if the resource has not changed since the validators of the request. */
  get isNotModified(): boolean {
    return this.status === 304;
  }

  retryAfterMs(nowMs: number): number | undefined {
    return retryAfterMs(this.headers['retry-after'], nowMs);
  }

  /**
   * Yields the body chunk by chunk. Leaving the loop early closes the connection. Throws an OutboundFailedError, or the
   * reason of the abortion.
   */
  async *body(): AsyncGenerator<Uint8Array> {
    if (this.stream === undefined) return;
    try {
      for await (const chunk of this.stream as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      throw this.asError(error);
    }
  }

  async bytes(): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.body()) chunks.push(chunk);
    await this.giveWay?.wait();
    return Buffer.concat(chunks);
  }

  /** Returns the body, decoded by the charset that the answer names; UTF-8 if it names none, or an unknown one. */
  async text(): Promise<string> {
    const bytes = await this.bytes();
    const [, charset = 'utf-8'] = CHARSET.exec(this.headers['content-type'] ?? '') ?? [];
    return decoderFor(charset).decode(bytes);
  }

  /** Calls `action` once when the body has ended: read, discarded, or broken off. */
  onEnd(action: () => void): void {
    if (this.stream === undefined) action();
    else finished(this.stream, action);
  }

  /** Discards the body. Closes its connection, unless the body was received completely. */
  discard(): void {
    this.stream?.destroy();
  }
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    // An unknown label is ignored.
    return new TextDecoder();
  }
}
