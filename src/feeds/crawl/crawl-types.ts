/** What a crawl is asked for, what it keeps between two runs, and what it tells. */
import type { Logger } from 'pino';
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { PageSelectors } from '../pages/page-reader.js';
import type { SourceListener } from '../source/source-run.js';
import type { HostPace } from './host-pace.js';
import type { PageLinks } from './page-links.js';

export interface WebsiteSettings {
  readonly start_urls: readonly string[];
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Links from a start URL. */
  readonly depth_max: number;
  readonly pages_max: number;
  /** `auto`: those of robots.txt, else `/sitemap.xml`. */
  readonly sitemaps: 'auto' | readonly string[];
  readonly respect_robots: boolean;
  readonly selectors: PageSelectors;
  /** What becomes a record. */
  readonly split: 'page' | 'heading';
}

export interface CrawlLimits {
  /** At one host, unless its robots.txt asks for fewer; 0: as fast as it answers. */
  readonly pagesPerSecond: number;
  /** Requests under way at once, at all hosts; at one host there is one, unless `pagesPerSecond` is 0. */
  readonly requestsMax: number;
  readonly runMsMax: number;
  /** A wait that a site asks for and that is not made: the site is left alone until the next run. */
  readonly retryAfterMsMax: number;
  readonly pageBytesMax: number;
}

/** What is kept of an address between two runs. */
export interface PageMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Names of the records that the page became. */
  readonly names: readonly string[];
  readonly links: PageLinks;
  readonly contentHash: string;
  /** That of the page without its end, where it was met without it. */
  readonly cutOffHash?: string;
}

/** Of robots.txt and sitemaps. */
export interface FileMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  readonly status: number;
  readonly content: string;
}

/** Where that is kept; what a run does not mention may be forgotten when it has ended. */
export interface CrawlMemory {
  page(url: string): PageMemory | undefined;
  keepPage(url: string, page: PageMemory): void;
  file(url: string): FileMemory | undefined;
  keepFile(url: string, file: FileMemory): void;
}

export type FoundBy = 'start' | 'link' | 'sitemap';

export interface CrawlOptions {
  readonly settings: WebsiteSettings;
  readonly limits: CrawlLimits;
  readonly client: OutboundClient;
  /** Shared by crawls that may ask the same hosts; default: one of its own, by `limits`. */
  readonly pace?: HostPace | undefined;
  readonly memory: CrawlMemory;
  readonly listener: SourceListener;
  /** Is told of what should not have happened. */
  readonly log?: Pick<Logger, 'error'>;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** How long it takes, and how long hosts are left alone, goes by this one, which nobody sets. Default: that of the process. */
  readonly steadyMs?: () => number;
  /** False: everything is read anew, for servers whose validators never change. */
  readonly mayAskConditionally?: boolean;
  /** Told of each page that is read, before its records. */
  readonly onPage?: (page: {
    readonly url: string;
    readonly title: string;
    readonly depth: number;
    readonly found: FoundBy;
  }) => void;
  /** Told after each page. */
  readonly onProgress?: (progress: { readonly done: number; readonly queued: number }) => void;
}
