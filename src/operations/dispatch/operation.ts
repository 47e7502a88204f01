/**
 * The definition of an operation. HTTP routing, validation, the OpenAPI document, tests over all operations, agent
 * tools, the client and the console derive from the registry of these; nothing about an operation is declared twice.
 */
import type { Static, TSchema } from 'typebox';
import type { Caller, CallerKind } from '../../access/index.js';
import type { ListRecord } from '../../catalog/index.js';
import type { Cancellation, Config, ErrorCode, ProblemKind, Reservation } from '../../platform/index.js';
import type { EventStream } from './event-stream.js';
import type { Services } from './services.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Bytes of a JSON body with options, names and the like. */
export const OPTIONS_BODY_BYTES_MAX = 65_536;
/** Bytes of a JSON body with options that include long lists. */
export const LONG_OPTIONS_BODY_BYTES_MAX = 524_288;
/** For JSON bodies as large as what they describe: only the setting limits them. */
export const CONTENT_BODY_BYTES_MAX = Infinity;

/**
 * Members, objects and arrays of a JSON body. Limited in addition to its bytes: 2 MiB of members with distinct names
 * blocked the main thread for half a second.
 */
export const BODY_PARTS_MAX = 10_000;
/** Limit for rules: a list with the maximum of rules and fields has 130,000, most of them with the same few names. */
export const RULES_BODY_PARTS_MAX = 150_000;

/** The path parameter that names the resource which a key's scope has to reach. */
export type OperationTarget = 'none' | 'account' | 'list' | 'group';

export interface StreamBody {
  readonly kind: 'stream';
  /** Accepted content types; `ANY_CONTENT_TYPE` alone accepts any, and none. */
  readonly contentTypes: readonly string[];
  /** Schemas by content type, for OpenAPI; the operation checks the body itself. */
  readonly schemas?: Readonly<Record<string, TSchema>>;
  /** Bytes of the whole body; default `limits.bulk_body_bytes_max`. */
  readonly bytesMax?: (config: Config) => number;
  /**
   * `reserved` (default): each body reserves room, and waits for it, before any of it is read. `window`: all bodies
   * share a window of received but unconsumed bytes; for bodies that are written to disk as they arrive, however many
   * and slow. `whole`: the operation keeps the whole body until it answers, and reserves room for that, as JSON bodies
   * do.
   */
  readonly memory?: 'reserved' | 'window' | 'whole';
}

export const ANY_CONTENT_TYPE = '*/*';

/** Request headers that an operation may read, in lower case. */
export type RequestHeaderName =
  'if-match' | 'if-none-match' | 'if-range' | 'mcp-method' | 'mcp-name' | 'mcp-protocol-version' | 'range';

/** Answer headers that an operation may send, in addition to those of every answer. */
export type AnswerHeaderName =
  | 'Accept-Ranges'
  | 'Cache-Control'
  | 'Content-Disposition'
  | 'Content-Range'
  | 'Content-Security-Policy'
  | 'Cross-Origin-Resource-Policy'
  | 'ETag'
  | 'Last-Modified'
  | 'Server-Timing'
  | 'Set-Cookie'
  | 'X-Cache'
  | 'X-Content-Type-Options';

export interface ResponseSpec {
  readonly description: string;
  /** Null: no body. */
  readonly schema: TSchema | null;
  /** Content type of the body; default `application/json`. */
  readonly contentType?: string;
  /** Headers that it has, always or sometimes. */
  readonly headers?: readonly AnswerHeaderName[];
}

