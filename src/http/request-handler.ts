/**
 * Handles requests between the transport and the operations: routing, refusal while the service starts, stops or is
 * full, admission, body, answer, log line, metrics. Never throws.
 */
import type { Caller } from '../access/index.js';
import type { ListRecord } from '../catalog/index.js';
import {
  asServiceError,
  EVENT_STREAM_TYPE,
  isStreamBody,
  StreamedBody,
  jsonBodyBytesMax,
  tooLarge,
  type Admission,
  type Dispatcher,
  type Operation,
  type OperationContext,
  type OperationResult,
  type PathParams,
  type RequestHeaderName,
  type RequestHeaders,
  type Services,
  type Visitor,
  type StreamBody,
} from '../operations/index.js';
import {
  REQUEST_ID_CHARACTERS_MAX,
  SENT_AT_ONCE_BYTES,
  ServiceError,
  REQUEST_TARGET_CHARACTERS_MAX,
  UPLOAD_BYTES,
  uuidv7,
  type Cancellation,
  type Metrics,
  type Reservation,
} from '../platform/index.js';
import { finishedBody } from './answer-body.js';
import { createCors, type Cors } from './cors.js';
import { answerBytes, ClientGone, type Answer, type IncomingRequest, type RequestHandler } from './exchange.js';
import { failureHeaders, PROBLEM_TYPE } from './failures.js';
import { methodsText, pathMeant } from './near-paths.js';
import { createObserver, type Observer } from './observer.js';
import { Router } from './router.js';
import type { PageHeaders, Site } from './site.js';
import { UploadWindow } from './upload-window.js';

export interface RequestHandlerOptions {
  readonly services: Services;
  readonly dispatcher: Dispatcher;
  readonly metrics: Metrics;
  /** Called for the first page requested, so that the site is only loaded if it is used. */
  readonly openSite: () => Promise<Site>;
}

export interface RequestServer {
  readonly handle: RequestHandler;
  /** Refuses new requests from now on; resolves when those in flight are answered, or after the timeout. */
  drain(timeoutMs: number): Promise<void>;
}

const REQUEST_ID = new RegExp(`^[A-Za-z0-9._:/+=@-]{1,${REQUEST_ID_CHARACTERS_MAX}}$`);
const JSON_TYPE = 'application/json';
const PAGE_METHODS = ['GET', 'HEAD'];
const RETRY_SOON = { retryAfterSeconds: 1 };
/** A body kept as a whole is in memory twice: as chunks, and joined. */
const PIECES_AND_WHOLE = 2;
const DISCARDED_BODY_BYTES_MAX = 16_777_216;

type Header = readonly [name: string, value: string];

/**
 * Of every answer that says nothing else: it depends on the key, which caches that several clients share do not look
 * at, and on the moment.
 */
const NOT_STORED: Header = ['Cache-Control', 'no-store'];

/** State of a request until it is answered. */
interface RequestState {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly beginMs: number;
  operation: Operation | undefined;
  params: PathParams;
  caller: Caller | undefined;
  /** Memory reserved for its body, until it is answered. */
  room: Reservation | undefined;
}

export function createRequestServer(options: RequestHandlerOptions): RequestServer {
  const handler = new Handler(options);
  return { handle: (request) => handler.handle(request), drain: (timeoutMs) => handler.drain(timeoutMs) };
}

class Handler {
  readonly #services: Services;
  readonly #dispatcher: Dispatcher;
  readonly #metrics: Metrics;
  readonly #router: Router;
  readonly #cors: Cors;
  readonly #observe: Observer;
  readonly #openSite: () => Promise<Site>;
  #site: Promise<Site> | undefined;
  readonly #uploadWindow: UploadWindow;
  #inFlight = 0;
  #stopping = false;
  #onIdle: (() => void) | undefined;

