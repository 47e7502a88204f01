/**
 * What an operation is. HTTP routing, validation, the OpenAPI document, the tests that walk over everything, and later the
 * agent tools, the client and the console derive from the registry of these; nothing about an operation is declared twice.
 */
import type { Static, TSchema } from 'typebox';
import type { Caller, CallerKind } from '../../access/index.js';
import type { ListRecord } from '../../catalog/index.js';
import type { Cancellation, Config, ErrorCode, ProblemKind, Reservation } from '../../platform/index.js';
import type { EventStream } from './event-stream.js';
import type { Services } from './services.js';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Of a JSON body of options, names and the like. */
export const OPTIONS_BODY_BYTES_MAX = 65_536;
/** Of options among which are long lists. */
export const LONG_OPTIONS_BODY_BYTES_MAX = 524_288;
/** Of a JSON body that is as large as what it describes: only the setting limits it. */
export const CONTENT_BODY_BYTES_MAX = Infinity;

/**
 * Members, objects and arrays of a JSON body. Its bytes do not bound what it costs: 2 MiB of members with names of their own held the thread that answers
 * everybody for half a second.
 */
export const BODY_PARTS_MAX = 10_000;
/** Of a list with as many rules and fields as it may have there are 130,000, most of them under the same few names. */
export const RULES_BODY_PARTS_MAX = 150_000;

/** Which path parameter names the resource that a key's scope has to reach. */
export type OperationTarget = 'none' | 'account' | 'list' | 'group';

export interface StreamBody {
  readonly kind: 'stream';
  /** Accepted content types; `ANY_CONTENT_TYPE` alone takes every one, and none. */
  readonly contentTypes: readonly string[];
  /** What a body of a type has to be, where OpenAPI can say it; the operation sees to it itself. */
  readonly schemas?: Readonly<Record<string, TSchema>>;
  /** Of the whole body; default `limits.bulk_body_bytes_max`. */
  readonly bytesMax?: (config: Config) => number;
  /**
   * `reserved` (default): each body has room of its own before any of it is read, and waits for it. `window`: all of them share a window
   * of what has arrived and is not taken yet; for those that are written down as they come, however many and however slow. `whole`: the
   * operation keeps all of it until it answers, and each has room for that, as bodies of JSON have.
   */
  readonly memory?: 'reserved' | 'window' | 'whole';
}

export const ANY_CONTENT_TYPE = '*/*';

/** Headers of a request that an operation may look at, in lower case. */
export type RequestHeaderName =
  'if-match' | 'if-none-match' | 'if-range' | 'mcp-method' | 'mcp-name' | 'mcp-protocol-version' | 'range';

/** Headers of an answer that an operation may send, beside those that every answer has. */
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
  /** Of the body; default `application/json`. */
  readonly contentType?: string;
  /** Those that it has, always or at times. */
  readonly headers?: readonly AnswerHeaderName[];
}

