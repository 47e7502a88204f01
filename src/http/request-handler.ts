/**
 * What happens to a request between the transport and the operations: routing, refusal while the service starts, stops or is
 * full, admission, body, answer, log line, measurements. Nothing thrown gets past it.
 */
import type { Caller } from '../access/index.js';
import {
  HeadedBytes,
  isStreamBody,
  type Dispatcher,
  type Operation,
  type OperationContext,
  type OperationResult,
  type PathParams,
  type Services,
} from '../operations/index.js';
import { REQUEST_ID_CHARACTERS_MAX, ServiceError, uuidv7, type Cancellation, type Metrics } from '../platform/index.js';
import { createCors, type Cors } from './cors.js';
import { answerBytes, ClientGone, type Answer, type IncomingRequest, type RequestHandler } from './exchange.js';
import { asServiceError, failureHeaders, PROBLEM_TYPE } from './failures.js';
import { createObserver, type Observer } from './observer.js';
import { Router } from './router.js';

export interface RequestHandlerOptions {
  readonly services: Services;
  readonly dispatcher: Dispatcher;
  readonly metrics: Metrics;
}

export interface RequestDesk {
  readonly handle: RequestHandler;
  /** From now on new requests are refused; resolves when those in flight are answered, or after the time given. */
  drain(timeoutMs: number): Promise<void>;
}

const REQUEST_ID = new RegExp(`^[A-Za-z0-9._:/+=@-]{1,${REQUEST_ID_CHARACTERS_MAX}}$`);
const JSON_TYPE = 'application/json';
const RETRY_SOON = { retryAfterSeconds: 1 };
const DISCARDED_BODY_BYTES_MAX = 1_048_576;

type Header = readonly [name: string, value: string];

/** What is known of a request by the time it is answered. */
interface Visit {
  readonly request: IncomingRequest;
  readonly requestId: string;
  readonly beginMs: number;
  operation: Operation | undefined;
  params: PathParams;
  caller: Caller | undefined;
}

