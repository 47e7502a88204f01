/** A website as a source: a crawl, and what is remembered of it until the next one. */
import type { OutboundClient } from '../../platform/outbound/outbound-client.js';
import { CrawlMemoryFile } from '../crawl/crawl-memory-file.js';
import type { CrawlLimits, CrawlOptions, WebsiteSettings } from '../crawl/crawl-types.js';
import type { HostPace } from '../crawl/host-pace.js';
import { WebsiteCrawl } from '../crawl/website-crawl.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import type { FeedSource } from '../file/sync-run.js';
import type { SourceListener, SourceOutcome } from '../source/source-run.js';
import { WEBSITE_FIELDS } from './known-fields.js';

export interface WebsiteSourceOptions {
  readonly settings: WebsiteSettings;
  readonly limits: CrawlLimits;
  readonly client: OutboundClient;
  readonly pace?: HostPace;
  /** Path of the file in which the crawl is remembered. */
  readonly memoryPath: string;
  readonly nowMs: () => number;
  readonly onProgress?: CrawlOptions['onProgress'];
}

/** Used for one run. */
export class WebsiteSource implements FeedSource {
  readonly provider = 'website';
  readonly asksForEach = true;
  private memory: CrawlMemoryFile | undefined;
  private crawl: WebsiteCrawl | undefined;

  constructor(private readonly options: WebsiteSourceOptions) {}

  async read(
    listener: SourceListener,
    { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
  ): Promise<SourceOutcome> {
    const { settings, limits, client, pace, memoryPath, nowMs, onProgress } = this.options;
    this.memory?.discard();
    this.memory = new CrawlMemoryFile(memoryPath, { isFresh });
    const { memory } = this;
    this.crawl = new WebsiteCrawl({
      settings,
      limits,
      client,
      pace,
      memory,
      listener,
      signal,
      nowMs,
      ...(onProgress === undefined ? {} : { onProgress }),
    });
    try {
      return await this.crawl.run();
    } catch (error) {
      memory.discard();
      throw error;
    }
  }

  /** Asks for the pages of these records. A section is gone if its page is gone or was read without the section. */
  async confirmGone(names: readonly string[]): Promise<ReadonlySet<string>> {
    const urlOf = (name: string) => name.split('#', 1)[0] ?? name;
    const urls = [...new Set(names.map(urlOf))].filter((url) => URL.canParse(url));
    const gone = new Set(await this.crawl?.ask(urls));
    return new Set(names.filter((name) => gone.has(urlOf(name))));
  }

  /**
   * The selectors of a field may find any texts, and more than one of them. So a known facet that is selected takes
   * several values, and is no facet if it would take dates alone.
   */
  fields(): FieldDescriptions {
    const chosen = new Set(Object.keys(this.options.settings.selectors.fields ?? {}));
    const { searchable_fields, facets, resources } = WEBSITE_FIELDS;
    const known = new Set([...searchable_fields, ...resources].map(({ name }) => name));
    const more = [...chosen].filter((name) => !known.has(name)).map((name) => ({ name, weight: 1 }));
    return {
      searchable_fields: [...searchable_fields, ...more],
      facets: facets.flatMap((facet): FieldDescriptions['facets'] => {
        if (!chosen.has(facet.name)) return [facet];
        return facet.type === 'string' ? [{ ...facet, cardinality: 'Many' }] : [];
      }),
      resources,
    };
  }

  keep(): Promise<void> {
    this.memory?.commit();
    return Promise.resolve();
  }

  /** Releases whatever a run left open. */
  close(): void {
    this.memory?.discard();
  }
}
