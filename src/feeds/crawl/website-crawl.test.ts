import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  crawl,
  frozen,
  html,
  KeptMemory,
  NOW_MS,
  testClient,
  type MadePage,
} from '../../../test/support/feeds/made-site.js';
import { redirect, status, typed } from '../../../test/support/feeds/made-pages.js';
import { siteMaker } from '../../../test/support/feeds/used-sites.js';
import type { AddressLookup } from '../../platform/outbound/guarded-agent.js';
import { SourceFailedError } from '../source/source-run.js';
import { HostPace } from './host-pace.js';

const siteOf = siteMaker();
const paths = (records: ReadonlyMap<string, unknown>) => [...records.keys()].sort();

describe('WebsiteCrawl', () => {
  it('reads each page that links and sitemaps lead to within its scope once', async () => {
    const site = await siteOf({
      '/': html(
        'Home',
        'Start here',
        '/a',
        '/a#top',
        '/a?utm_source=x',
        '/private/x',
        'https://elsewhere.example/',
        '/logo.png',
        'mailto:x@y',
      ),
      '/a': html('A', 'About a', '/', 'b'),
      '/b': html('B', 'About b'),
      '/only-in-sitemap': html('S', 'About s'),
      '/sitemap.xml': (asked, response) => {
        response.end(
          `<urlset><url><loc>${site.url('/only-in-sitemap')}</loc></url><url><loc>https://elsewhere.example/z</loc></url></urlset>`,
        );
      },
    });
    const { outcome, records, skipped } = await crawl(site, { exclude: ['/private/**'] });
    expect(paths(records)).toEqual(['/', '/a', '/b', '/only-in-sitemap']);
    expect(records.get('/a')?.fields).toEqual({
      url: site.url('/a'),
      title: 'A',
      text: 'A\nAbout a',
      headings: ['A'],
      language: 'en',
    });
    expect([outcome.isComplete, skipped.size]).toEqual([true, 0]);
    expect(site.asked().sort()).toEqual(['/', '/a', '/b', '/only-in-sitemap', '/robots.txt', '/sitemap.xml']);
  });

  it('only asks on a second run whether pages changed, and finds those that did', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/a', '/b'),
      '/a': html('A', 'About a', '/c'),
      '/b': html('B', 'About b'),
      '/c': html('C', 'About c'),
    });
    const memory = new KeptMemory();
    await crawl(site, { sitemaps: [] }, { memory });
    site.asked();
    const second = await crawl(site, { sitemaps: [] }, { memory });
    expect([second.records.size, [...second.unchanged].sort(), second.outcome.isComplete]).toEqual([
      0,
      ['/', '/a', '/b', '/c'],
      true,
    ]);
    expect(site.asked().filter((path) => !path.endsWith('if changed'))).toEqual(['/robots.txt']);
    site.pages.set('/b', html('B', 'About b, anew'));
    site.pages.delete('/c');
    const third = await crawl(site, { sitemaps: [] }, { memory });
    expect([paths(third.records), third.gone, third.outcome.isComplete]).toEqual([['/b'], ['/c'], true]);
  });

  it('recognizes another page with the same ETag when a URL begins or ends to redirect', async () => {
    const one =
      (title: string): MadePage =>
      ({ headers }, response) =>
        headers['if-none-match'] === '"1"'
          ? response.writeHead(304).end()
          : response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end(html(title, `About ${title}`));
    const site = await siteOf({ '/': html('Home', 'Start', '/a'), '/a': one('A'), '/b': one('B'), '/c': one('C') });
    const memory = new KeptMemory();
    const settings = { sitemaps: [] };
    await crawl(site, settings, { memory });
    for (const [to, name] of [
      ['/b', '/b'],
      ['/c', '/c'],
      [undefined, '/a'],
    ] as const) {
      site.pages.set('/a', to === undefined ? one('A') : redirect(to));
      const moved = await crawl(site, settings, { memory });
      expect([paths(moved.records), moved.unchanged]).toEqual([[name], ['/']]);
      const again = await crawl(site, settings, { memory });
      expect([again.records.size, [...again.unchanged].sort()]).toEqual([0, ['/', name]]);
    }
  });

  it('reads a page again although its ETag never changes, if conditional requests are off', async () => {
    const site = await siteOf({ '/': frozen(html('Home', 'before')) });
    const memory = new KeptMemory();
    await crawl(site, {}, { memory });
    expect(memory.page(site.url('/'))).not.toHaveProperty('lastModified');
    site.pages.set('/', frozen(html('Home', 'after')));
    expect((await crawl(site, {}, { memory })).records.size).toBe(0);
    expect((await crawl(site, {}, { memory, mayAskConditionally: false })).records.get('/')?.fields['text']).toContain(
      'after',
    );
  });

  it('is incomplete if a page cannot be read to its end, on a second run as well', async () => {
    const links = Array.from({ length: 5001 }, (_, number) => `/none/${number}`);
    const site = await siteOf({ '/': html('Home', 'Start', '/a', ...links), '/a': html('A', 'About a') });
    const memory = new KeptMemory();
    for (let run = 0; run < 2; run += 1) {
      site.asked();
      const { outcome, skipped } = await crawl(site, { sitemaps: [], exclude: ['/none/**'] }, { memory });
      expect([outcome.isComplete, skipped.get('/')]).toEqual([false, expect.stringContaining('too many links')]);
      expect(site.asked()).toContain('/');
    }
  });

  it('follows redirects within the site, and includes the host that the start URL leads to', async () => {
    const site = await siteOf({
      '/': redirect('/home'),
      '/home': html('Home', 'Start', '/old', '/out'),
      '/old': redirect('/new'),
      '/new': html('New', 'It moved'),
      '/out': redirect('http://127.0.0.2:1/'),
    });
    const { records, skipped } = await crawl(site);
    expect(paths(records)).toEqual(['/home', '/new']);
    expect(skipped.get('/out')).toBe('It leads to http://127.0.0.2:1/, which is not read.');
  });

  it('never requests a forbidden address, whatever leads there', async () => {
    const bad = 'http://169.254.169.254/latest/meta-data/';
    const site = await siteOf({
      '/': html('Home', 'Start', bad, '/hop').replace(
        '<head>',
        `<head><link rel=canonical href="${bad}"><meta property=og:image content="${bad}x.png">`,
      ),
      '/hop': redirect(bad),
      '/robots.txt': typed('text/plain', `Sitemap: ${bad}`),
    });
    const { records, outcome } = await crawl(site, { include: ['/**', `${bad}**`] });
    expect(paths(records)).toEqual(['/']);
    expect(outcome.isComplete).toBe(false);
    await expect(crawl(site, { start_urls: [bad] })).rejects.toThrow(SourceFailedError);
  });

  it.each<[string, MadePage, string]>([
    ['500', status(500), 'It answered 500.'],
    ['401', status(401), 'It answered 401.'],
    ['an empty body', typed('text/html', ''), 'It answered 200 with an empty body.'],
    [
      'a body that breaks off',
      (_asked, response) =>
        void response.writeHead(200, { 'content-length': '5000' }).write('<p>Half', () => response.destroy()),
      '',
    ],
    [
      'a bomb',
      (_asked, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
          .end(gzipSync(Buffer.alloc(5_000_000, 0x20))),
      'The answer has more than 1000000 bytes.',
    ],
    [
      'a bomb of brotli',
      (_asked, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'br' })
          .end(brotliCompressSync(Buffer.alloc(5_000_000, 0x20), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })),
      'The answer has more than 1000000 bytes.',
    ],
    [
      'something that is not compressed as it says',
      (_asked, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain'),
      '',
    ],
  ])('reports a page that answers %s as failed, and is incomplete', async (_, page, why) => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/bad', '/good'),
      '/bad': page,
      '/good': html('Good', 'Fine'),
    });
    const { records, skipped, gone, outcome } = await crawl(site);
    expect([paths(records), gone, outcome.isComplete]).toEqual([['/', '/good'], [], false]);
    expect(skipped.get('/bad')).toContain(why);
    site.pages.set('/', page);
    await expect(crawl(site)).rejects.toThrow(SourceFailedError);
  });

  it('keeps the record and links of a page whose answer is no longer text', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/a'),
      '/a': html('A', 'About a', '/b'),
      '/b': html('B', 'About b'),
    });
    const memory = new KeptMemory();
    await crawl(site, {}, { memory });
    const links = memory.page(site.url('/a'))?.links.digests;
    site.pages.set('/a', typed('text/html; charset=utf-8', gzipSync(html('A', 'Another thing'))));
    const { records, gone, skipped, outcome } = await crawl(site, {}, { memory });
    expect([paths(records), gone, outcome.isComplete]).toEqual([[], [], false]);
    expect(skipped.get('/a')).toBe('It is no text, whatever its type says.');
    expect(memory.page(site.url('/a'))).toMatchObject({ names: [site.url('/a')] });
    expect(memory.page(site.url('/a'))?.links.digests).toEqual(links);
  });

  it.each<[string, AddressLookup, RegExp]>([
    [
      'has no address',
      (_name, _options, callback) =>
        callback(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }), []),
      /ENOTFOUND/,
    ],
    [
      'leads to a private address',
      (_name, _options, callback) => callback(null, [{ address: '10.0.0.1', family: 4 }]),
      /cannot be called/,
    ],
  ])("fails if the site's name %s when connecting", async (_, lookup, why) => {
    const site = await siteOf({});
    const failing = crawl(site, { start_urls: ['https://birds.example/'] }, { client: testClient({ lookup }) });
    await expect(failing).rejects.toThrow(SourceFailedError);
    await expect(failing).rejects.toThrow(why);
  });

  it('leaves a site alone that asks for it, and returns for how long', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/busy', '/1', '/2', '/3'),
      '/busy': status(503, { 'retry-after': '86400' }),
      '/1': html('1', 'One'),
      '/2': html('2', 'Two'),
      '/3': html('3', 'Three'),
    });
    const { outcome } = await crawl(site, {}, { limits: { requestsMax: 1 } });
    expect([outcome.isComplete, outcome.retryAfterMs]).toEqual([false, 86_400_000]);
    expect(site.asked()).not.toContain('/1');
  });

  it('retries after a short wait that a site asks for', async () => {
    let times = 0;
    const site = await siteOf({
      '/': (asked, response) => {
        times += 1;
        if (times < 3) response.writeHead(429, { 'retry-after': '0' }).end();
        else site.answer(asked, html('Home', 'Start'), response);
      },
    });
    const { records, outcome } = await crawl(site);
    expect([paths(records), outcome.isComplete]).toEqual([['/'], true]);
  });

  it('ends at its limits as incomplete', async () => {
    const site = await siteOf({
      '/': html('0', 'Zero', '/1'),
      ...Object.fromEntries(
        Array.from({ length: 30 }, (_, number) => [
          `/${number + 1}`,
          html(`${number + 1}`, `Number ${number + 1}`, `/${number + 2}`),
        ]),
      ),
    });
    const few = await crawl(site, { pages_max: 5 });
    expect([few.records.size, few.outcome.isComplete, few.skipped.get('1 pages')]).toEqual([
      5,
      false,
      'The feed reads at most 5 pages (pages_max).',
    ]);
    const shallow = await crawl(site, { depth_max: 2 });
    expect([shallow.records.size, shallow.outcome.isComplete]).toEqual([3, true]);
    let steadyMs = 0;
    const late = await crawl(site, {}, { limits: { runMsMax: 1000 }, steadyMs: () => (steadyMs += 100) });
    expect(late.outcome.isComplete).toBe(false);
  });

  it('takes the same time and reads the same pages if the clock is set meanwhile', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/p0'),
      '/p0': html('P', 'Page', '/p1'),
      '/p1': html('Q', 'Q'),
    });
    for (const jumpMs of [-315_360_000_000, 315_360_000_000]) {
      let nowMs = NOW_MS;
      const { outcome, records } = await crawl(
        site,
        {},
        { limits: { runMsMax: 600_000 }, nowMs: () => (nowMs += jumpMs) },
      );
      expect([outcome.isComplete, records.size]).toEqual([true, 3]);
      let steadyMs = 0;
      const late = { limits: { runMsMax: 1000 }, nowMs: () => (nowMs += jumpMs), steadyMs: () => (steadyMs += 1000) };
      expect((await crawl(site, {}, late)).outcome.isComplete).toBe(false);
    }
  });

  it('requests one page of a host at a time, however many crawls there are, and completes all of them', async () => {
    const names = Array.from({ length: 5 }, (_, number) => `/p${number}`);
    const site = await siteOf({ '/': html('Home', 'Start here', ...names) });
    for (const name of names) site.pages.set(name, html(name, `About ${name}`));
    const pace = new HostPace({ pagesPerSecond: 200, nowMs: () => performance.now() });
    const crawls = await Promise.all(Array.from({ length: 4 }, () => crawl(site, { sitemaps: [] }, { pace })));
    for (const { outcome, records } of crawls) expect([outcome.isComplete, records.size]).toEqual([true, 6]);
    expect(site.server.underWayMax).toBe(1);
  });

  it('ends at once when it is aborted', async () => {
    const site = await siteOf({ '/': html('Home', 'Start', '/slow'), '/slow': () => undefined });
    const aborted = new AbortController();
    const running = crawl(
      site,
      {},
      { signal: aborted.signal, onProgress: () => aborted.abort(new Error('the service stops')) },
    );
    await expect(running).rejects.toThrow('the service stops');
  });

  it('requests pages directly that it did not meet, and reports only 404 and 410 as gone', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start'),
      '/lost': html('L', 'Nobody links here'),
      '/fails': status(500),
      '/moved': redirect('https://elsewhere.example/'),
      '/over': status(410),
    });
    const client = testClient();
    const { made } = await crawl(site, {}, { client: Object.assign(client, { close: () => Promise.resolve() }) });
    const asked = ['/lost', '/fails', '/moved', '/over', '/never'].map((path) => site.url(path));
    expect(await made.ask(asked)).toEqual([site.url('/over'), site.url('/never')]);
  });
});
