/**
 * The one client for every outgoing connection. The guard (`guarded-agent.ts`) checks each address, of each redirect too; time, bytes,
 * redirects, retries and connections are bounded, so that whoever is asked cannot hold or fill the service.
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
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** From the call to the last byte, with all redirects and retries. */
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
  /** Requests that wait for a connection. */
  readonly waitingMax: number;
  readonly lookup?: AddressLookup;
  /** Waited for before a whole body is handed over, where what is done with it can wait. Default: it cannot. */
  readonly giveWay?: Pick<GiveWay, 'wait'>;
}

export interface OutboundRetries {
  readonly attemptsMax: number;
  /** Before the second attempt; doubled before each further one. A random part of it is waited. */
  readonly waitMsFirst: number;
  /** A longer wait is not made, `Retry-After` included: whoever asked gets the answer, or the error. */
  readonly waitMsMax: number;
}

export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in lower case. */
  readonly headers?: OutboundHeaders;
  /** A function gives the pieces anew for each time that they are sent. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  readonly limits?: Partial<OutboundLimits>;
  /** Of an earlier answer; where they still hold, the answer is a 304 without a body. */
  readonly validators?: Validators;
  /** Default 0: a redirect is an answer like any other. */
  readonly redirectsMax?: number;
  /** Asked before a redirect is followed; false makes the redirect the answer. */
  readonly mayFollow?: (from: URL, to: URL) => boolean;
  /** Headers that another origin does not get, besides those that are known to be secret. */
  readonly secretHeaders?: readonly string[];
  /** Default true. False: the body is given as it comes. */
  readonly decompress?: boolean;
  /** Only for what may be asked twice. Default: one attempt. */
  readonly retries?: OutboundRetries;
  readonly signal?: AbortSignal;
}

const REPEATED_STATUSES: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
const REPEATED_FAILURES: ReadonlySet<OutboundFailure> = new Set(['network', 'connect-timeout', 'headers-timeout']);
/** Of the work that an answer with a body makes. */
const SHARE_OF_BODYLESS = 1 / 10;
/** The body of a redirect is read to its end, for its connection's sake, where it says that it is this short. */
const REDIRECT_BODY_BYTES_MAX = 16_384;

/** What one call has in hand. */
interface Call {
  readonly request: OutboundRequest;
  readonly limits: OutboundLimits;
  readonly end: CallEnd;
}

interface Exchange extends Answer {
  readonly giveBack: () => void;
}

export class OutboundClient {
  /** Made for the first request: its library takes as long to load as a fifth of all that a start loads. */
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
   * Resolves with the answer, whatever its status, when its headers are there. Rejects with an OutboundRefusedError of the guard, an
   * OutboundFailedError, or the signal's reason.
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

  /** Ends whatever is under way. */
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

  /** The answer after all redirects. */
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
        // What a redirect leads to is as little to be trusted as what somebody registered.
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

/** A redirect's answer: nobody reads it. */
async function letGo({ body, headers, giveBack }: Exchange): Promise<void> {
  const isShort = Number(headers['content-length'] ?? NaN) <= REDIRECT_BODY_BYTES_MAX;
  if (isShort && body !== undefined) await new Promise((resolve) => body.once('close', resolve).resume());
  // An error of a body that is thrown away is nobody's.
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
