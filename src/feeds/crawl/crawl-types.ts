/** Settings and limits of a crawl, what it remembers between two runs, and what it reports. */
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
  /** Number of links from a start URL. */
  readonly depth_max: number;
  readonly pages_max: number;
  /** `auto`: those named by robots.txt, or else `/sitemap.xml`. */
  readonly sitemaps: 'auto' | readonly string[];
  readonly respect_robots: boolean;
  readonly selectors: PageSelectors;
  /** What becomes a record: a whole page, or each section under a heading. */
  readonly split: 'page' | 'heading';
}

export interface CrawlLimits {
  /** Limit per host, unless its robots.txt asks for fewer; 0: as fast as the host answers. */
  readonly pagesPerSecond: number;
  /** Requests in flight, over all hosts; a single host gets one, unless `pagesPerSecond` is 0. */
  readonly requestsMax: number;
  readonly runMsMax: number;
  /**
   * Longest wait that a site may ask for within a run. If it asks for a longer one, it is left alone until the next
   * run.
   */
  readonly retryAfterMsMax: number;
  readonly pageBytesMax: number;
}

/** What is remembered of an address between two runs. */
export interface PageMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  /** Names of the records made from the page. */
  readonly names: readonly string[];
  readonly links: PageLinks;
  readonly contentHash: string;
  /** Hash of the page when it was read without its end, if it was. */
  readonly cutOffHash?: string;
}

/** What is remembered of robots.txt and sitemaps. */
export interface FileMemory {
  readonly etag?: string;
  readonly lastModified?: string;
  readonly status: number;
  readonly content: string;
}

/** Where entries are remembered. Those that a run does not mention may be forgotten when it has ended. */
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
  /** Shared by crawls that may ask the same hosts; default: one of its own, from `limits`. */
  readonly pace?: HostPace | undefined;
  readonly memory: CrawlMemory;
  readonly listener: SourceListener;
  /** Logs unexpected errors. */
  readonly log?: Pick<Logger, 'error'>;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** Monotonic clock for durations and delays. Default: that of the process. */
  readonly steadyMs?: () => number;
  /** False: everything is read again, for servers whose validators never change. */
  readonly mayAskConditionally?: boolean;
  /** Called for each page read, before its records. */
  readonly onPage?: (page: {
    readonly url: string;
    readonly title: string;
    readonly depth: number;
    readonly found: FoundBy;
  }) => void;
  /** Called after each page. */
  readonly onProgress?: (progress: { readonly done: number; readonly queued: number }) => void;
}
