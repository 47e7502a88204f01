/**
 * Tests which records a list has after its website failed as real websites do. Each failure of websites in the table
 * of `docs/feed-failures.md`, which real systems were caught by, has a test.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, fill, siteOf } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { namesEnvironment } from '../support/feeds/made-names.js';
import { status } from '../support/feeds/made-pages.js';
import { sitesOfEachTest } from '../support/feeds/used-sites.js';
import { frozen, html, type MadePage, type MadeSite } from '../support/feeds/made-site.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-names-'));
const namesFile = join(folder, 'names.json');
/** Sets the addresses that names are resolved to from now on, one step for each time that a name is looked up. */
const lead = (names: Readonly<Record<string, readonly string[]>>) => writeFileSync(namesFile, JSON.stringify(names));

let feeds: FeedService;
const sites = sitesOfEachTest();
beforeAll(async () => {
  lead({});
  feeds = await FeedService.start({
    env: {
      ...namesEnvironment(namesFile),
      GANNET_FEEDS_PAGE_BYTES_MAX: '1000000',
    },
  });
});
afterAll(async () => {
  await feeds.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => lead({}));

let feedsMade = 0;

/** Starts a site with these pages, and a list that has all of them. */
async function followed(
  pages: readonly string[] | Readonly<Record<string, MadePage>>,
  settings: object = {},
): Promise<{ site: MadeSite; feed: FollowedFeed }> {
  const site = await siteOf(...(Array.isArray(pages) ? (pages as readonly string[]) : []));
  if (!Array.isArray(pages)) for (const [path, page] of Object.entries(pages)) site.pages.set(path, page);
  sites.push(site);
  feedsMade += 1;
  const base = site.url('');
  const options = { provider: 'website', settings: { start_urls: [site.url('/')], ...settings }, base };
  return { site, feed: await FollowedFeed.connect(feeds, `site${feedsMade}`, options) };
}

const ABC = ['/', '/a', '/b', '/c'];
const answers =
  (body: string | Buffer, headers: Readonly<Record<string, string>> = {}): MadePage =>
  (_asked, response) =>
    response.writeHead(200, { 'content-type': 'text/html', ...headers }).end(body);
const breaksOff: MadePage = (_asked, response) =>
  void response
    .writeHead(200, { 'content-type': 'text/html', 'content-length': '5000' })
    .write(html('A', 'Half of it'), () => response.destroy());
const replace = (site: MadeSite, page: (path: string) => MadePage) => {
  for (const path of [...site.pages.keys()]) site.pages.set(path, page(path));
};

describe('an answer that is cut short', () => {
  it('keeps all records, whether the declared length shows the cut or not', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    const before = (await feed.now()).records;
    site.pages.set('/a', breaksOff);
    expect((await feed.sync()).records).toEqual(before);
    // Status 200 and the right length, but half of the page: the missing half links to `/b` and `/c`.
    const home = html('Home', 'Where it begins', '/a', '/b', '/c');
    site.pages.set('/', answers(home.slice(0, home.indexOf('<a href="/b"'))));
    site.pages.set('/a', html('Page a', 'Something about a'));
    const cut = await feed.sync();
    expect(cut.records).toEqual(before);
    expect(cut.feed).toMatchObject({
      status: 'Synced',
      last_run: { skipped: [{ why: expect.stringContaining('breaks off') as string }] },
    });
    // A page that was linked from the missing half and was deleted from the site is removed all the same.
    site.pages.delete('/b');
    expect((await feed.sync()).names).toEqual(['/', '/a', '/c']);
  });
});

describe('a site that cannot be reached', () => {
  it('keeps the records of the list if the site is down', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    await site.close();
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([ABC, 'Failed']);
    expect(shown.error?.message).toContain('ECONNREFUSED');
  });

  it.each([
    ['is not found', ['ENOTFOUND'], 'ENOTFOUND'],
    ['cannot be looked up now', ['EAI_AGAIN'], 'EAI_AGAIN'],
    ['leads to a private address', ['10.0.0.1'], 'cannot be called'],
    ['leads elsewhere each time that it is asked', ['127.0.0.1', '10.0.0.1'], 'cannot be called'],
  ])('keeps the records of the list if its host name %s', async (_, steps, why) => {
    const site = await siteOf('a', 'b', 'c');
    sites.push(site);
    feedsMade += 1;
    const base = site.url('').replace('127.0.0.1', 'localhost');
    const settings = { start_urls: [`${base}/`] };
    const feed = await FollowedFeed.connect(feeds, `site${feedsMade}`, { provider: 'website', settings, base });
    expect((await feed.now()).names).toEqual(ABC);
    site.server.dropConnections();
    if (steps.length > 1) for (const [path, page] of [...site.pages]) site.pages.set(path, closing(site, page));
    lead({ localhost: steps });
    const { names, feed: shown } = await feed.sync();
    expect(names).toEqual(ABC);
    expect(JSON.stringify([shown.error, shown.last_run])).toContain(why);
    lead({});
    expect((await feed.sync()).feed).toMatchObject({ status: 'Synced', error: null });
  });

  it.each([
    ['503', status(503)],
    ['a broken connection', (_asked, response) => response.destroy()] satisfies [string, MadePage],
    // Lasts as long as the service waits for headers.
    ['silence', () => undefined] satisfies [string, MadePage],
  ])('keeps the records of the list if robots.txt is answered with %s', async (_, robots) => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    site.pages.set('/robots.txt', robots);
    replace(site, (path) => (path === '/robots.txt' ? robots : html('Other', 'Not to be read')));
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([ABC, 'Failed']);
    expect(shown.error?.message).toContain('robots.txt');
  });

  it('keeps the records of the list and waits for a day if Retry-After asks for that', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    replace(site, () => status(503, { 'retry-after': '86400' }));
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([ABC, 'Failed']);
    // The time of the next sync is committed by itself, a moment after the run ends.
    const msOf = (time: string | null) => Date.parse(time ?? '');
    const { next_sync: next, last_checked: checked } = await eventually(
      () => feeds.feed(feed.name),
      (read) => msOf(read.next_sync) > msOf(read.last_checked),
    );
    const waitMs = msOf(next) - msOf(checked);
    expect(waitMs).toBeGreaterThan(86_300_000);
    expect(waitMs).toBeLessThan(90_000_000);
  });
});