export function createRequestDesk(options: RequestHandlerOptions): RequestDesk {
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
  #inFlight = 0;
  #stopping = false;
  #onIdle: (() => void) | undefined;

  constructor({ services, dispatcher, metrics }: RequestHandlerOptions) {
    this.#services = services;
    this.#dispatcher = dispatcher;
    this.#metrics = metrics;
    this.#router = new Router(services.operations);
    this.#cors = createCors(services.config.server.cors_origins);
    this.#observe = createObserver(services.log, metrics);
    metrics.beforeReading(() => {
      metrics.requestsInFlight.set(this.#inFlight);
    });
  }

  handle(request: IncomingRequest): Answer | Promise<Answer> {
    const visit: Visit = {
      request,
      requestId: requestIdOf(request),
      beginMs: performance.now(),
      operation: undefined,
      params: {},
      caller: undefined,
    };
    this.#inFlight += 1;
    try {
      const result = this.#begin(visit);
      if (!(result instanceof Promise)) return this.#finish(visit, this.#success(visit, result));
      return result
        .then((value) => this.#finish(visit, this.#success(visit, value)))
        .catch((error: unknown) => this.#finish(visit, this.#failure(visit, error)));
    } catch (error) {
      return this.#finish(visit, this.#failure(visit, error));
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

  #begin(visit: Visit): OperationResult | Promise<OperationResult> {
    const { request } = visit;
    this.#assertOpen();
    const match = this.#router.match(request.method, request.path);
    if (match.kind === 'none') throw new ServiceError('not-found', 'There is nothing at this path. See /openapi.json.');
    if (match.kind === 'other-method') {
      if (request.method !== 'OPTIONS') throw new MethodNotAllowed(match.allowed);
      return { status: 204, headers: { Allow: match.allowed.join(', ') } };
    }
    const { operation, params } = match;
    visit.operation = operation;
    visit.params = params;
    if (!this.#services.ready() && operation.permission !== 'public') {
      throw new ServiceError('not-ready', 'The service is starting.', RETRY_SOON);
    }
    visit.caller = this.#dispatcher.admit(operation, params, request.credential);
    return this.#perform(visit, operation, visit.caller);
  }

  #assertOpen(): void {
    if (this.#stopping) throw new ServiceError('shutting-down', 'The service is stopping.', RETRY_SOON);
    const inFlightMax = this.#services.config.limits.requests_in_flight_max;
    if (this.#inFlight > inFlightMax) {
      throw new ServiceError('overloaded', `The service is at work on ${inFlightMax} requests already.`, RETRY_SOON);
    }
  }

  #perform(visit: Visit, operation: Operation, caller: Caller): OperationResult | Promise<OperationResult> {
    const { request, params, requestId } = visit;
    const { queryString, contentType } = request;
    const context = new RequestContext(this.#services, caller, requestId, request);
    const { limits } = this.#services.config;
    if (isStreamBody(operation.body)) {
      const stream = request.stream(limits.bulk_body_bytes_max);
      return this.#dispatcher.perform(operation, { params, queryString, contentType, stream }, context);
    }
    if (request.bodyBytes === 0) {
      return this.#dispatcher.perform(operation, { params, queryString, contentType }, context);
    }
    return request
      .read(limits.json_body_bytes_max)
      .then((body) => this.#dispatcher.perform(operation, { params, queryString, contentType, body }, context));
  }

  #success(visit: Visit, result: OperationResult): Answer {
    const { body } = result;
    const headers = this.#commonHeaders(visit);
    for (const name in result.headers) headers.push([name, result.headers[name] ?? '']);
    return {
      status: result.status,
      headers,
      contentType: body === undefined ? undefined : (result.contentType ?? JSON_TYPE),
      body: isFinished(body) ? body : JSON.stringify(body),
      headOnly: visit.request.method === 'HEAD',
      close: this.#stopping || hasLongRest(visit.request),
    };
  }

  #failure(visit: Visit, thrown: unknown): Answer {
    const headers = this.#commonHeaders(visit);
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
    const error = asServiceError(thrown, this.#services.log, visit.requestId);
    headers.push(...failureHeaders(error));
    if (error instanceof MethodNotAllowed) headers.push(['Allow', error.allowed.join(', ')]);
    return {
      status: error.status,
      headers,
      contentType: PROBLEM_TYPE,
      body: JSON.stringify(error.toProblem()),
      headOnly: visit.request.method === 'HEAD',
      close: this.#stopping || hasLongRest(visit.request),
    };
  }

  #commonHeaders({ request, requestId }: Visit): Header[] {
    const isPreflight = request.method === 'OPTIONS';
    const crossOrigin = isPreflight ? this.#cors.preflightHeaders(request.origin) : this.#cors.headers(request.origin);
    const own: Header = ['X-Request-Id', requestId];
    return crossOrigin.length === 0 ? [own] : [own, ...crossOrigin];
  }

  #finish(visit: Visit, answer: Answer): Answer {
    this.#inFlight -= 1;
    if (answer.status === CLIENT_GONE_STATUS) this.#metrics.requestsAborted.inc();
    this.#observe(visit, answer.status, answerBytes(answer));
    if (this.#inFlight === 0) this.#onIdle?.();
    return answer;
  }
}

function requestIdOf({ requestIdHeader }: IncomingRequest): string {
  return requestIdHeader !== '' && REQUEST_ID.test(requestIdHeader) ? requestIdHeader : uuidv7();
}

function isFinished(body: unknown): body is Uint8Array | HeadedBytes | undefined {
  return body === undefined || body instanceof Uint8Array || body instanceof HeadedBytes;
}

/** The rest of a body that nobody reads has to be received before the connection is good again: worth it for a short one. */
function hasLongRest({ bodyPending, bodyBytes }: IncomingRequest): boolean {
  return bodyPending && (bodyBytes === undefined || bodyBytes > DISCARDED_BODY_BYTES_MAX);
}

/** What a log line shows for a client that went away; nothing is sent. */
export const CLIENT_GONE_STATUS = 499;

/** A class, not a literal: each literal with an accessor gets a shape of its own, which outlives the request. */
class RequestContext implements OperationContext {
  constructor(
    readonly services: Services,
    readonly caller: Caller,
    readonly requestId: string,
    private readonly request: IncomingRequest,
  ) {}

  get signal(): Cancellation {
    return this.request.signal;
  }
}

class MethodNotAllowed extends ServiceError {
  constructor(readonly allowed: readonly string[]) {
    super('method-not-allowed', `This path takes ${allowed.join(', ')}.`);
  }
}
