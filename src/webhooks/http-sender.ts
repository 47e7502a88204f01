/** Sends one attempt over HTTP, by the client for outgoing connections. Belongs to the webhook worker's thread. */
import type { AddressLookup } from '../platform/outbound/guarded-agent.js';
import { OutboundClient, OutboundFailedError, type OutboundFailure } from '../platform/outbound/outbound-client.js';
import type { AttemptResult, WebhookSettings } from './types.js';

/** Bytes of an answer that the log keeps. */
const ANSWER_BYTES_MAX = 1024;
/** A longer answer is not read to its end: its connection is closed. */
const ANSWER_BYTES_READ_MAX = 65_536;
const KEEP_ALIVE_MS = 30_000;
const ERROR_CHARACTERS_MAX = 200;
const LATE: ReadonlySet<OutboundFailure> = new Set(['connect-timeout', 'headers-timeout', 'total-timeout']);

export interface SendRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sender {
  /** Never rejects. `abort` ends the attempt, whose result is then ignored. */
  send(request: SendRequest, abort: AbortSignal): Promise<AttemptResult>;
  close(): Promise<void>;
}

export interface HttpSenderOptions {
  readonly settings: Pick<
    WebhookSettings,
    'answer_seconds' | 'connections_per_receiver' | 'connections_max' | 'outbound'
  >;
  readonly lookup?: AddressLookup;
}

export class HttpSender implements Sender {
  private readonly client: OutboundClient;

  constructor(private readonly options: HttpSenderOptions) {
    const { settings, lookup } = options;
    const answerMs = settings.answer_seconds * 1000;
    const bytesMax = ANSWER_BYTES_READ_MAX;
    this.client = new OutboundClient({
      rules: settings.outbound,
      userAgent: 'Gannet-Webhooks',
      limits: { headersMs: answerMs, idleMs: answerMs, totalMs: answerMs, wireBytesMax: bytesMax, bytesMax },
      connectMs: answerMs,
      keepAliveMs: KEEP_ALIVE_MS,
      connectionsPerHostMax: settings.connections_per_receiver,
      connectionsMax: settings.connections_max,
      // Attempts without a slot of the lanes do not come here.
      waitingMax: settings.connections_max,
      ...(lookup === undefined ? {} : { lookup }),
    });
  }

  async send({ url, headers, body }: SendRequest, abort: AbortSignal): Promise<AttemptResult> {
    const begin = performance.now();
    const took = () => Math.round(performance.now() - begin);
    try {
      const response = await this.client.request({
        url,
        method: 'POST',
        headers,
        body,
        decompress: false,
        signal: abort,
      });
      const durationMs = took();
      const answer = await beginningOf(response.body());
      return { ok: response.ok, status: response.status, error: null, durationMs, answer };
    } catch (error) {
      return { ok: false, status: null, error: this.describe(error), durationMs: took(), answer: '' };
    }
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Returns what went wrong in a few words. */
  private describe(error: unknown): string {
    const isLate = error instanceof OutboundFailedError && LATE.has(error.reason);
    if (isLate) return `no answer in ${this.options.settings.answer_seconds} s`;
    const text = error instanceof Error ? error.message : String(error);
    return text.slice(0, ERROR_CHARACTERS_MAX);
  }
}

/**
 * Returns the first bytes as text. Only the status matters: an answer that breaks off after it counts like a short one.
 */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < ANSWER_BYTES_MAX) chunks.push(chunk);
      bytes += chunk.length;
    }
  } catch {
    // Keeps what was received so far.
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX).toString('utf8');
}
