/**
 * Reads a website once: from its start URLs and sitemaps along its links, within its scope, and as politely as it asks.
 *
 * Invariants: an address is requested once per run; nothing is requested that robots.txt forbids; `gone` is only
 * reported for answers 404 and 410, and the outcome is only complete if no limit was hit and every request was
 * answered. Belongs to one thread.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { markdownAsHtml } from '../pages/markdown-page.js';
import { readPage, type PageReading } from '../pages/page-reader.js';
import { Slices } from '../text/slices.js';
import { originAndTarget, pageUrl, trapOf } from '../urls/page-url.js';
import { UrlScope } from '../urls/url-scope.js';
import { SourceFailedError, type SourceOutcome } from '../source/source-run.js';
import type { CrawlOptions, PageMemory } from './crawl-types.js';
import { Frontier, type FrontierEntry } from './frontier.js';
import { HostPace } from './host-pace.js';
import { isOfPage } from './known-page.js';
import { faultOf, isCutOff, lostItsEnd } from './page-fault.js';
import { PageFetcher, type PageOutcome } from './page-fetcher.js';
import { PageLinks } from './page-links.js';
import { documentRecord, recordsOf } from './page-records.js';
import { SiteFiles } from './site-files.js';

/** Files that are never pages; others are recognized by their content type. */
const FILES =
  /\.(?:avif|bmp|css|csv|docx?|eot|exe|gif|gz|ico|jpe?g|js|json|m4a|mjs|mov|mp3|mp4|mpe?g|ogg|otf|png|pptx?|rar|svg|tar|tiff?|tgz|ttf|wav|web[mp]|woff2?|xlsx?|xml|zip)$/i;
const ATTEMPTS_MAX = 3;
const FIRST_RETRY_MS = 1000;
/** Delay before checking a host again that another crawl is asking. */
const BUSY_WAIT_MS = 50;

export class WebsiteCrawl {
  private readonly frontier = new Frontier();
  private readonly scope: UrlScope;
  private readonly pace: HostPace;
  private readonly fetcher: PageFetcher;
  private readonly files: SiteFiles;
  /** Addresses of pages by the hash of their content. */
  private readonly contents = new Map<string, string>();
  /** Hosts left alone for the rest of the run, with the reason. */
  private readonly resting = new Map<string, string>();
  private wake: () => void = () => undefined;
  private readonly startedMs: number;
  private readonly steadyMs: () => number;
  private isComplete = true;
  private underWay = 0;
  private done = 0;
  private pagesRead = 0;
  private retryAfterMs: number | undefined;
  private failedStart: string | undefined;

  constructor(private readonly options: CrawlOptions) {
    const { settings, limits, client, signal, nowMs, memory, mayAskConditionally = true } = options;
    this.scope = new UrlScope({ startUrls: settings.start_urls, include: settings.include, exclude: settings.exclude });
    this.steadyMs = options.steadyMs ?? (() => performance.now());
    this.pace = options.pace ?? new HostPace({ pagesPerSecond: limits.pagesPerSecond, nowMs: this.steadyMs });
    this.fetcher = new PageFetcher({
      client,
      signal,
      nowMs,
      pageBytesMax: limits.pageBytesMax,
      mayFollow: (to) => this.mayFollow(to),
    });
    this.files = new SiteFiles({
      fetcher: this.fetcher,
      memory,
      nowMs,
      respectRobots: settings.respect_robots,
      mayAskConditionally,
    });
    this.startedMs = this.steadyMs();
  }

  /** Throws a SourceFailedError if no start URL can be read, or the signal's reason. */
  async run(): Promise<SourceOutcome> {
    const onAbort = () => this.wake();
    const leave = this.pace.onEnd(onAbort);
    this.options.signal.addEventListener('abort', onAbort);
    try {
      return await this.crawled();
    } finally {
      leave();
      this.options.signal.removeEventListener('abort', onAbort);
    }
  }

  private async crawled(): Promise<SourceOutcome> {
    for (const text of this.options.settings.start_urls) {
      const url = pageUrl(text);
      if (url !== undefined) this.frontier.add({ url, depth: 0, found: 'start' });
    }
    await this.addSitemaps();
    while (this.frontier.size > 0 || this.underWay > 0) {
      this.options.signal.throwIfAborted();
      if (this.isOver()) break;
      const next =
        this.underWay < this.options.limits.requestsMax
          ? this.frontier.take((host) => this.pace.isFree(host))
          : undefined;
      if (next === undefined) await this.nextChange();
      else this.begin(next.entry, next.host);
    }
    while (this.underWay > 0) await this.nextChange();
    this.options.signal.throwIfAborted();
    if (this.pagesRead === 0 && this.failedStart !== undefined)
      throw new SourceFailedError(this.failedStart, this.retryAfterMs);
    const { requests, bytes } = this.fetcher;
    return {
      isComplete: this.isComplete && !this.frontier.isOverfull,
      requests,
      bytes,
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
    };
  }

