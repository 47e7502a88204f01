/**
 * The one client for all outgoing HTTP requests. The guard (`guarded-agent.ts`) checks each address, including those of
 * redirects. Time, bytes, redirects, retries and connections are bounded, so that no server can block the service or
 * fill its memory.
 *
 * Belongs to one thread.
 */
import { finished, Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Agent } from 'undici';
import { CallEnd } from './call-end.js';
import { conditionalHeaders, type OutboundHeaders, type Validators } from './conditional.js';
import { exchanged, type Answer } from './exchange.js';
import type { AddressLookup } from './guarded-agent.js';
import type { GiveWay } from '../search-activity.js';
import { HostSlots } from './host-slots.js';
import { ACCEPTED_ENCODINGS, limitedBody, type BodyLimits } from './limited-body.js';
import { asOutboundError, OutboundFailedError, type OutboundFailure } from './outbound-error.js';
import { OutboundResponse } from './outbound-response.js';
import { redirected, redirectTarget, type RedirectableRequest } from './redirects.js';
import { checkOutboundUrl, type OutboundRules } from './url-policy.js';

export { OutboundFailedError, type OutboundFailure } from './outbound-error.js';
export type { OutboundResponse } from './outbound-response.js';

export interface OutboundLimits extends BodyLimits {
  readonly headersMs: number;
  /** Between two chunks of the body. */
  readonly idleMs: number;
  /** From the call to the last byte, including all redirects and retries. */
  readonly totalMs: number;
}

export interface OutboundClientOptions {
  readonly rules: OutboundRules;
  readonly userAgent: string;
  readonly limits: OutboundLimits;
  readonly connectMs: number;
  readonly keepAliveMs: number;
  readonly connectionsPerHostMax: number;
  readonly connectionsMax: number;
  /** Number of requests that may wait for a connection. */
  readonly waitingMax: number;
  readonly lookup?: AddressLookup;
  /** If given, waited for before a whole body is handed over, since its processing can wait. Default: no waiting. */
  readonly giveWay?: Pick<GiveWay, 'wait'>;
}

export interface OutboundRetries {
  readonly attemptsMax: number;
  /** Back-off before the second attempt, doubled for each further one. The actual wait is a random part of it. */
  readonly waitMsFirst: number;
  /** If a wait, `Retry-After` included, would be longer, there is no retry: the caller gets the answer or the error. */
  readonly waitMsMax: number;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in lower case. */
  readonly headers?: OutboundHeaders;
  /** A function returns the chunks anew for each attempt. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  readonly limits?: Partial<OutboundLimits>;
  /** Validators of an earlier answer; if they still match, the answer is a 304 without a body. */
  readonly validators?: Validators;
  /** Default: 0, so a redirect is returned like any other answer. */
  readonly redirectsMax?: number;
  /** Called before a redirect is followed; if false, the redirect is the answer. */
  readonly mayFollow?: (from: URL, to: URL) => boolean;
  /** Headers not sent to another origin, in addition to those known to be secret. */
  readonly secretHeaders?: readonly string[];
  /** Default true. False: the body is passed on as received. */
  readonly decompress?: boolean;
  /** Only for requests that may be repeated. Default: one attempt. */
  readonly retries?: OutboundRetries;
  readonly signal?: AbortSignal;
}

const REPEATED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const REPEATED_FAILURES: ReadonlySet<OutboundFailure> = new Set(['network', 'connect-timeout', 'headers-timeout']);
/** Share of the waiting for an answer with a body. */
const SHARE_OF_BODYLESS = 1 / 10;
/** A redirect's body of at most this length is read to its end, so that its connection can be reused. */
const REDIRECT_BODY_BYTES_MAX = 16_384;

/** State of one call. */
interface Call {
  readonly request: OutboundRequest;
  readonly limits: OutboundLimits;
  readonly end: CallEnd;
}

interface Exchange extends Answer {
  readonly giveBack: () => void;
}

export class OutboundClient {
  /** Created for the first request: loading its library takes a fifth of the time of loading all that a start loads. */
  private agent: Promise<Agent> | undefined;
  private isClosed = false;
  private readonly slots: HostSlots;

  constructor(private readonly options: OutboundClientOptions) {
    this.slots = new HostSlots({
      perHostMax: options.connectionsPerHostMax,
      totalMax: options.connectionsMax,
      waitingMax: options.waitingMax,
    });
  }