export interface OperationSpec<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> {
  /** Unique name: resource as the API names it, then the action, such as `list.create`. */
  readonly name: string;
  /** Name for agents; default: its name in snake case, `list_create`. */
  readonly tool?: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: HttpMethod;
  /** Such as `/list/{account}/{list}`. */
  readonly path: string;
  /** Null: any valid key. `public`: no key at all (health, OpenAPI). */
  readonly permission: string | null | 'public';
  readonly callers: readonly CallerKind[];
  readonly target: OperationTarget;
  /** True: a missing target is not an error, and `handle` has to deal with it. Default false. */
  readonly admitsMissingTarget?: boolean;
  /** True: it concerns the whole account, whatever the target, so keys of a list or group cannot use it. */
  readonly needsWholeAccount?: true;
  readonly params: Params;
  /** True: the last path parameter takes all that follows, including slashes. */
  readonly takesRest?: true;
  readonly requestHeaders?: readonly RequestHeaderName[];
  readonly query?: Query;
  readonly body?: Body | StreamBody;
  /**
   * Bytes of a JSON body; default `OPTIONS_BODY_BYTES_MAX`, which is enough for options. Never more than
   * `limits.json_body_bytes_max`.
   */
  readonly bodyBytesMax?: number;
  /** Parts of a JSON body; default `BODY_PARTS_MAX`. */
  readonly bodyPartsMax?: number;
  /** Success answers by status. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Errors besides those of every operation: codes of the catalogue, and kinds of its feature. */
  readonly errors?: readonly (ErrorCode | ProblemKind)[];
  /** Spends the account's search allowance of the minute. */
  readonly rateLimit?: 'search';
  /** Answers from the raw request, before anything is parsed or checked; undefined: `handle` has to answer. */
  readonly early?: (context: OperationContext, raw: RawInput) => OperationResult | undefined;
  readonly handle: (
    context: OperationContext,
    input: OperationInput<Static<Params>, Static<Query>, Static<Body>>,
  ) => Promise<OperationResult> | OperationResult;
}

export interface OperationInput<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /**
   * Of a StreamBody operation: chunks in order; awaiting the next one applies back pressure. Throws if the client went
   * away.
   */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Of a StreamBody operation: the media type; as it was sent if any is accepted. */
  readonly contentType?: string;
  /** Of a StreamBody operation: bytes of the body, if the client announced them. */
  readonly bodyBytes?: number;
  /** The headers of `requestHeaders` that were sent. */
  readonly headers?: RequestHeaders;
  /** The raw request, for keys of a cache. */
  readonly raw?: RawInput;
}

/** A request as received. */
export interface RawInput {
  /** Path parameters, percent-decoded; undefined if decoding failed. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Without the `?`. */
  readonly queryString: string;
  readonly contentType: string | undefined;
  /** The whole body; undefined for an operation that streams it. */
  readonly body?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Bytes of a streamed body, if the client announced them. */
  readonly bodyBytes?: number;
  /** The headers that the operation reads. */
  readonly headers?: RequestHeaders;
}

/** The sender of a request, as connection and browser say; only for requests without an API key. */
export interface Visitor {
  /** IP address; the one that a trusted proxy names, if there is one. `local` for the command line. */
  readonly address: string;
  /** '' if it is missing. */
  readonly userAgent: string;
  /** Header `Sec-Fetch-Site`; '' if it is missing. */
  readonly fetchSite: string;
  /** Header `Origin`; '' if it is missing. */
  readonly origin: string;
}

export const LOCAL_VISITOR: Visitor = Object.freeze({ address: 'local', userAgent: '', fetchSite: '', origin: '' });

export type RequestHeaders = Readonly<Partial<Record<RequestHeaderName, string>>>;

/** Caller and list of a call, as found at its admission. */
export interface Admission {
  readonly caller: Caller;
  /** The list, for operations whose target is a list. Undefined if it does not exist and the operation admits that. */
  readonly list: ListRecord | undefined;
}

export interface OperationContext extends Admission {
  readonly services: Services;
  readonly visitor: Visitor;
  readonly requestId: string;
  /** Aborted when the client goes away. */
  readonly signal: Cancellation;
  /** True for `HEAD`: the body is not sent, and need not be created. */
  readonly headOnly?: boolean;
  /**
   * Returns what features add to a list in a listing, which counts towards the length of the page. Set by
   * `extended-lists.ts`.
   */
  readonly addedToList?: (list: ListRecord) => Promise<Readonly<Record<string, unknown>>>;
}

export interface OperationResult {
  readonly status: number;
  /** Replaces the body: an endless answer as `text/event-stream`. Not over the control socket. */
  readonly events?: EventStream;
  /**
   * Serialised as JSON; a Uint8Array, HeadedBytes or StreamedBody is sent as it is (JSON unless `contentType` says
   * otherwise).
   */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Room for the body in `RequestMemory.answers`, released when the client has received it. Undefined: not reserved
   * yet.
   */
  readonly room?: Reservation;
}

/** An operation with its types erased, as stored in the registry. */
export type Operation = OperationSpec;

/** Checks the types of params, query and body in `handle`, then erases them. */
export function defineOperation<P extends TSchema, Q extends TSchema, B extends TSchema>(
  spec: OperationSpec<P, Q, B>,
): Operation {
  return spec;
}
