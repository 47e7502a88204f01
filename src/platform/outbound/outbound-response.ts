/** The answer to an outgoing request. Its body has to be read or discarded: until then it holds a connection. */
import { finished, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import type { GiveWay } from '../search-activity.js';
import type { OutboundHeaders } from './conditional.js';
import { retryAfterMs } from './retry-after.js';

const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]{1,40})"?/i;

const END_HEADERS = ['content-length', 'transfer-encoding', 'content-encoding'] as const;

export interface OutboundAnswer {
  readonly status: number;
  /** Names in lower case; what was there more than once is joined by commas. */
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

  /** `stream`: undefined where the answer has no body. `asError` makes what reading throws an error of ours. `giveWay`: before a whole body is given. */
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

  /** The answer says where it ends, by its length, its chunks or its compression: one that does not is as good as whole where its connection is closed. */
  get tellsItsEnd(): boolean {
    return END_HEADERS.some((name) => (this.headers[name] ?? '') !== '');
  }

  /** What was asked for has not changed since the validators that came with the request. */
  get isNotModified(): boolean {
    return this.status === 304;
  }

  retryAfterMs(nowMs: number): number | undefined {
    return retryAfterMs(this.headers['retry-after'], nowMs);
  }

  /** The body, piece by piece. Who leaves the loop early closes the connection. Throws an OutboundFailedError, or what aborted it. */
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

  /** In the charset that the answer names, UTF-8 where it names none that is known. */
  async text(): Promise<string> {
    const bytes = await this.bytes();
    const [, charset = 'utf-8'] = CHARSET.exec(this.headers['content-type'] ?? '') ?? [];
    return decoderFor(charset).decode(bytes);
  }

  /** Called once, when nothing more comes: the body was read, discarded, or broke off. */
  onEnd(action: () => void): void {
    if (this.stream === undefined) action();
    else finished(this.stream, action);
  }

  /** Nobody wants the body: its connection is closed, unless the body is there already. */
  discard(): void {
    this.stream?.destroy();
  }
}

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    // A label that nobody knows says nothing.
    return new TextDecoder();
  }
}