  constructor({ services, dispatcher, metrics, openSite }: RequestHandlerOptions) {
    this.#services = services;
    this.#dispatcher = dispatcher;
    this.#openSite = openSite;
    this.#metrics = metrics;
    this.#router = new Router(services.operations);
    this.#cors = createCors(services.config.server.cors_origins, services.operations);
    this.#uploadWindow = new UploadWindow(services.requestMemory.uploadWindowBytes, services.requestMemory.letGo);
    this.#observe = createObserver(services.log, metrics);
    metrics.beforeReading(() => {
      metrics.requestsInFlight.set(this.#inFlight);
    });
  }

  handle(request: IncomingRequest): Answer | Promise<Answer> {
    const state: RequestState = {
      request,
      requestId: requestIdOf(request),
      beginMs: performance.now(),
      operation: undefined,
      params: {},
      caller: undefined,
      room: undefined,
    };
    this.#inFlight += 1;
    try {
      const result = this.#begin(state);
      if (!(result instanceof Promise)) return this.#finish(state, this.#success(state, result));
      return result
        .then((value) => this.#finish(state, this.#success(state, value)))
        .catch((error: unknown) => this.#finish(state, this.#failure(state, error)));
    } catch (error) {
      return this.#finish(state, this.#failure(state, error));
    }
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#stopping = true;
    if (this.#inFlight === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #begin(state: RequestState): OperationResult | Promise<OperationResult> {
    const { request } = state;
    assertSound(request);
    this.#assertOpen();
    if (request.page !== undefined) return this.#page(request, request.page);
    const match = this.#router.match(request.method, request.path);
    if (match.kind === 'none') {
      const meant = pathMeant(request.method, request.path, this.#services.operations);
      throw new ServiceError('not-found', `There is nothing at this path.${meant} /openapi.json has all of them.`);
    }
    if (match.kind === 'other-method') {
      if (request.method !== 'OPTIONS') throw new MethodNotAllowed(match.allowed, methodsText(match.operations));
      return { status: 204, headers: { Allow: match.allowed.join(', ') } };
    }
    const { operation, params } = match;
    state.operation = operation;
    state.params = params;
    if (!this.#services.ready() && operation.permission !== 'public') {
      throw new ServiceError('not-ready', 'The service is starting.', RETRY_SOON);
    }
    const admission = this.#dispatcher.admit(operation, params, request.credential);
    state.caller = admission.caller;
    return this.#perform(state, operation, admission);
  }

  async #page({ method, path }: IncomingRequest, headers: PageHeaders): Promise<OperationResult> {
    if (!PAGE_METHODS.includes(method)) throw new MethodNotAllowed(PAGE_METHODS);
    this.#site ??= this.#openSite();
    try {
      const answer = (await this.#site).answer({ path, ...headers });
      if (answer !== undefined) return answer;
    } catch (error) {
      // The next request may find what was missing.
      this.#site = undefined;
      throw error;
    }
    throw new ServiceError('not-found', 'There is no such file. The service was updated: reload the page.');
  }

  #assertOpen(): void {
    if (this.#stopping) throw new ServiceError('shutting-down', 'The service is stopping.', RETRY_SOON);
    const inFlightMax = this.#services.config.limits.requests_in_flight_max;
    if (this.#inFlight > inFlightMax) {
      throw new ServiceError(
        'overloaded',
        `The service is already working on ${inFlightMax} requests. Try again soon.`,
        RETRY_SOON,
      );
    }
  }

  #perform(
    state: RequestState,
    operation: Operation,
    admission: Admission,
  ): OperationResult | Promise<OperationResult> {
    const { request, params, requestId } = state;
    const { queryString, contentType } = request;
    const context = new RequestContext(this.#services, admission, requestId, request);
    const { body: bodySpec, requestHeaders } = operation;
    if (request.bodyBytes !== 0 && bodySpec !== undefined) assertPlainBody(request);
    if (isStreamBody(bodySpec)) {
      const stream = this.#stream(state, bodySpec);
      const announced = request.bodyBytes === undefined ? {} : { bodyBytes: request.bodyBytes };
      const raw = {
        params,
        queryString,
        contentType,
        stream,
        headers: headersOf(request, requestHeaders),
        ...announced,
      };
      return this.#dispatcher.perform(operation, raw, context);
    }
    if (request.bodyBytes === 0) {
      const headers = requestHeaders === undefined ? undefined : { headers: headersOf(request, requestHeaders) };
      return this.#dispatcher.perform(operation, { params, queryString, contentType, ...headers }, context);
    }
    return this.#read(state, operation).then((body) =>
      this.#dispatcher.perform(operation, { params, queryString, contentType, body }, context),
    );
  }

  #stream(state: RequestState, { bytesMax, memory }: StreamBody): AsyncIterable<Uint8Array> {
    const { config, requestMemory } = this.#services;
    const limit = bytesMax?.(config) ?? config.limits.bulk_body_bytes_max;
    if (memory === 'window') return state.request.stream(limit, undefined, this.#uploadWindow);
    state.room =
      memory === 'whole'
        ? requestMemory.bodies.reserve(PIECES_AND_WHOLE * Math.min(state.request.bodyBytes ?? limit, limit))
        : requestMemory.uploads.reserve(UPLOAD_BYTES);
    return state.request.stream(limit, state.room.ready);
  }

  /**
   * Reads the whole body, once there is room for it. A body that the operation does not accept is refused before any of
   * it is kept. Throws or rejects. Not an async function, since each of those costs every request with a body an
   * additional turn.
   */
  #read(state: RequestState, operation: Operation): Promise<Uint8Array> {
    const { request } = state;
    const { config, requestMemory } = this.#services;
    if (operation.body === undefined) return readNone(request);
    const bytesMax = jsonBodyBytesMax(operation, config);
    const announced = request.bodyBytes ?? bytesMax;
    if (announced > bytesMax) throw tooLarge(bytesMax);
    const room = requestMemory.bodies.reserve(announced);
    state.room = room;
    const reading = request.read(bytesMax, room.ready);
    if (request.bodyBytes !== undefined) return reading;
    return reading.then((body) => {
      room.shrinkTo(body.byteLength);
      return body;
    });
  }

  #success(state: RequestState, result: OperationResult): Answer {
    const headOnly = state.request.method === 'HEAD';
    const body = finishedBody(result.body, this.#services.requestMemory.answerBytesMax);
    const room = result.room ?? (headOnly || body === undefined ? undefined : this.#roomFor(body));
    const headers = this.#commonHeaders(state);
    for (const name in result.headers) headers.push([name, result.headers[name] ?? '']);
    if (result.headers?.['Cache-Control'] === undefined) headers.push(NOT_STORED);
    if (result.events !== undefined) return this.#eventsAnswer(state, result, headers);
    return {
      status: result.status,
      headers,
      contentType: body === undefined ? undefined : (result.contentType ?? JSON_TYPE),
      body,
      headOnly,
      close: this.#stopping || hasLongRest(state.request),
      sent: room === undefined ? undefined : () => room.release(),
      broken: (error) => {
        const { requestId, operation } = state;
        this.#services.log.error({ requestId, operation: operation?.name, err: error }, 'A response was cut off');
      },
    };
  }

  /** Answers with events. The headers ask proxies to pass on each event at once. */
  #eventsAnswer({ request }: RequestState, { status, events }: OperationResult, headers: Header[]): Answer {
    const headOnly = request.method === 'HEAD';
    const all: Header[] = [...headers, ['X-Accel-Buffering', 'no']];
    return {
      ...{ status, headers: all, headOnly, body: undefined, close: this.#stopping, contentType: EVENT_STREAM_TYPE },
      events: headOnly ? undefined : events,
    };
  }

  /** Reserves room for an answer that its client may read slowly; undefined for a short one. Throws `overloaded`. */
  #roomFor(body: NonNullable<Answer['body']>): Reservation | undefined {
    const isStreamed = body instanceof StreamedBody;
    const bytes = body.byteLength;
    if (bytes <= SENT_AT_ONCE_BYTES && !isStreamed) return undefined;
    const { answers } = this.#services.requestMemory;
    // One chunk of a streamed body is in memory, however slowly it is read.
    const room = answers.tryReserve(isStreamed ? Math.min(bytes, SENT_AT_ONCE_BYTES) : bytes);
    if (room !== undefined) return room;
    if (isStreamed) body.letGo();
    throw answers.refusal();
  }

  #failure(state: RequestState, thrown: unknown): Answer {
    const headers = this.#commonHeaders(state);
    if (thrown instanceof ClientGone) {
      return {
        status: CLIENT_GONE_STATUS,
        headers,
        contentType: undefined,
        body: undefined,
        headOnly: false,
        close: true,
      };
    }
    const error = asServiceError(thrown, this.#services.log, state.requestId);
    headers.push(NOT_STORED, ...failureHeaders(error));
    const isUnusable = state.request.fault !== undefined || error.code === 'body-too-slow';
    if (error instanceof MethodNotAllowed) headers.push(['Allow', error.allowed.join(', ')]);
    return {
      status: error.status,
      headers,
      contentType: PROBLEM_TYPE,
      body: Buffer.from(JSON.stringify(error.toProblem())),
      headOnly: state.request.method === 'HEAD',
      close: this.#stopping || isUnusable || hasLongRest(state.request),
    };
  }

  #commonHeaders({ request, requestId }: RequestState): Header[] {
    const isPreflight = request.method === 'OPTIONS';
    const crossOrigin = isPreflight ? this.#cors.preflightHeaders(request.origin) : this.#cors.headers(request.origin);
    const own: Header = ['X-Request-Id', requestId];
    return crossOrigin.length === 0 ? [own] : [own, ...crossOrigin];
  }

  #finish(state: RequestState, answer: Answer): Answer {
    this.#inFlight -= 1;
    state.room?.release();
    if (answer.status === CLIENT_GONE_STATUS) this.#metrics.requestsAborted.inc();
    this.#observe(state, answer.status, answerBytes(answer));
    if (this.#inFlight === 0) this.#onIdle?.();
    return answer;
  }
}

/** Throws for a request that cannot be trusted, and for one whose URL is too long. */
function assertSound({ fault, path, queryString }: IncomingRequest): void {
  if (fault !== undefined) throw fault;
  if (path.length + queryString.length >= REQUEST_TARGET_CHARACTERS_MAX) {
    throw new ServiceError(
      'url-too-long',
      `The path and query string may have at most ${REQUEST_TARGET_CHARACTERS_MAX} characters. Send long search options in the body of a POST.`,
    );
  }
}

/**
 * Compressed bodies are refused: they would be stored compressed as files, and are not JSON. Throws
 * `unsupported-media-type`.
 */
function assertPlainBody(request: IncomingRequest): void {
  const coding = request.header('content-encoding').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return;
  throw new ServiceError(
    'unsupported-media-type',
    'Compressed bodies are not supported: send the body uncompressed, without Content-Encoding.',
    { headers: { 'Accept-Encoding': 'identity' } },
  );
}

function requestIdOf({ requestIdHeader }: IncomingRequest): string {
  return requestIdHeader !== '' && REQUEST_ID.test(requestIdHeader) ? requestIdHeader : uuidv7();
}

const NO_HEADERS: RequestHeaders = Object.freeze({});

/** Returns the headers that the operation uses, as far as they were sent. */
function headersOf(request: IncomingRequest, names: readonly RequestHeaderName[] | undefined): RequestHeaders {
  if (names === undefined) return NO_HEADERS;
  const sent = names.map((name) => [name, request.header(name)] as const).filter(([, text]) => text !== '');
  return Object.fromEntries(sent);
}

/**
 * Reads the body of an operation that takes none: it must be empty, in any number of chunks. Throws `invalid-parameter`
 * at the first byte.
 */
async function readNone(request: IncomingRequest): Promise<Uint8Array> {
  const detail = 'This operation takes no body.';
  const refusal = new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '', detail }] });
  if (request.bodyBytes !== undefined) throw refusal;
  try {
    return await request.read(0);
  } catch (error) {
    throw error instanceof ServiceError && error.code === 'body-too-large' ? refusal : error;
  }
}