  /** Requests pages that the run did not meet; reports `gone` for those that answer 404 or 410, and returns them. */
  async ask(urls: readonly string[]): Promise<string[]> {
    const gone: string[] = [];
    for (const url of urls) {
      const { host, origin, pathname, search } = new URL(url);
      const rules = await this.files.rulesOf(origin);
      // Pages that may not be requested stay.
      if (rules.kind === 'away' || this.resting.has(host) || !rules.robots.isAllowed(pathname + search)) continue;
      while (!this.pace.isFree(host))
        await wait(this.pace.waitMs([host]) ?? BUSY_WAIT_MS, undefined, { signal: this.options.signal });
      this.pace.begin(host);
      const outcome = await this.fetcher.page(url, {}).finally(() => this.pace.end(host));
      if (outcome.kind === 'gone') gone.push(url);
    }
    return gone;
  }

  /** True if a limit of the whole run is reached. */
  private isOver(): boolean {
    const { settings, limits, listener } = this.options;
    const isFull = this.done >= settings.pages_max;
    const isLate = this.steadyMs() - this.startedMs > limits.runMsMax;
    if ((!isFull && !isLate) || this.frontier.size === 0) return false;
    // Pages in progress are counted already.
    this.isComplete = false;
    listener.skipped(
      `${this.frontier.size} pages`,
      isFull ? `The feed reads at most ${settings.pages_max} pages (pages_max).` : 'The time of a run was over.',
    );
    return true;
  }

  /** Resolves when a page is done, the next one may be requested, or the run is aborted. */
  private nextChange(): Promise<void> {
    const waitMs =
      this.underWay < this.options.limits.requestsMax ? this.pace.waitMs(this.frontier.hosts()) : undefined;
    return new Promise((resolve) => {
      const timer = waitMs === undefined ? undefined : setTimeout(() => this.wake(), Math.max(waitMs, 1));
      this.wake = () => {
        clearTimeout(timer);
        this.wake = () => undefined;
        resolve();
      };
      if (this.options.signal.aborted) this.wake();
    });
  }

  private begin(entry: FrontierEntry, host: string): void {
    this.pace.begin(host);
    this.underWay += 1;
    this.done += 1;
    void this.readOrFail(entry, host);
  }

  private async readOrFail(entry: FrontierEntry, host: string): Promise<void> {
    try {
      await this.read(entry, host);
    } catch (error) {
      this.fail(entry, error instanceof Error ? error.message : String(error));
      if (!this.options.signal.aborted)
        this.options.log?.error({ err: error, url: entry.url }, 'A page could not be read');
    } finally {
      this.pace.end(host);
      this.underWay -= 1;
      this.options.onProgress?.({ done: this.done, queued: this.frontier.size });
      this.wake();
    }
  }

  private async read(entry: FrontierEntry, host: string): Promise<void> {
    const { url } = entry;
    const { origin, target } = originAndTarget(url);
    const { memory, mayAskConditionally = true } = this.options;
    const rules = await this.files.rulesOf(origin);
    if (rules.kind === 'rules' && rules.robots.crawlDelayMs !== undefined)
      this.pace.setDelay(host, rules.robots.crawlDelayMs);
    if (rules.kind === 'away') {
      this.fail(entry, rules.why);
      return;
    }
    if (!rules.robots.isAllowed(target)) {
      this.skip(entry, 'robots.txt forbids it.');
      if (entry.found === 'start') this.failStart(entry, 'robots.txt forbids it.');
      return;
    }
    const known = memory.page(url);
    const outcome = await this.answer(url, host, mayAskConditionally ? (known ?? {}) : {});
    const isOther = outcome.kind === 'unchanged' && known !== undefined && !isOfPage(known, url, outcome.url);
    await this.take(entry, isOther ? await this.answer(url, host, {}) : outcome, known);
  }

