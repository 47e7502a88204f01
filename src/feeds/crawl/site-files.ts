/**
 * Reads robots.txt and sitemaps of the sites of a crawl. For robots.txt (RFC 9309, 2.3.1), 4xx means that everything is
 * allowed; any other failure, including a timeout, means that the site is to be left alone for now.
 */
import { Readable } from 'node:stream';
import { validatorsOf } from '../../platform/index.js';
import { ALLOWS_ALL, readRobotsFile, ROBOTS_BYTES_MAX, type RobotsFile } from '../robots/robots-file.js';
import { readSitemap, type SitemapEntry, type SitemapOutcome } from '../sitemaps/sitemap-reader.js';
import type { CrawlMemory, FileMemory } from './crawl-types.js';
import type { PageFetcher } from './page-fetcher.js';

/** Product token by which robots.txt may name this crawler. */
const CRAWLER_NAME = 'gannet';
const SITEMAPS_MAX = 500;

export type SiteRules =
  { readonly kind: 'rules'; readonly robots: RobotsFile } | { readonly kind: 'away'; readonly why: string };

export interface SiteFilesOptions {
  readonly fetcher: PageFetcher;
  readonly memory: CrawlMemory;
  readonly nowMs: () => number;
  readonly respectRobots: boolean;
  readonly mayAskConditionally: boolean;
}

export interface FoundSitemaps {
  readonly pages: readonly SitemapEntry[];
  /** Sitemaps that could not be read, at least not completely. */
  readonly faults: readonly { readonly url: string; readonly why: string }[];
}

const FAULTS: Readonly<Record<Exclude<SitemapOutcome, 'whole'>, string>> = {
  'cut-off': 'The sitemap breaks off.',
  'too-large': 'The sitemap is larger than sitemaps may be.',
  'not-a-sitemap': 'It is no sitemap.',
};

const GONE = 'It was there the last time, and is answered with 404 or 410.';

/** The answer of the site, and that of the last run if it was different. */
type AskedFile = FileMemory & { readonly before?: FileMemory | undefined };

export class SiteFiles {
  private readonly rules = new Map<string, Promise<SiteRules>>();

  constructor(private readonly options: SiteFilesOptions) {}

  /** Returns the rules of an origin (scheme, host and port). Asked once per run. */
  rulesOf(origin: string): Promise<SiteRules> {
    const known = this.rules.get(origin) ?? this.readRules(origin);
    this.rules.set(origin, known);
    return known;
  }