/** Answers with the page as it was, on a connection that is not used again. */
function closing(site: MadeSite, page: MadePage): MadePage {
  return (asked, response) => {
    response.shouldKeepAlive = false;
    if (typeof page === 'string') site.answer({ ...asked, headers: {} }, page, response);
    else page(asked, response);
  };
}

describe('a page of errors with status 200', () => {
  it.each([
    ['says that the service is unavailable', html('503 Service Unavailable', 'Try again later')],
    ['asks who is there', `<title>Sign in</title><h1>Sign in</h1><form><input type="password"></form>`],
    ['says that there is no such page', html('Page not found', 'We are sorry')],
    ['is empty', ''],
    ['is a shell that needs JavaScript', '<body><div id=root></div><script src=app.js></script>'],
  ])('keeps all records if every page of the site %s', async (_, page) => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    const before = (await feed.now()).records;
    replace(site, () => answers(page));
    for (let round = 0; round < 2; round += 1) {
      const { records, feed: shown } = await feed.sync();
      expect([records, shown.status]).toEqual([before, 'Failed']);
    }
    fill(site, ['a', 'b', 'c', 'd']);
    expect((await feed.sync()).names).toEqual([...ABC, '/d']);
  });

  it('keeps all records if the start URL redirects to a sign-in page', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    replace(site, () => status(302, { location: '/login' }));
    site.pages.set('/login', answers('<title>Log in</title><form><input type=password></form>'));
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([ABC, 'Failed']);
  });

  it('keeps the record of a single page with an error, and removes one that says it was not found', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    const before = (await feed.now()).records;
    site.pages.set('/a', answers(html('Internal Server Error', 'Oops')));
    site.pages.set('/b', answers('<body><div id=root></div><script src=app.js></script>'));
    site.pages.set('/c', answers(''));
    expect((await feed.sync()).records).toEqual(before);
    // A soft 404 on a site that works otherwise: the listing is complete without that page.
    fill(site, ['a', 'b', 'c']);
    await feed.sync();
    site.pages.set('/c', answers(html('Page not found', 'We are sorry')));
    expect((await feed.sync()).names).toEqual(['/', '/a', '/b']);
  });
});

describe('a sitemap', () => {
  it.each<[string, MadePage]>([
    ['lists itself', answers('<sitemapindex><sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>')],
    ['is redirected to itself', status(301, { location: '/sitemap.xml' })],
    ['is cut in the middle', answers('<urlset><url><loc>/a</loc></url><url><lo')],
    ['is a page of errors', answers(html('Oops', 'Something went wrong'))],
    ['is not answered', status(500)],
  ])('keeps all records if it %s', async (_, page) => {
    const { site, feed } = await followed({
      '/': html('Home', 'Start'),
      '/a': html('A', 'About a'),
      '/b': html('B', 'About b'),
      '/sitemap.xml': answers('<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>'),
    });
    expect((await feed.now()).names).toEqual(['/', '/a', '/b']);
    site.pages.set('/sitemap.xml', page);
    expect((await feed.sync()).names).toEqual(['/', '/a', '/b']);
  });

  it('is read once, and keeps all records, if its child redirects back to it', async () => {
    const { site, feed } = await followed({
      '/': html('Home', 'Start'),
      '/a': html('A', 'About a'),
      '/sitemap.xml': answers(
        '<sitemapindex><sitemap><loc>/one.xml</loc></sitemap><sitemap><loc>/two.xml</loc></sitemap></sitemapindex>',
      ),
      '/one.xml': answers('<urlset><url><loc>/a</loc></url></urlset>'),
      '/two.xml': status(301, { location: '/sitemap.xml' }),
    });
    expect((await feed.now()).names).toEqual(['/', '/a']);
    site.asked();
    expect((await feed.sync()).names).toEqual(['/', '/a']);
    expect(site.asked().filter((path) => path.includes('.xml')).length).toBeLessThan(8);
  });
});

