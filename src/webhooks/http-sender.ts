/** Sends one attempt over HTTP, through the guard of outgoing connections. Belongs to the webhook worker's thread. */
import type { Readable } from 'node:stream';
import type { Agent } from 'undici';
import { createGuardedAgent, type AddressLookup } from '../platform/outbound/guarded-agent.js';
import { checkOutboundUrl } from '../platform/index.js';
import type { AttemptResult, WebhookSettings } from './types.js';

/** How much of an answer the log keeps. */
const ANSWER_BYTES_MAX = 1024;
/** A longer answer is not read to its end: its connection is closed. */
const ANSWER_BYTES_READ_MAX = 65_536;
const KEEP_ALIVE_MS = 30_000;
const ERROR_CHARACTERS_MAX = 200;

export interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sender {
  /** Never rejects. `abort` ends the attempt, which then counts for nothing. */
  send(request: SendRequest, abort: AbortSignal): Promise<AttemptResult>;
  close(): Promise<void>;
}

export interface HttpSenderOptions {
  readonly settings: Pick<WebhookSettings, 'answer_seconds' | 'connections_per_receiver' | 'outbound'>;
  readonly lookup?: AddressLookup;
}

export class HttpSender implements Sender {
  private readonly agent: Agent;
  private readonly answerMs: number;

  constructor(private readonly options: HttpSenderOptions) {
    const { settings, lookup } = options;
    this.answerMs = settings.answer_seconds * 1000;
    this.agent = createGuardedAgent({
      rules: settings.outbound,
      connectionsMax: settings.connections_per_receiver,
      connectTimeoutMs: this.answerMs,
      keepAliveMs: KEEP_ALIVE_MS,
      ...(lookup === undefined ? {} : { lookup }),
    });
  }

  async send(request: SendRequest, abort: AbortSignal): Promise<AttemptResult> {
    const begin = performance.now();
    const took = () => Math.round(performance.now() - begin);
    const timeout = new AbortController();
    const timer = setTimeout(() => {
      timeout.abort(new Error(`no answer in ${this.options.settings.answer_seconds} s`));
    }, this.answerMs);
    const cancel = () => {
      timeout.abort(abort.reason);
    };
    abort.addEventListener('abort', cancel, { once: true });
    try {
      const url = checkOutboundUrl(request.url, this.options.settings.outbound);
      const { statusCode, body } = await this.agent.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: request.body,
        signal: timeout.signal,
        headersTimeout: this.answerMs,
        bodyTimeout: this.answerMs,
      });
      const durationMs = took();
      const answer = await beginningOf(body);
      return { ok: statusCode >= 200 && statusCode < 300, status: statusCode, error: null, durationMs, answer };
    } catch (error) {
      return { ok: false, status: null, error: describe(error), durationMs: took(), answer: '' };
    } finally {
      clearTimeout(timer);
      abort.removeEventListener('abort', cancel);
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }
}

/** The first bytes as text. The status is what counts: an answer that breaks off after it is as good as a short one. */
async function beginningOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < ANSWER_BYTES_MAX) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_READ_MAX) break;
    }
  } catch {
    // What came so far is kept.
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8');
}

/** What went wrong in a few words; messages of the system name hosts and ports, never a secret. */
function describe(error: unknown): string {
  const known = error instanceof Error ? error : new Error(String(error));
  const text = known.message === '' ? ((known as NodeJS.ErrnoException).code ?? known.name) : known.message;
  return text.slice(0, ERROR_CHARACTERS_MAX);
}
