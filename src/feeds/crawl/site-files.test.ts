/** What a crawl makes of robots.txt and sitemaps. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crawl, html, KeptMemory, testClient, type MadePage } from '../../../test/support/feeds/made-site.js';
import { redirect, status, typed } from '../../../test/support/feeds/made-pages.js';
import { siteMaker } from '../../../test/support/feeds/used-sites.js';
import { SourceFailedError } from '../source/source-run.js';
import { CrawlMemoryFile } from './crawl-memory-file.js';

const siteOf = siteMaker();
const paths = (records: ReadonlyMap<string, unknown>) => [...records.keys()].sort();

describe('robots.txt and sitemaps', () => {
  it.each([
    [404, ['/', '/secret']],
    [403, ['/', '/secret']],
    [401, ['/', '/secret']],
  ])('allow everything if robots.txt is answered with %i', async (code, expected) => {
    const site = await siteOf({
      '/robots.txt': status(code),
      '/': html('Home', 'Start', '/secret'),
      '/secret': html('S', 'Secret'),
    });
    expect(paths((await crawl(site)).records)).toEqual(expected);
  });

  it.each<[string, MadePage]>([
    ['503', status(503)],
    ['500', status(500)],
    ['429', status(429)],
    ['silence', () => undefined],
    ['a broken connection', (_asked, response) => response.destroy()],
    ['a loop of redirects', redirect('/robots.txt')],
  ])('end the crawl for now if robots.txt is answered with %s', async (_, page) => {
    const site = await siteOf({ '/robots.txt': page, '/': html('Home', 'Start') });
    const failing = crawl(site, {}, { client: testClient({ headersMs: 300 }) });
    await expect(failing).rejects.toThrow(SourceFailedError);
    await expect(failing).rejects.toThrow('robots.txt');
    expect(site.asked()).not.toContain('/');
  });

  it('are followed for rules, delays and sitemaps, unless respect_robots is off', async () => {
    const site = await siteOf({
      '/robots.txt': typed(
        'text/plain',
        'User-agent: gannet\nDisallow: /secret\nCrawl-delay: 0.05\nUser-agent: *\nDisallow: /\nSitemap: /maps/one.xml',
      ),
      '/maps/one.xml': typed('text/xml', '<urlset><url><loc>/from-map</loc></url></urlset>'),
      '/from-map': html('M', 'From the map'),
      '/': html('Home', 'Start', '/secret', '/open'),
      '/open': html('O', 'Open'),
      '/secret': html('S', 'Secret'),
    });
    let steadyMs = 0;
    const { records, skipped, outcome } = await crawl(site, {}, { steadyMs: () => (steadyMs += 20) });
    expect(paths(records)).toEqual(['/', '/from-map', '/open']);
    expect([skipped.get('/secret'), outcome.isComplete]).toEqual(['robots.txt forbids it.', true]);
    expect(site.server.underWayMax).toBe(1);
    expect(paths((await crawl(site, { respect_robots: false, sitemaps: [] })).records)).toEqual([
      '/',
      '/open',
      '/secret',
    ]);
  });

  it('are followed through sitemaps of sitemaps, even gzipped and circular ones', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start'),
      '/sitemap.xml': typed(
        'text/xml',
        '<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap><sitemap><loc>/two.xml.gz</loc></sitemap></sitemapindex>',
      ),
      '/two.xml.gz': typed(
        'application/octet-stream',
        gzipSync(
          '<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap><sitemap><loc>/three.xml</loc></sitemap></sitemapindex>',
        ),
      ),
      '/three.xml': typed('text/xml', '<urlset><url><loc>/x</loc></url></urlset>'),
      '/x': html('X', 'About x'),
    });
    const { records, outcome } = await crawl(site);
    expect([paths(records), outcome.isComplete]).toEqual([['/', '/x'], true]);
    expect(site.asked().filter((path) => path.includes('xml')).length).toBe(3);
  });

  it('make the crawl incomplete if a sitemap breaks off or redirects to itself', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start'),
      '/sitemap.xml': typed('text/xml', '<urlset><url><loc>/x</loc></url><url><lo'),
      '/x': html('X', 'About x'),
    });
    const cut = await crawl(site);
    expect([paths(cut.records), cut.outcome.isComplete, cut.skipped.get('/sitemap.xml')]).toEqual([
      ['/', '/x'],
      false,
      'The sitemap breaks off.',
    ]);
    site.pages.set('/sitemap.xml', redirect('/sitemap.xml'));
    expect((await crawl(site)).outcome.isComplete).toBe(false);
  });

  it('make the crawl incomplete if the sitemap of the last run is missing, unless it is missing twice', async () => {
    const memory = new KeptMemory();
    const site = await siteOf({
      '/': html('Home', 'Start'),
      '/x': html('X', 'About x'),
      '/robots.txt': typed('text/plain', 'Sitemap: /pages.xml'),
      '/pages.xml': typed('text/xml', '<urlset><url><loc>/x</loc></url></urlset>'),
    });
    const run = async () => {
      const { outcome, skipped } = await crawl(site, {}, { memory });
      return [site.asked().includes('/x'), outcome.isComplete, skipped.get('/pages.xml')];
    };
    expect(await run()).toEqual([true, true, undefined]);
    // While a site is set up again, what names the sitemap is missing as well.
    for (const path of ['/robots.txt', '/pages.xml']) site.pages.delete(path);
    expect(await run()).toEqual([false, false, expect.stringContaining('It was there the last time')]);
    expect(await run()).toEqual([false, true, undefined]);
  });

  it.each<[string, MadePage]>([
    ['a failure', status(503)],
    ['a broken connection', (_asked, response) => response.destroy()],
    ['a page that says so', html('Home', 'We are back soon')],
  ])('do not count a sitemap as gone that is missing once after %s', async (_, between) => {
    const path = join(mkdtempSync(join(tmpdir(), 'gannet-sitemap-')), 'memory');
    const site = await siteOf({
      '/': html('Home', 'Start'),
      '/x': html('X', 'About x'),
      '/robots.txt': typed('text/plain', 'Sitemap: /pages.xml'),
      '/pages.xml': typed('text/xml', '<urlset><url><loc>/x</loc></url></urlset>'),
    });
    const run = async () => {
      const memory = new CrawlMemoryFile(path, { isFresh: false });
      const { outcome } = await crawl(site, {}, { memory });
      memory.commit();
      return outcome.isComplete;
    };
    expect(await run()).toBe(true);
    site.pages.set('/pages.xml', between);
    expect(await run()).toBe(false);
    for (const file of ['/robots.txt', '/pages.xml']) site.pages.delete(file);
    expect([await run(), await run()]).toEqual([false, true]);
    rmSync(dirname(path), { recursive: true });
  });

  it('do not miss a sitemap if its URL answered with a page, as did every other URL of the site', async () => {
    const memory = new KeptMemory();
    const site = await siteOf({ '/': html('Home', 'Start'), '/sitemap.xml': html('', '') });
    await crawl(site, {}, { memory });
    site.pages.delete('/sitemap.xml');
    const { outcome, skipped } = await crawl(site, {}, { memory });
    expect([outcome.isComplete, skipped.size]).toEqual([true, 0]);
  });
});