describe('a site with endless pages', () => {
  it('is read to an end, with a limit on its calendar and each page once whatever its session id', async () => {
    const { site, feed } = await followed({ '/': html('Home', 'Start') });
    const { script } = site.server;
    site.server.script = (asked, response) => {
      const [, month] = /^\/calendar\/(\d{4}-\d{2})$/.exec(asked.path) ?? [];
      const session = `?PHPSESSID=${Math.random().toString(36).slice(2)}0000000`;
      if (month !== undefined) {
        const next = new Date(Date.parse(`${month}-01`) + 32 * 86_400_000).toISOString().slice(0, 7);
        site.answer(asked, html(month, `The month ${month}`, `/calendar/${next}`), response);
      } else if (asked.path.startsWith('/s?'))
        site.answer(asked, html('S', 'With a session', `/s${session}`), response);
      else script(asked, response);
    };
    site.pages.set('/', html('Home', 'Start', '/calendar/2026-11', '/s?PHPSESSID=aaaaaaaaaaaaaaaaaaa'));
    site.pages.set('/s', html('S', 'With a session'));
    const first = await feed.sync();
    expect(first.names.filter((name) => name.startsWith('/s'))).toEqual(['/s']);
    expect(first.names.length).toBeLessThan(30);
    const second = await feed.sync();
    expect([second.records, second.feed.last_run?.changed]).toEqual([first.records, 0]);
  });
});

describe('a canonical link', () => {
  const canonical = (title: string, ...links: readonly string[]) =>
    html(title, `About ${title}`).replace(
      '<head>',
      `<head>${links.map((link) => `<link rel=canonical href="${link}">`).join('')}`,
    );

  it('is followed if it is the only one and on the same host, wherever the page is linked from', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    site.pages.set('/a', canonical('A', '/one', '/two'));
    site.pages.set('/b', canonical('B', 'real'));
    site.pages.set('/real', html('Real', 'The real one'));
    site.pages.set('/c', canonical('C', 'https://elsewhere.example/'));
    expect((await feed.sync()).names).toEqual(['/', '/a', '/c', '/real']);
  });
});

describe('the charset of a page', () => {
  it('is recognized even if it is declared wrongly, twice or not at all', async () => {
    const text = 'Über die Brücke und zurück, gefräßig und schön';
    const page = (title: string, charset?: string) =>
      html(title, text).replace('<head>', charset === undefined ? '<head>' : `<head><meta charset="${charset}">`);
    const typed = (bytes: string | Buffer, charset: string) =>
      answers(bytes, { 'content-type': `text/html; charset=${charset}` });
    const { feed } = await followed({
      '/': html('Home', 'Start', '/double', '/missing', '/unknown', '/wrong'),
      '/double': typed(Buffer.from(page('double', 'iso-8859-1'), 'latin1'), 'utf-8'),
      '/missing': answers(Buffer.from(page('missing'), 'latin1')),
      '/unknown': typed(page('unknown'), 'no-such'),
      '/wrong': typed(page('wrong'), 'iso-8859-1'),
    });
    const { records } = await feed.now();
    expect(records.map(({ name, fields }) => [name, fields['text']])).toEqual([
      ['/', 'Home\nStart'],
      ...['double', 'missing', 'unknown', 'wrong'].map((title) => [`/${title}`, `${title}\n${text}`]),
    ]);
  });
});

describe('a compressed page that grows too large', () => {
  it.each([
    ['gzip', gzipSync(Buffer.alloc(20_000_000, 0x20))],
    ['br', brotliCompressSync(Buffer.alloc(20_000_000, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('keeps all records: %s', async (encoding, bytes) => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    site.pages.set('/a', answers(bytes, { 'content-encoding': encoding }));
    const { names, feed: shown } = await feed.sync();
    expect(names).toEqual(ABC);
    expect(JSON.stringify(shown.last_run)).toContain('more than 1000000 bytes');
  });
});

describe('a redirect to a private address', () => {
  it('is not followed, and only the page that redirects is removed', async () => {
    const { site, feed } = await followed(['a', 'b', 'c']);
    const bad = 'http://169.254.169.254/latest/meta-data/';
    site.pages.set('/a', status(302, { location: bad }));
    expect((await feed.sync()).names).toEqual(['/', '/b', '/c']);
    site.pages.set('/', status(302, { location: bad }));
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([['/', '/b', '/c'], 'Failed']);
  });
});

describe('misleading validators', () => {
  it('are trusted for at most a day, so that a changed page with the same ETag is read again', async () => {
    const { site, feed } = await followed({ '/': frozen(html('Home', 'before')) });
    site.pages.set('/', frozen(html('Home', 'after')));
    let runs = 1;
    while (!JSON.stringify((await feed.sync()).records).includes('after') && runs < 30) runs += 1;
    expect(runs).toBe(23);
  });
});
