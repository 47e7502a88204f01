/**
 * Fetches pages, robots.txt and sitemaps with the guarded client. Errors of a server are outcomes; only the reason of
 * an abortion is thrown.
 */
import { OutboundRefusedError, validatorsOf, type Validators } from '../../platform/index.js';
import {
  OutboundFailedError,
  type OutboundClient,
  type OutboundResponse,
} from '../../platform/outbound/outbound-client.js';
import { decodeText, looksBinary } from '../text/decoded-text.js';

const REDIRECTS_MAX = 8;
const PAGE_TYPES = /^(?:text\/html|application\/xhtml\+xml|text\/(?:plain|(?:x-)?markdown))\b/i;
/** Time limit of one page, including its redirects. */
const PAGE_MS_MAX = 60_000;

export type PageOutcome =
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly text: string;
      readonly contentType: string;
      readonly robotsTag: string;
      readonly validators: Validators;
    }
  | { readonly kind: 'unchanged'; readonly url: string }
  | { readonly kind: 'document'; readonly url: string; readonly validators: Validators }
  /** Status 404 or 410. */
  | { readonly kind: 'gone'; readonly status: number }
  | { readonly kind: 'redirected'; readonly to: string }
  /** A type that is not read. */
  | { readonly kind: 'other'; readonly why: string }
  | { readonly kind: 'later'; readonly afterMs: number | undefined; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

export interface FetcherOptions {
  readonly client: OutboundClient;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  readonly pageBytesMax: number;
  /** True if the target of a redirect may be read. */
  readonly mayFollow: (to: URL) => boolean;
}

export class PageFetcher {
  requests = 0;
  bytes = 0;

  constructor(private readonly options: FetcherOptions) {}

  async page(url: string, known: Validators): Promise<PageOutcome> {
    const { mayFollow } = this.options;
    let refused: string | undefined;
    const answer = await this.ask(url, known, (_from, to) => {
      if (mayFollow(to)) return true;
      refused = to.href;
      return false;
    });
    if (!('response' in answer)) return { kind: 'failed', why: answer.why };
    const { response } = answer;
    if (refused !== undefined) {
      response.discard();
      return { kind: 'redirected', to: refused };
    }
    try {
      return await this.outcome(response);
    } catch (error) {
      return { kind: 'failed', why: this.sentence(error) };
    }
  }

  /** Fetches robots.txt or a sitemap; the caller has to read the body. */
  async file(
    url: string,
    known: Validators,
  ): Promise<{ readonly response: OutboundResponse } | { readonly why: string }> {
    return this.ask(url, known, () => true);
  }

  /** Returns why a request failed; throws the reason of an abortion. */
  sentence(error: unknown): string {
    this.options.signal.throwIfAborted();
    if (error instanceof OutboundFailedError || error instanceof OutboundRefusedError) return error.message;
    throw error;
  }

  private async outcome(response: OutboundResponse): Promise<PageOutcome> {
    const { status, headers, url } = response;
    if (response.isNotModified) return { kind: 'unchanged', url };
    const contentType = headers['content-type'] ?? '';
    const validators = validatorsOf(headers, this.options.nowMs());
    if (status === 404 || status === 410) {
      response.discard();
      return { kind: 'gone', status };
    }
    if (status === 429 || status === 503) {
      response.discard();
      return { kind: 'later', afterMs: response.retryAfterMs(this.options.nowMs()), why: `It answered ${status}.` };
    }
    if (status !== 200) {
      response.discard();
      return { kind: 'failed', why: `It answered ${status}.` };
    }
    if (/^application\/pdf\b/i.test(contentType)) {
      response.discard();
      return { kind: 'document', url, validators };
    }
    if (contentType !== '' && !PAGE_TYPES.test(contentType)) {
      response.discard();
      return { kind: 'other', why: `It is of the type ${contentType.slice(0, 100)}.` };
    }
    const bytes = await response.bytes();
    this.bytes += bytes.length;
    // An empty page is a fault of its server, and proves nothing.
    if (bytes.length === 0) return { kind: 'failed', why: 'It answered 200 with an empty body.' };
    const decoded = decodeText(bytes, contentType);
    // As a page it would consist of strange words, which would replace the previous content.
    if (looksBinary(decoded)) return { kind: 'other', why: 'It is no text, whatever its type says.' };
    const { text } = decoded;
    return { kind: 'page', url, text, contentType, robotsTag: headers['x-robots-tag'] ?? '', validators };
  }

  private async ask(
    url: string,
    validators: Validators,
    mayFollow: (from: URL, to: URL) => boolean,
  ): Promise<{ readonly response: OutboundResponse } | { readonly why: string }> {
    const { client, signal, pageBytesMax } = this.options;
    this.requests += 1;
    try {
      const response = await client.request({
        url,
        validators,
        redirectsMax: REDIRECTS_MAX,
        mayFollow,
        limits: { totalMs: PAGE_MS_MAX, bytesMax: pageBytesMax, wireBytesMax: pageBytesMax },
        signal,
      });
      this.requests += response.redirects.length;
      return { response };
    } catch (error) {
      return { why: this.sentence(error) };
    }
  }
}
