/**
 * Tests what reaches the list's records from pages and articles: sections, structured data, whole articles and
 * endless pages.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FeedService } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { html, type MadePage } from '../support/feeds/made-site.js';
import { siteMaker } from '../support/feeds/used-sites.js';

let feeds: FeedService;
beforeAll(async () => {
  feeds = await FeedService.start();
});
afterAll(() => feeds.close());
const siteOf = siteMaker();

async function website(name: string, pages: Readonly<Record<string, MadePage>>, more: object = {}) {
  const site = await siteOf(pages);
  const settings = { start_urls: [site.url('/')], ...more };
  const feed = await FollowedFeed.connect(feeds, name, { provider: 'website', settings, base: site.url('') });
  return { site, feed };
}

it('A page split at its headings has a record for each section, and each is changed and removed by itself', async () => {
  const page = (terns: string) =>
    `<html><head><title>Birds</title></head><body><main><h1>Birds</h1><p>All of them.</p>
     <h2 id="gannets">Gannets</h2><p>They dive.</p>${terns}</main></body></html>`;
  const terns = (text: string) => `<h2 id="terns">Terns</h2><p>${text}</p>`;
  const { site, feed } = await website('split', { '/': page(terns('They hover.')) }, { split: 'heading' });
  expect((await feed.now()).records.map(({ name, fields }) => [name, fields['title'], fields['text']])).toEqual([
    ['/', 'Birds', 'All of them.'],
    ['/#gannets', 'Gannets', 'They dive.'],
    ['/#terns', 'Terns', 'They hover.'],
  ]);
  site.pages.set('/', page(terns('They plunge.')));
  const changed = await feed.sync();
  expect(changed.feed.last_run).toMatchObject({ added: 0, changed: 1, removed: 0, unchanged: 2 });
  expect(changed.records[2]?.fields['text']).toBe('They plunge.');
  site.pages.set('/', page('<h2 id="auks">Auks</h2><p>They swim.</p>'));
  expect((await feed.sync()).names).toEqual(['/', '/#auks', '/#gannets']);
});

it("A page's JSON-LD and OpenGraph metadata are in its record", async () => {
  const said = { '@type': 'NewsArticle', datePublished: '2026-11-02', dateModified: '2026-11-03T10:00:00+01:00' };
  const { feed } = await website('said', {
    '/': `<html lang="de"><head><title>Basstölpel - Site</title><meta property="og:description" content="Wie sie tauchen">
      <meta property="og:image" content="/b.jpg"><script type="application/ld+json">${JSON.stringify(said)}</script></head>
      <body><main><h1>Basstölpel</h1><p>Sie tauchen.</p></main></body></html>`,
  });
  const { records } = await feed.now();
  expect(records[0]?.fields).toMatchObject({
    title: 'Basstölpel',
    description: 'Wie sie tauchen',
    language: ['de'],
    published: ['2026-11-02T00:00:00.000Z'],
    modified: ['2026-11-03T09:00:00.000Z'],
    image: expect.stringMatching(/\/b\.jpg$/) as string,
  });
});

it('Articles linked from the items of an RSS feed are in its records, and stay if they can no longer be read', async () => {
  const site = await siteOf({ '/1': html('One', 'The whole article about gannets') });
  site.pages.set('/feed', (_asked, response) =>
    response.end(`<rss><channel><item><link>${site.url('/1')}</link><title>One</title>
      <description>In short</description></item></channel></rss>`),
  );
  const settings = { url: site.url('/feed'), full_text: true };
  const feed = await FollowedFeed.connect(feeds, 'articles', { provider: 'rss', settings, base: site.url('') });
  const { records } = await feed.now();
  expect(records[0]?.fields['text']).toContain('The whole article about gannets');
  site.pages.delete('/1');
  expect((await feed.sync()).records).toEqual(records);
});

it('Syncs of endless links, calendars and session ids end, with the same records each time', async () => {
  const endless: MadePage = ({ path }, response) => {
    const visits = `?PHPSESSID=${Math.random().toString(16).slice(2).padEnd(16, '0')}`;
    response
      .setHeader('content-type', 'text/html')
      .end(
        html(
          `Page ${path}`,
          `About ${path}`,
          `deeper/deeper/`,
          `/calendar/2026/12`,
          `/calendar/2099/01`,
          `/a${visits}`,
        ),
      );
  };
  const site = await siteOf({});
  site.server.script = (asked, response) => {
    if (asked.path === '/robots.txt' || asked.path === '/sitemap.xml') response.writeHead(404).end();
    else endless(asked, response);
  };
  const settings = { start_urls: [site.url('/')] };
  const feed = await FollowedFeed.connect(feeds, 'endless', { provider: 'website', settings, base: site.url('') });
  const { names } = await feed.now();
  expect(names).toEqual(expect.arrayContaining(['/', '/a', '/calendar/2026/12']) as string[]);
  expect(names.length).toBeLessThan(20);
  expect(names.some((name) => name.includes('PHPSESSID') || name.includes('2099'))).toBe(false);
  expect((await feed.sync()).names).toEqual(names);
});
