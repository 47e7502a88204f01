/** Every place in which a source can name an address, tried with every form of an address that must not be reached. */
import { describe, expect, it } from 'vitest';
import { forbiddenUrls } from '../../../test/support/forbidden-urls.js';
import { crawl, html, NOW_MS } from '../../../test/support/feeds/made-site.js';
import { sync } from '../../../test/support/feeds/made-source.js';
import { usePlaces } from '../../../test/support/feeds/places.js';
import { ApiSource } from './api-source.js';
import { SyndicationSource } from './syndication-source.js';
import { pageUrl } from '../urls/page-url.js';

const REFUSED = /not one of the public internet|cannot be called|not a URL|has to begin with https/;
/** The only name under which the test's own site is allowed; all other forms of its loopback address are forbidden. */
const SITE = 'localhost';
const places = usePlaces({ host: SITE });
const urls = forbiddenUrls().filter((url) => URL.canParse(url) && !/^localhost\.?$/.test(new URL(url).hostname));

describe('forbidden addresses', () => {
  it('are more than four hundred', () => {
    expect(urls.length).toBeGreaterThan(400);
    expect(urls.filter((url) => /^(?:127\.|\[::1\])/.test(new URL(url).hostname)).length).toBeGreaterThan(20);
  });

  it('are refused as links, sitemap entries and redirects of a website', async () => {
    const { site, client } = places;
    const hops = urls.map((_, number) => `/hop/${number}`);
    site.pages.set('/', html('Home', 'Start', ...urls, ...hops));
    for (const [number, hop] of hops.entries()) {
      site.pages.set(hop, (_asked, response) =>
        response.writeHead(302, { location: new URL(urls[number] ?? '').href }).end(),
      );
    }
    site.pages.set('/sitemap.xml', (_asked, response) =>
      response.end(`<urlset>${urls.map((url) => `<url><loc>${url}?sitemap</loc></url>`).join('')}</urlset>`),
    );
    const settings = { include: ['**'], pages_max: 10_000, sitemaps: 'auto' as const, respect_robots: false };
    const { records, skipped, outcome } = await crawl(site, settings, {
      client: Object.assign(client, { close: () => Promise.resolve() }),
    });
    expect([...records.keys()]).toEqual(['/']);
    expect(outcome.isComplete).toBe(false);
    const asked = [...urls, ...urls.map((url) => `${url}?sitemap`)].flatMap((url) => pageUrl(url) ?? []);
    for (const url of new Set([...asked, ...hops]))
      expect([url, skipped.get(url)]).toEqual([url, expect.stringMatching(REFUSED)]);
  });

  it('are refused as start URLs of a website', async () => {
    const { site, client } = places;
    const own = { client: Object.assign(client, { close: () => Promise.resolve() }) };
    const alone = { pages_max: 10, sitemaps: [], respect_robots: false };
    for (const url of urls)
      await expect(crawl(site, { ...alone, start_urls: [url] }, own), url).rejects.toThrow(REFUSED);
  });

  it('are not requested if a page has them as its canonical URL, picture or style sheet', async () => {
    const { site, client } = places;
    const paths = urls.map((_, number) => `/page/${number}`);
    site.pages.set('/', html('Home', 'Start', ...paths));
    for (const [number, path] of paths.entries()) {
      const url = urls[number] ?? '';
      const head = `<link rel="canonical" href="${url}"><meta property="og:image" content="${url}">`;
      const body = `<img src="${url}"><link rel="stylesheet" href="${url}"><iframe src="${url}"></iframe>`;
      site.pages.set(
        path,
        html(`T${number}`, `Text ${number}`).replace('<head>', `<head>${head}`).replace('<nav>', body),
      );
    }
    const settings = { include: ['**'], pages_max: 10_000, sitemaps: [], respect_robots: false };
    const { records, skipped, outcome } = await crawl(site, settings, {
      client: Object.assign(client, { close: () => Promise.resolve() }),
    });
    // A request that was refused would be reported.
    expect([[...skipped], outcome.isComplete, outcome.requests]).toEqual([[], true, urls.length + 1]);
    expect([...records.keys()].sort()).toEqual(['/', ...paths].sort());
  });

  it('are refused as the URL of an API and as its next page', async () => {
    const { site, client, files } = places;
    const memory = { read: () => undefined, write: () => Promise.resolve() };
    const base = { client, memory, nowMs: () => NOW_MS, apartMsMax: 0, bytesMax: 10_000, recordsMax: 100 };
    for (const url of urls) {
      site.pages.set('/items', (_asked, response) => response.end(JSON.stringify({ data: [{ id: 1 }], next: url })));
      const settings = {
        method: 'GET',
        records: 'data',
        name: 'id',
        pagination: { kind: 'link', next: 'next' },
      } as const;
      await expect(
        sync(files, new ApiSource({ ...base, settings: { ...settings, url: site.url('/items') } })),
        url,
      ).rejects.toThrow(REFUSED);
      await expect(sync(files, new ApiSource({ ...base, settings: { ...settings, url } })), url).rejects.toThrow(
        REFUSED,
      );
    }
  });

  it('are refused as redirects of an API, a feed or one of its articles', async () => {
    const { site, client, files } = places;
    const memory = { read: () => undefined, write: () => Promise.resolve() };
    const base = { client, memory, nowMs: () => NOW_MS, apartMsMax: 0, bytesMax: 1_000_000, recordsMax: 100 };
    site.pages.set(
      '/feed',
      `<rss><channel><item><link>${site.url('/moved')}</link><title>T</title></item></channel></rss>`,
    );
    const feedAt = (path: string) =>
      new SyndicationSource({
        ...base,
        settings: { url: site.url(path), full_text: true, drop_left_items: false },
      });
    const settings = { method: 'GET', records: 'data', name: 'id', pagination: { kind: 'none' } } as const;
    for (const url of urls) {
      site.pages.set('/moved', (_asked, response) =>
        response.writeHead(302, { location: new URL(url).href }).end(JSON.stringify({ data: [{ id: 1 }] })),
      );
      const api = new ApiSource({ ...base, settings: { ...settings, url: site.url('/moved') } });
      await expect(sync(files, api), url).rejects.toThrow(REFUSED);
      await expect(sync(files, feedAt('/moved')), url).rejects.toThrow(REFUSED);
      const { skipped } = await sync(files, feedAt('/feed'), { isFresh: true });
      expect(
        skipped.map(({ why }) => why),
        url,
      ).toEqual([expect.stringMatching(REFUSED)]);
    }
  });

  it('are refused as the URL of a feed and as its articles', async () => {
    const { site, client, files } = places;
    const memory = { read: () => undefined, write: () => Promise.resolve() };
    const made = (url: string) =>
      new SyndicationSource({
        settings: { url, full_text: true, drop_left_items: false },
        client,
        memory,
        nowMs: () => NOW_MS,
        bytesMax: 1_000_000,
      });
    site.pages.set(
      '/feed',
      `<rss><channel>${urls.map((url, number) => `<item><guid>g${number}</guid><link>${url}</link><title>T</title></item>`).join('')}</channel></rss>`,
    );
    const { skipped, skipped_count } = await sync(files, made(site.url('/feed')));
    expect(skipped_count).toBeGreaterThanOrEqual(urls.length);
    for (const { why } of skipped) expect(why).toMatch(REFUSED);
    for (const url of urls) await expect(sync(files, made(url)), url).rejects.toThrow(REFUSED);
  });
});
