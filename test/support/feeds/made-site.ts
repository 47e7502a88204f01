/** A website on loopback whose pages a test defines, and a crawl of it. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type {
  CrawlMemory,
  CrawlOptions,
  FileMemory,
  PageMemory,
  WebsiteSettings,
} from '../../../src/feeds/crawl/crawl-types.js';
import { WebsiteCrawl } from '../../../src/feeds/crawl/website-crawl.js';
import type { SourceListener, SourceOutcome, SourceRecord } from '../../../src/feeds/source/source-run.js';
import { OutboundClient } from '../../../src/platform/outbound/outbound-client.js';
import type { OutboundRules } from '../../../src/platform/outbound/url-policy.js';
import type { AddressLookup } from '../../../src/platform/outbound/guarded-agent.js';
import { ScriptedServer, type Asked } from '../scripted-server.js';

/** A string is served as HTML with status 200 and an ETag. */
export type MadePage = string | ((asked: Asked, response: ServerResponse) => void);

/** Only reached if something hangs; tests of time-outs set their own. */
const PATIENCE_MS = 120_000;

export const NOW_MS = Date.parse('2026-11-22T00:00:00Z');

export function html(title: string, text: string, ...links: readonly string[]): string {
  const anchors = links.map((link) => `<a href="${link}">to ${link}</a>`).join(' ');
  return `<!DOCTYPE html><html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1><p>${text}</p></main><nav>${anchors}</nav></body></html>`;
}

/** A page whose validators never change; one of them is in the future. */
export function frozen(body: string, type = 'text/html'): MadePage {
  const lies = { etag: '"same"', 'last-modified': 'Tue, 01 Jan 2041 00:00:00 GMT', 'content-type': type };
  return ({ headers }, response) => {
    if (headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined)
      response.writeHead(304).end();
    else response.writeHead(200, lies).end(body);
  };
}

export class MadeSite {
  readonly pages = new Map<string, MadePage>();

  private constructor(
    readonly server: ScriptedServer,
    private readonly host: string,
  ) {
    server.script = (asked, response) => {
      const page = this.pages.get(asked.path);
      if (typeof page === 'function') page(asked, response);
      else if (page === undefined)
        response.writeHead(404, { 'content-type': 'text/html' }).end(html('404', 'Not found'));
      else this.answer(asked, page, response);
    };
  }

  /** `host` is the name for loopback in its addresses. */
  static async start(pages: Readonly<Record<string, MadePage>> = {}, host = '127.0.0.1'): Promise<MadeSite> {
    const site = new MadeSite(await ScriptedServer.start(), host);
    for (const [path, page] of Object.entries(pages)) site.pages.set(path, page);
    return site;
  }

  url(path: string): string {
    return this.server.url(path).replace('127.0.0.1', this.host);
  }

  /** Returns the paths requested since the last call, with ` if changed` appended for conditional requests. */
  asked(): string[] {
    return this.server.asked
      .splice(0)
      .map(({ path, headers }) => (headers['if-none-match'] === undefined ? path : `${path} if changed`));
  }

  answer({ headers }: Asked, page: string, response: ServerResponse): void {
    const etag = `"${createHash('sha256').update(page).digest('hex')}"`;
    if (headers['if-none-match'] === etag) response.writeHead(304).end();
    else response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', etag }).end(page);
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

export class KeptMemory implements CrawlMemory {
  readonly pages = new Map<string, PageMemory>();
  readonly files = new Map<string, FileMemory>();
  page(url: string): PageMemory | undefined {
    return this.pages.get(url);
  }
  keepPage(url: string, page: PageMemory): void {
    this.pages.set(url, page);
  }
  file(url: string): FileMemory | undefined {
    return this.files.get(url);
  }
  keepFile(url: string, file: FileMemory): void {
    this.files.set(url, file);
  }
}

export interface CrawlResult {
  readonly outcome: SourceOutcome;
  /** Keyed by the path of the record's name. */
  readonly records: ReadonlyMap<string, SourceRecord>;
  readonly unchanged: readonly string[];
  readonly gone: readonly string[];
  readonly skipped: ReadonlyMap<string, string>;
}

export function testClient(
  limits: { readonly headersMs?: number; readonly lookup?: AddressLookup; readonly rules?: OutboundRules } = {},
): OutboundClient {
  return new OutboundClient({
    rules: limits.rules ?? { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'gannet',
    limits: {
      headersMs: limits.headersMs ?? PATIENCE_MS,
      idleMs: PATIENCE_MS,
      totalMs: PATIENCE_MS,
      wireBytesMax: 1e7,
      bytesMax: 1e7,
    },
    connectMs: PATIENCE_MS,
    keepAliveMs: 1000,
    connectionsPerHostMax: 8,
    connectionsMax: 8,
    waitingMax: 100,
    ...(limits.lookup === undefined ? {} : { lookup: limits.lookup }),
  });
}

const SETTINGS: WebsiteSettings = {
  start_urls: [],
  include: [],
  exclude: [],
  depth_max: 10,
  pages_max: 1000,
  sitemaps: 'auto',
  respect_robots: true,
  selectors: {},
  split: 'page',
};

export async function crawl(
  site: MadeSite,
  settings: Partial<WebsiteSettings> = {},
  {
    memory = new KeptMemory(),
    client = testClient(),
    limits = {},
    ...options
  }: Partial<Omit<CrawlOptions, 'limits' | 'settings'>> & { readonly limits?: Partial<CrawlOptions['limits']> } = {},
): Promise<CrawlResult & { readonly made: WebsiteCrawl }> {
  const records = new Map<string, SourceRecord>();
  const unchanged: string[] = [];
  const gone: string[] = [];
  const skipped = new Map<string, string>();
  const bare = (text: string) => text.replace(site.url(''), '');
  const listener: SourceListener = {
    record: (record) => records.set(bare(record.name), record),
    unchanged: (name) => unchanged.push(bare(name)),
    gone: (name) => gone.push(bare(name)),
    skipped: (what, why) => skipped.set(bare(what), why.replaceAll(site.url(''), '')),
  };
  const made = new WebsiteCrawl({
    settings: { ...SETTINGS, start_urls: [site.url('/')], ...settings },
    limits: {
      pagesPerSecond: 0,
      requestsMax: 4,
      runMsMax: 3_600_000,
      retryAfterMsMax: 100,
      pageBytesMax: 1_000_000,
      ...limits,
    },
    client,
    memory,
    listener,
    signal: new AbortController().signal,
    nowMs: () => NOW_MS,
    ...options,
  });
  try {
    return { made, outcome: await made.run(), records, unchanged, gone, skipped };
  } finally {
    await client.close();
  }
}
