/** A request and its answer as the request handler sees them, whatever transport carries them. */
import type { Credential, EventStream, HeadedBytes, StreamedBody, Visitor } from '../operations/index.js';
import type { Cancellation, ServiceError } from '../platform/index.js';
import type { PageHeaders } from './site.js';
import type { UploadWindow } from './upload-window.js';

export interface IncomingRequest {
  /** In upper case. */
  readonly method: string;
  /** As sent: percent-encoded, without the query string. */
  readonly path: string;
  /** Without the `?`. */
  readonly queryString: string;
  readonly credential: Credential;
  readonly visitor: Visitor;
  readonly requestIdHeader: string;
  readonly contentType: string | undefined;
  readonly origin: string;
  /** Of a request for a page of the site. */
  readonly page?: PageHeaders | undefined;
  /** Bytes of the body: 0 without one, undefined where the client does not say. */
  readonly bodyBytes: number | undefined;
  /** Why nothing of this request can be relied on but its headers: it is answered with this, and the connection closed. */
  readonly fault?: ServiceError | undefined;
  /** True while a part of the body may still have to arrive. */
  readonly bodyPending: boolean;
  /** Aborted when the client goes away. */
  readonly signal: Cancellation;
  /** The text of a header by its name in lower case, '' where it is not there. Only in the turn in which the request arrived. */
  header(name: string): string;
  /**
   * The whole body. Rejects with `body-too-large` as soon as that is known, and with `ClientGone`. This or `stream` is to be
   * called in the turn in which the request arrived, or never. With `ready`, nothing is read until it resolves; its rejection is
   * the body's.
   */
  read(bytesMax: number, ready?: Promise<void>): Promise<Uint8Array>;
  /**
   * The body as it arrives, no faster than it is taken; the same errors. With a `window`, what has arrived and is not taken yet has to
   * fit into what all bodies of that window may hold.
   */
  stream(bytesMax: number, ready?: Promise<void>, window?: UploadWindow): AsyncIterable<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string | undefined;
  /** Instead of a body: events that follow until somebody ends them. */
  readonly events?: EventStream | undefined;
  /** Undefined: none. */
  readonly body: Uint8Array | HeadedBytes | StreamedBody | undefined;
  /** The answer is to have no body but the length of one (`HEAD`). */
  readonly headOnly: boolean;
  /** The connection is not to be used again. */
  readonly close: boolean;
  /** Called once when the client has taken all of it, or is gone. */
  readonly sent?: (() => void) | undefined;
  /** Called where a streamed body broke off; its connection is closed. */
  readonly broken?: ((error: unknown) => void) | undefined;
}

export type RequestHandler = (request: IncomingRequest) => Answer | Promise<Answer>;

/** The client closed the connection; nobody is there to be answered. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
  constructor() {
    super('The client closed the connection');
  }
}

export function answerBytes({ body }: Answer): number {
  return body === undefined ? 0 : body.byteLength;
}
