/** Previews what a website feed would read, by a short crawl that keeps nothing. */
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { CrawlLimits, CrawlMemory, FoundBy, WebsiteSettings } from './crawl-types.js';
import type { HostPace } from './host-pace.js';
import { WebsiteCrawl } from './website-crawl.js';

const DISCOVERED_PAGES_MAX = 200;
const DISCOVERY_MS_MAX = 60_000;
const LEFT_OUT_MAX = 500;

export interface Discovery {
  readonly pages: readonly {
    readonly url: string;
    readonly title: string;
    readonly depth: number;
    readonly found: FoundBy;
  }[];
  readonly left_out: readonly { readonly url: string; readonly why: string }[];
  /** False: there is more, or something could not be read. */
  readonly complete: boolean;
}

export interface DiscoverOptions {
  readonly settings: WebsiteSettings;
  readonly limits: CrawlLimits;
  readonly client: OutboundClient;
  readonly pace?: HostPace;
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** See `CrawlOptions`. */
  readonly steadyMs?: () => number;
}

const NO_MEMORY: CrawlMemory = {
  page: () => undefined,
  keepPage: () => undefined,
  file: () => undefined,
  keepFile: () => undefined,
};

/** Rejects with a SourceFailedError if no start URL can be read. */
export async function discoverPages({ settings, limits, ...options }: DiscoverOptions): Promise<Discovery> {
  const pages: Discovery['pages'][number][] = [];
  const leftOut: Discovery['left_out'][number][] = [];
  const crawl = new WebsiteCrawl({
    ...options,
    settings: { ...settings, pages_max: Math.min(settings.pages_max, DISCOVERED_PAGES_MAX) },
    limits: { ...limits, runMsMax: Math.min(limits.runMsMax, DISCOVERY_MS_MAX) },
    memory: NO_MEMORY,
    listener: {
      record: () => undefined,
      unchanged: () => undefined,
      gone: (url) => leftOut.push({ url, why: 'There is no such page.' }),
      skipped: (url, why) => leftOut.push({ url, why }),
    },
    onPage: (page) => pages.push(page),
  });
  const { isComplete } = await crawl.run();
  return { pages, left_out: leftOut.slice(0, LEFT_OUT_MAX), complete: isComplete };
}