  /** Requests a page, again after a wait if the server asks for that. */
  private async answer(
    url: string,
    host: string,
    known: { etag?: string; lastModified?: string },
  ): Promise<PageOutcome> {
    const { limits, signal } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      const rest = this.resting.get(host);
      if (rest !== undefined) return { kind: 'failed', why: rest };
      const outcome = await this.fetcher.page(url, known);
      if (outcome.kind !== 'later') return outcome;
      const waitMs = outcome.afterMs ?? FIRST_RETRY_MS * 2 ** attempt;
      if (attempt < ATTEMPTS_MAX && waitMs <= limits.retryAfterMsMax) {
        this.pace.rest(host, waitMs);
        await wait(waitMs, undefined, { signal });
        continue;
      }
      if (outcome.afterMs !== undefined) {
        this.retryAfterMs = Math.max(this.retryAfterMs ?? 0, outcome.afterMs);
        this.resting.set(host, `${outcome.why} It asks to be left alone for ${Math.round(outcome.afterMs / 1000)} s.`);
      }
      return { kind: 'failed', why: outcome.why };
    }
  }

  private async take(entry: FrontierEntry, outcome: PageOutcome, known: PageMemory | undefined): Promise<void> {
    const { listener, memory } = this.options;
    switch (outcome.kind) {
      case 'unchanged':
        if (known === undefined) break;
        this.pagesRead += 1;
        memory.keepPage(entry.url, known);
        if (known.contentHash !== '') this.contents.set(known.contentHash, entry.url);
        for (const name of known.names) listener.unchanged(name);
        this.follow(entry, known.links);
        break;
      case 'gone':
        if (entry.found === 'start') this.failStart(entry, `It answered ${outcome.status}.`);
        for (const name of known?.names ?? [entry.url]) listener.gone(name);
        break;
      case 'redirected':
        this.skip(entry, `It leads to ${outcome.to}, which is not read.`);
        if (entry.found === 'start') this.failStart(entry, `It leads to ${outcome.to}.`);
        break;
      case 'other':
        this.takeOther(entry, outcome.why, known);
        break;
      case 'document':
        this.pagesRead += 1;
        memory.keepPage(entry.url, {
          ...outcome.validators,
          names: [entry.url],
          links: PageLinks.of([]),
          contentHash: '',
        });
        listener.record(documentRecord(entry.url));
        break;
      case 'later':
      case 'failed':
        this.fail(entry, outcome.why);
        break;
      case 'page':
        await this.takePage(entry, outcome, known);
    }
  }

  /** Handles a page of another kind than before, which does not prove that it is gone. */
  private takeOther(entry: FrontierEntry, why: string, known: PageMemory | undefined): void {
    if (known !== undefined && known.names.length > 0) this.keepAsItWas(entry, why, known);
    else this.skip(entry, why);
    if (entry.found === 'start') this.failStart(entry, why);
  }

  private keepAsItWas(entry: FrontierEntry, why: string, { names, links, contentHash }: PageMemory): void {
    this.skip(entry, why);
    this.isComplete = false;
    this.options.memory.keepPage(entry.url, { names, links, contentHash });
  }

  private async takePage(
    entry: FrontierEntry,
    outcome: PageOutcome & { readonly kind: 'page' },
    known: PageMemory | undefined,
  ): Promise<void> {
    const { settings, nowMs, memory, listener, onPage, signal } = this.options;
    const url = pageUrl(outcome.url) ?? entry.url;
    if (url !== entry.url && !this.frontier.see(url)) {
      this.skip(entry, `It leads to ${url}.`);
      this.pagesRead += 1;
      return;
    }
    if (entry.found === 'start') this.scope.addHostOf(url);
    const { text, contentType } = outcome;
    const page = await readPage(/^text\/(?!html)/i.test(contentType) ? markdownAsHtml(text) : text, {
      url: outcome.url,
      nowMs: nowMs(),
      selectors: settings.selectors,
      robotsTag: outcome.robotsTag,
      slices: new Slices(signal),
    });
    const fault = faultOf(page, known, entry.found);
    if (fault !== undefined) {
      this.takeOther(entry, fault, known);
      return;
    }
    if (lostItsEnd(page, known)) {
      this.keepAsItWas(entry, 'The page breaks off; what it was before is kept.', known);
      this.pagesRead += 1;
      this.follow(entry, known.links);
      return;
    }
    if (isCutOff(page, known)) {
      this.isComplete = false;
      listener.skipped(url, 'The page breaks off; links may be missing.');
    }
    const links = PageLinks.of(page.isNofollow || page.looksMissing ? [] : linksOf(page));
    const why = this.refusalOf(page, url);
    const names: string[] = [];
    if (why === undefined) {
      this.contents.set(page.contentHash, url);
      onPage?.({ url, title: page.title, depth: entry.depth, found: entry.found });
      for (const record of recordsOf(page, url, settings.split)) {
        names.push(record.name);
        listener.record(record);
      }
    } else {
      this.skip(entry, why);
    }
    this.pagesRead += 1;
    memory.keepPage(entry.url, {
      // A page that was left out for another one is read again: the other may be gone next time.
      // So is one that was not read to its end, so that the next run does not take its links for complete.
      ...(page.isWhole && (why === undefined || page.isNoindex || page.looksMissing) ? outcome.validators : {}),
      names,
      links,
      contentHash: why === undefined ? page.contentHash : '',
      ...(page.breaksOff ? { cutOffHash: page.contentHash } : {}),
    });
    this.follow(entry, links);
    if (page.isWhole) return;
    this.isComplete = false;
    listener.skipped(url, 'The page is too large or too deep, or has too many links, to be read to its end.');
  }

  /** Returns why a page that was read does not become a record. */
  private refusalOf(page: PageReading, url: string): string | undefined {
    if (page.isNoindex) return 'The page asks not to be found (noindex).';
    if (page.looksMissing) return 'The page says that there is no such page.';
    const canonical = page.canonical === undefined ? undefined : pageUrl(page.canonical);
    if (
      canonical !== undefined &&
      canonical !== url &&
      new URL(canonical).host === new URL(url).host &&
      this.scope.refusal(new URL(canonical)) === undefined
    ) {
      this.frontier.add({ url: canonical, depth: 0, found: 'link' });
      return `The page says that it is ${canonical}.`;
    }
    if (page.needsJavaScript) return 'needs JavaScript';
    const same = this.contents.get(page.contentHash);
    if (same !== undefined && same !== url) return `The page has the same content as ${same}.`;
    return page.text === '' && page.title === '' ? 'The page has no text.' : undefined;
  }

  private follow({ depth }: FrontierEntry, links: PageLinks): void {
    if (depth >= this.options.settings.depth_max) return;
    for (let position = 0; position < links.count; position += 1) {
      if (this.frontier.isKnown(links.digests, position)) continue;
      const url = links.urls[position];
      if (url !== undefined) this.find({ url, depth: depth + 1, found: 'link' });
      // What is remembered of the links is damaged.
      else this.isComplete = false;
    }
  }

  private find(entry: FrontierEntry): void {
    const url = new URL(entry.url);
    if (this.scope.refusal(url) !== undefined || FILES.test(url.pathname)) return;
    const trap = trapOf(url, this.options.nowMs());
    if (trap === undefined) this.frontier.add(entry, url);
    else if (this.frontier.see(entry.url)) this.skip(entry, trap);
  }

  private async addSitemaps(): Promise<void> {
    const { settings, listener } = this.options;
    const origins = new Set([...settings.start_urls].map((url) => new URL(url).origin));
    const wanted: string[] = [];
    for (const origin of settings.sitemaps === 'auto' ? origins : []) {
      const rules = await this.files.rulesOf(origin);
      if (rules.kind === 'away') continue;
      const named = rules.robots.sitemaps.flatMap((text) =>
        URL.canParse(text, origin) ? new URL(text, origin).href : [],
      );
      wanted.push(...(named.length > 0 ? named : [`${origin}/sitemap.xml`]));
    }
    if (settings.sitemaps !== 'auto') wanted.push(...settings.sitemaps);
    const hosts = new Set([...origins].map((origin) => new URL(origin).host));
    const { pages, faults } = await this.files.sitemaps(
      wanted,
      (url) => settings.sitemaps !== 'auto' || hosts.has(new URL(url).host),
    );
    for (const { location } of pages) {
      const url = pageUrl(location, [...origins][0]);
      if (url !== undefined) this.find({ url, depth: 0, found: 'sitemap' });
    }
    for (const { url, why } of faults) {
      this.isComplete = false;
      listener.skipped(url, why);
    }
  }

  private mayFollow(to: URL): boolean {
    const url = pageUrl(to.href);
    // The redirect of a start URL is accepted; that page is the first one read.
    return url !== undefined && (this.pagesRead === 0 || this.scope.refusal(new URL(url)) === undefined);
  }

  private skip({ url }: FrontierEntry, why: string): void {
    this.options.listener.skipped(url, why);
  }

  private fail(entry: FrontierEntry, why: string): void {
    this.isComplete = false;
    this.skip(entry, why);
    if (entry.found === 'start') this.failStart(entry, why);
  }

  private failStart({ url }: FrontierEntry, why: string): void {
    this.failedStart ??= `${url} cannot be read. ${why}`;
  }
}

/** Returns the addresses that the page links to. */
function linksOf(page: PageReading): string[] {
  const urls = page.links.flatMap(({ url, isNofollow }) => (isNofollow ? [] : (pageUrl(url) ?? [])));
  return [...new Set(urls)];
}