/**
 * True if the unread rest of the body is too long to be received and dropped, which a connection needs before its next
 * request.
 */
function hasLongRest({ bodyPending, bodyBytes }: IncomingRequest): boolean {
  return bodyPending && (bodyBytes === undefined || bodyBytes > DISCARDED_BODY_BYTES_MAX);
}

/** Status in the log line of a client that went away; nothing is sent. */
const CLIENT_GONE_STATUS = 499;

/** A class, not a literal: each literal with an accessor gets its own hidden class, which outlives the request. */
class RequestContext implements OperationContext {
  readonly caller: Caller;
  readonly list: ListRecord | undefined;

  constructor(
    readonly services: Services,
    { caller, list }: Admission,
    readonly requestId: string,
    private readonly request: IncomingRequest,
  ) {
    this.caller = caller;
    this.list = list;
  }

  get visitor(): Visitor {
    return this.request.visitor;
  }

  get signal(): Cancellation {
    return this.request.signal;
  }

  get headOnly(): boolean {
    return this.request.method === 'HEAD';
  }
}

class MethodNotAllowed extends ServiceError {
  /** `told`: what each method does, if more is known than their names. */
  constructor(
    readonly allowed: readonly string[],
    told = allowed.join(', '),
  ) {
    super('method-not-allowed', `This path takes ${told}.`);
  }
}