  /** Returns the pages of the sitemaps and of those that they name. Each is read once, so loops end. */
  async sitemaps(urls: readonly string[], mayRead: (url: string) => boolean): Promise<FoundSitemaps> {
    const pages: SitemapEntry[] = [];
    const faults: { url: string; why: string }[] = [];
    const known = new Set<string>();
    const waiting = [...urls];
    let loop: string | undefined;
    for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
      if (known.has(url)) loop = url;
      if (known.has(url) || !mayRead(url)) continue;
      if (known.size >= SITEMAPS_MAX) {
        faults.push({ url, why: `It is beyond the ${SITEMAPS_MAX} sitemaps that are read.` });
        break;
      }
      known.add(url);
      const { entries, why } = await this.sitemap(url);
      if (why !== undefined) faults.push({ url, why });
      for (const entry of entries) {
        if (entry.kind === 'page') pages.push(entry);
        else if (URL.canParse(entry.location, url)) waiting.push(new URL(entry.location, url).href);
      }
    }
    // A site with sitemaps has pages, so these were lost on the way to them.
    if (pages.length === 0 && loop !== undefined) faults.push({ url: loop, why: 'The sitemap leads to itself alone.' });
    return { pages, faults };
  }

  private async readRules(origin: string): Promise<SiteRules> {
    if (!this.options.respectRobots) return { kind: 'rules', robots: ALLOWS_ALL };
    const answer = await this.file(`${origin}/robots.txt`, ROBOTS_BYTES_MAX);
    if ('why' in answer) return { kind: 'away', why: `Its robots.txt cannot be read: ${answer.why}` };
    const { status, content } = answer;
    if (status >= 200 && status < 300)
      return { kind: 'rules', robots: readRobotsFile(Buffer.from(content, 'latin1'), CRAWLER_NAME) };
    if (status >= 400 && status < 500 && status !== 429)
      return { kind: 'rules', robots: { ...ALLOWS_ALL, sitemaps: sitemapsNamedBy(answer.before) } };
    return {
      kind: 'away',
      why: `Its robots.txt is answered with ${status}, which asks crawlers to stay away for now.`,
    };
  }

  private async sitemap(url: string): Promise<{ entries: readonly SitemapEntry[]; why?: string }> {
    const answer = await this.file(url, Number.MAX_SAFE_INTEGER);
    if ('why' in answer) return { entries: [], why: answer.why };
    // Most sites have none. If a site had one, it may be replaced just now, so its pages only count as gone when it is
    // missing twice.
    if (answer.status === 404 || answer.status === 410)
      return (await this.namedPages(answer.before)) ? { entries: [], why: GONE } : { entries: [] };
    if (answer.status !== 200) return { entries: [], why: `It is answered with ${answer.status}.` };
    const { entries, outcome } = await this.read(answer);
    if (outcome === 'whole') return { entries };
    if (await this.namedPages(answer.before)) this.keepLast(url, answer.before);
    return { entries, why: FAULTS[outcome] };
  }

  /**
   * True if the sitemap named pages in the last run. Many sites answer every address with a page, which is not a
   * sitemap that can be missed.
   */
  private async namedPages(before: FileMemory | undefined): Promise<boolean> {
    return before?.status === 200 && (await this.read(before)).entries.length > 0;
  }

  private read({ content }: FileMemory): ReturnType<typeof readSitemap> {
    return readSitemap(Readable.from([Buffer.from(content, 'latin1')]), this.options.nowMs());
  }

  /**
   * Keeps the last content: a failure says nothing about what exists, and the next run has to compare with what there
   * was before.
   */
  private keepLast(url: string, last: FileMemory | undefined): void {
    if (last !== undefined) this.options.memory.keepFile(url, last);
  }

  /** Returns the file, from memory if the server says that it has not changed. Content has one character per byte. */
  private async file(url: string, bytesMax: number): Promise<AskedFile | { readonly why: string }> {
    const { fetcher, memory, mayAskConditionally, nowMs } = this.options;
    const known = memory.file(url);
    const answer = await fetcher.file(url, mayAskConditionally ? (known ?? {}) : {});
    if ('why' in answer) {
      this.keepLast(url, known);
      return answer;
    }
    const { response } = answer;
    try {
      if (response.isNotModified && known !== undefined) {
        response.discard();
        memory.keepFile(url, known);
        return known;
      }
      const pieces: Uint8Array[] = [];
      let bytes = 0;
      for await (const piece of response.body()) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes >= bytesMax) break;
      }
      fetcher.bytes += bytes;
      const file = {
        ...validatorsOf(response.headers, nowMs()),
        status: response.status,
        content: Buffer.concat(pieces).subarray(0, bytesMax).toString('latin1'),
      };
      memory.keepFile(url, file);
      if (isPassing(response.status)) this.keepLast(url, known);
      return { ...file, before: known };
    } catch (error) {
      this.keepLast(url, known);
      return { why: fetcher.sentence(error) };
    }
  }
}

/** True if the server says that it cannot answer now. */
function isPassing(status: number): boolean {
  return status === 429 || status >= 500;
}

/** Returns the sitemaps named by a robots.txt that is gone, which are asked for once more. */
function sitemapsNamedBy(before: FileMemory | undefined): readonly string[] {
  return before?.status === 200 ? readRobotsFile(Buffer.from(before.content, 'latin1'), CRAWLER_NAME).sitemaps : [];
}