export interface OperationSpec<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
> {
  /** `list.create`: resource as the API names it, then the action. Unique. */
  readonly name: string;
  /** What agents call it by; default: its name in snake case, `list_create`. */
  readonly tool?: string;
  readonly summary: string;
  readonly description?: string;
  readonly method: HttpMethod;
  /** `/list/{account}/{list}`. */
  readonly path: string;
  /** Null: any valid key. `public`: no key at all (health, OpenAPI). */
  readonly permission: string | null | 'public';
  readonly callers: readonly CallerKind[];
  readonly target: OperationTarget;
  /** True: a target that does not exist is no error, and `handle` has to see to it. Default false. */
  readonly admitsMissingTarget?: boolean;
  /** True: what it deals with is the account's, whatever the target, so that keys of a list or group alone cannot use it. */
  readonly needsWholeAccount?: true;
  readonly params: Params;
  /** The last parameter of the path takes all that follows, slashes included. */
  readonly takesRest?: true;
  readonly requestHeaders?: readonly RequestHeaderName[];
  readonly query?: Query;
  readonly body?: Body | StreamBody;
  /** Of a JSON body; default `OPTIONS_BODY_BYTES_MAX`, which is enough for options. Never more than `limits.json_body_bytes_max`. */
  readonly bodyBytesMax?: number;
  /** Of a JSON body; default `BODY_PARTS_MAX`. */
  readonly bodyPartsMax?: number;
  /** Success answers by status. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Beyond those that every operation may answer: codes of the catalogue, and kinds of the feature's own. */
  readonly errors?: readonly (ErrorCode | ProblemKind)[];
  /** Spends the account's per-minute search allowance. */
  readonly rateLimit?: 'search';
  /** Answers from the request as it was sent, before anything of it is parsed or checked; undefined: `handle` is to answer. */
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
  /** Of a StreamBody operation: chunks in order; awaiting the next one applies backpressure. Throws when the client went away. */
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Of a StreamBody operation: the media type; as it was sent where any is taken. */
  readonly contentType?: string;
  /** Of a StreamBody operation: bytes of the body where the client says. */
  readonly bodyBytes?: number;
  /** Of those of `requestHeaders` that were sent. */
  readonly headers?: RequestHeaders;
  /** What came over the wire, for the keys of a cache. */
  readonly raw?: RawInput;
}

/** What came over the wire. */
export interface RawInput {
  /** Path parameters, percent-decoded; undefined where the decoding failed. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Without the `?`. */
  readonly queryString: string;
  readonly contentType: string | undefined;
  /** The whole body of an operation that streams none. */
  readonly body?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  /** Of a body that is streamed, where the client says. */
  readonly bodyBytes?: number;
  /** Those that the operation looks at. */
  readonly headers?: RequestHeaders;
}

/** Who asks, as far as the connection and the browser say; of requests without an API key. */
export interface Visitor {
  /** IP address; that which a trusted proxy names where one stands in front. `local` for the command line. */
  readonly address: string;
  /** '' where it is not told. */
  readonly userAgent: string;
  /** `Sec-Fetch-Site`; ''. */
  readonly fetchSite: string;
}

export const LOCAL_VISITOR: Visitor = Object.freeze({ address: 'local', userAgent: '', fetchSite: '' });

export type RequestHeaders = Readonly<Partial<Record<RequestHeaderName, string>>>;

/** Who calls, and what the call is about, as they were found when it was admitted. */
export interface Admission {
  readonly caller: Caller;
  /** Of operations whose target is a list. Undefined where it does not exist and the operation admits that. */
  readonly list: ListRecord | undefined;
}

export interface OperationContext extends Admission {
  readonly services: Services;
  readonly visitor: Visitor;
  readonly requestId: string;
  /** Aborted when the client goes away. */
  readonly signal: Cancellation;
  /** The answer's body is not sent (`HEAD`): nobody has to make it. */
  readonly headOnly?: boolean;
  /** What features add to a list of a listing, which counts for the length of the page. Put there by `extended-lists.ts`. */
  readonly addedToList?: (list: ListRecord) => Promise<Readonly<Record<string, unknown>>>;
}

export interface OperationResult {
  readonly status: number;
  /** Instead of a body: an answer that goes on, as `text/event-stream`. Not over the control socket. */
  readonly events?: EventStream;
  /**
   * Serialised as JSON; a Uint8Array, HeadedBytes or StreamedBody is sent as it stands (finished JSON unless `contentType` says otherwise).
   */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Room for the body in `RequestMemory.answers`, which is released when the client has taken it. Undefined: it has none yet. */
  readonly room?: Reservation;
}

/** An operation with its types erased, as the registry holds it. */
export type Operation = OperationSpec;

/** Keeps the types of params, query and body inside `handle`, then erases them. */
export function defineOperation<P extends TSchema, Q extends TSchema, B extends TSchema>(
  spec: OperationSpec<P, Q, B>,
): Operation {
  return spec;
}