  /**
   * Resolves with the answer, whatever its status, when its headers have arrived. Rejects with an OutboundRefusedError
   * of the guard, an OutboundFailedError, or the signal's reason.
   */
  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const limits = { ...this.options.limits, ...request.limits };
    const end = new CallEnd(limits.totalMs, request.signal);
    try {
      const call = { request, limits, end };
      const response = await (request.retries === undefined ? this.followed(call) : this.attempts(call));
      if (!response.hasBody) await this.options.giveWay?.wait(SHARE_OF_BODYLESS);
      response.onEnd(() => {
        end.release();
      });
      return response;
    } catch (error) {
      end.release();
      throw asOutboundError(error, end);
    }
  }

  /** Aborts all requests in flight. */
  async close(): Promise<void> {
    this.isClosed = true;
    await (await this.agent)?.destroy();
  }

  private async openAgent(): Promise<Agent> {
    const { rules, connectMs, keepAliveMs, connectionsPerHostMax, lookup } = this.options;
    const { createGuardedAgent } = await import('./guarded-agent.js');
    return createGuardedAgent({
      rules,
      connectionsMax: connectionsPerHostMax,
      connectTimeoutMs: connectMs,
      keepAliveMs,
      ...(lookup === undefined ? {} : { lookup }),
    });
  }

  private async attempts(call: Call): Promise<OutboundResponse> {
    const { attemptsMax = 1, waitMsFirst = 0, waitMsMax = 0 } = call.request.retries ?? {};
    for (let attempt = 1; ; attempt += 1) {
      const backoffMs = Math.random() * waitMsFirst * 2 ** (attempt - 1);
      const outcome = await this.followed(call).catch((error: unknown) => asFailure(error, call));
      if (attempt >= attemptsMax) return answerOf(outcome);
      if (outcome instanceof OutboundFailedError) {
        if (!REPEATED_FAILURES.has(outcome.reason) || backoffMs > waitMsMax) throw outcome;
        await wait(backoffMs, undefined, { signal: call.end.signal });
        continue;
      }
      const waitMs = Math.max(backoffMs, outcome.retryAfterMs(Date.now()) ?? 0);
      if (!REPEATED_STATUSES.has(outcome.status) || waitMs > waitMsMax) return outcome;
      outcome.discard();
      await wait(waitMs, undefined, { signal: call.end.signal });
    }
  }

  /** Returns the answer after all redirects. */
  private async followed(call: Call): Promise<OutboundResponse> {
    const { request } = call;
    const redirects: { status: number; url: string }[] = [];
    let next = firstRequest(request, this.options);
    for (;;) {
      const exchange = await this.exchange(call, next);
      const { status, headers } = exchange;
      const target = redirectTarget(status, headers['location'], next.url);
      const isFollowed =
        target !== undefined && request.redirectsMax !== undefined && (request.mayFollow?.(next.url, target) ?? true);
      if (!isFollowed || request.redirectsMax === 0)
        return this.responseOf(call, exchange, { url: next.url.href, redirects });
      redirects.push({ status, url: next.url.href });
      await letGo(exchange);
      if (redirects.length > request.redirectsMax) {
        throw new OutboundFailedError(
          'too-many-redirects',
          `It was redirected more than ${request.redirectsMax} times.`,
        );
      }
      next = redirected(next, {
        status,
        // The target of a redirect is no more trustworthy than a URL that a user registered.
        target: checkOutboundUrl(target.href, this.options.rules),
        secretHeaders: request.secretHeaders ?? [],
      });
    }
  }

  private async exchange({ request, limits, end }: Call, next: RedirectableRequest): Promise<Exchange> {
    const { url, method, headers, hasBody } = next;
    const { host } = url;
    const giveBack = this.slots.takeAtOnce(host) ?? (await this.slots.take(host, end));
    try {
      if (this.isClosed)
        throw new OutboundFailedError('network', 'The service makes no more connections: it is stopping.');
      this.agent ??= this.openAgent();
      const asked = {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers,
        body: hasBody ? bodyOf(request) : null,
        headersTimeout: limits.headersMs,
        bodyTimeout: limits.idleMs,
      };
      const { status, headers: answered, body } = await exchanged(await this.agent, asked, end);
      return { status, headers: answered, body, giveBack };
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  private responseOf(
    { request, limits, end }: Call,
    { status, headers, body, giveBack }: Exchange,
    { url, redirects }: Pick<OutboundResponse, 'url' | 'redirects'>,
  ): OutboundResponse {
    if (body === undefined) giveBack();
    else finished(body, giveBack);
    const { validators } = request;
    try {
      if (status === 304 && validators?.etag === undefined && validators?.lastModified === undefined)
        throw new OutboundFailedError('bad-answer', 'The answer is a 304 that nobody asked for.');
      if (body === undefined) return new OutboundResponse({ status, headers, url, redirects }, undefined, asIs);
      const isPlain = request.decompress === false;
      const stream = limitedBody(body, isPlain ? '' : (headers['content-encoding'] ?? ''), limits);
      const asError = (error: unknown) => asOutboundError(error, end);
      return new OutboundResponse({ status, headers, url, redirects }, stream, asError, this.options.giveWay);
    } catch (error) {
      body?.destroy();
      throw error;
    }
  }
}

function firstRequest(request: OutboundRequest, { rules, userAgent }: OutboundClientOptions): RedirectableRequest {
  const { url, method = 'GET', headers = {}, validators = {}, body, decompress = true } = request;
  return {
    url: checkOutboundUrl(url, rules),
    method,
    headers: {
      'user-agent': userAgent,
      ...(decompress ? { 'accept-encoding': ACCEPTED_ENCODINGS } : {}),
      ...conditionalHeaders(validators),
      ...headers,
    },
    hasBody: body !== undefined,
  };
}

function bodyOf({ body }: OutboundRequest): string | Uint8Array | Readable | null {
  return typeof body === 'function' ? Readable.from(body(), { objectMode: false }) : (body ?? null);
}

/** Disposes of the body of a redirect, which nobody reads. */
async function letGo({ body, headers, giveBack }: Exchange): Promise<void> {
  const isShort = Number(headers['content-length'] ?? NaN) <= REDIRECT_BODY_BYTES_MAX;
  if (isShort && body !== undefined) await new Promise((resolve) => body.once('close', resolve).resume());
  // Errors of a discarded body are ignored.
  else body?.destroy();
  giveBack();
}

function asFailure(error: unknown, { end }: Call): OutboundFailedError {
  const failure = asOutboundError(error, end);
  if (failure instanceof OutboundFailedError) return failure;
  throw failure;
}

const asIs = (error: unknown) => error;

function answerOf(outcome: OutboundResponse | OutboundFailedError): OutboundResponse {
  if (outcome instanceof OutboundFailedError) throw outcome;
  return outcome;
}
