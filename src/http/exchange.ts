/** A request and its answer as the request handler sees them, independent of the transport. */
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
  /** Only for a request for a page of the site. */
  readonly page?: PageHeaders | undefined;
  /** Bytes of the body: 0 without one, undefined if the client does not announce them. */
  readonly bodyBytes: number | undefined;
  /**
   * Why nothing after the headers can be trusted: the request is answered with this error, and the connection closed.
   */
  readonly fault?: ServiceError | undefined;
  /** True while a part of the body may not have arrived. */
  readonly bodyPending: boolean;
  /** Aborted when the client goes away. */
  readonly signal: Cancellation;
  /** Returns a header by its lower-case name, '' if it is missing. Only in the turn in which the request arrived. */
  header(name: string): string;
  /**
   * Reads the whole body. Rejects with `body-too-large` as soon as that is known, and with `ClientGone`. Either this or
   * `stream` must be called in the turn in which the request arrived, or never. With `ready`, nothing is read until it
   * resolves; if it rejects, the body rejects as well.
   */
  read(bytesMax: number, ready?: Promise<void>): Promise<Uint8Array>;
  /**
   * Yields the body as it arrives, no faster than it is consumed, with the same errors as `read`. With a `window`,
   * received bytes not yet consumed count towards what all bodies of the window may hold.
   */
  stream(bytesMax: number, ready?: Promise<void>, window?: UploadWindow): AsyncIterable<Uint8Array>;
}

export interface Answer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly contentType: string | undefined;
  /** If given, replaces the body: events that follow until either side ends them. */
  readonly events?: EventStream | undefined;
  /** Undefined: no body. */
  readonly body: Uint8Array | HeadedBytes | StreamedBody | undefined;
  /** True for `HEAD`: the answer has the body's length, but no body. */
  readonly headOnly: boolean;
  /** True if the connection must not be used again. */
  readonly close: boolean;
  /** Called once when the client has received all of it, or is gone. */
  readonly sent?: (() => void) | undefined;
  /** Called if a streamed body breaks off; the connection is closed then. */
  readonly broken?: ((error: unknown) => void) | undefined;
}

export type RequestHandler = (request: IncomingRequest) => Answer | Promise<Answer>;

/** The client closed the connection, so there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
  constructor() {
    super('The client closed the connection');
  }
}

export function answerBytes({ body }: Answer): number {
  return body === undefined ? 0 : body.byteLength;
}
