import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  crawl,
  frozen,
  html,
  KeptMemory,
  MadeSite,
  NOW_MS,
  testClient,
  type MadePage,
} from '../../../test/support/feeds/made-site.js';
import type { AddressLookup } from '../../platform/outbound/guarded-agent.js';
import { SourceFailedError } from '../source/source-run.js';
import { HostPace } from './host-pace.js';

const sites: MadeSite[] = [];
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.close()));
});

async function siteOf(pages: Readonly<Record<string, MadePage>>): Promise<MadeSite> {
  const site = await MadeSite.start(pages);
  sites.push(site);
  return site;
}

const status =
  (code: number, headers: Record<string, string> = {}): MadePage =>
  (_asked, response) =>
    response.writeHead(code, headers).end('no');
const typed =
  (type: string, body: string | Buffer): MadePage =>
  (_asked, response) =>
    response.writeHead(200, { 'content-type': type }).end(body);
const redirect = (to: string): MadePage => status(301, { location: to });
const paths = (records: ReadonlyMap<string, unknown>) => [...records.keys()].sort();

describe('WebsiteCrawl', () => {
  it('reads what links and sitemaps lead to, within its scope, each page once', async () => {
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

  it('asks a second time only whether something changed, and finds what did', async () => {
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

  it('takes a page for another one that has its ETag, when an address comes to lead there, elsewhere or nowhere else', async () => {
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

  it('reads a page anew whose ETag never changes, where it is told to', async () => {
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

  it.each([
    [404, ['/', '/secret']],
    [403, ['/', '/secret']],
    [401, ['/', '/secret']],
  ])('takes a robots.txt that is answered with %i for one that allows all', async (code, expected) => {
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
  ])('stays away for now where robots.txt is answered with %s', async (_, page) => {
    const site = await siteOf({ '/robots.txt': page, '/': html('Home', 'Start') });
    const failing = crawl(site, {}, { client: testClient({ headersMs: 300 }) });
    await expect(failing).rejects.toThrow(SourceFailedError);
    await expect(failing).rejects.toThrow('robots.txt');
    expect(site.asked()).not.toContain('/');
  });

  it('obeys rules, delays and sitemaps of robots.txt, unless it is told not to', async () => {
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
    let nowMs = NOW_MS;
    const { records, skipped, outcome } = await crawl(site, {}, { nowMs: () => (nowMs += 20) });
    expect(paths(records)).toEqual(['/', '/from-map', '/open']);
    expect([skipped.get('/secret'), outcome.isComplete]).toEqual(['robots.txt forbids it.', true]);
    expect(site.server.underWayMax).toBe(1);
    expect(paths((await crawl(site, { respect_robots: false, sitemaps: [] })).records)).toEqual([
      '/',
      '/open',
      '/secret',
    ]);
  });

  it('reads sitemaps of sitemaps, gzipped ones too, and ends where they name each other', async () => {
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

  it('is not complete where a sitemap breaks off or is redirected to itself', async () => {
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

  it('is not complete where the sitemap of the last run is missing, until it is missing twice', async () => {
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
    // As while a site is put up anew: what names the sitemap is missing, too.
    for (const path of ['/robots.txt', '/pages.xml']) site.pages.delete(path);
    expect(await run()).toEqual([false, false, expect.stringContaining('It was there the last time')]);
    expect(await run()).toEqual([false, true, undefined]);
  });

  it('misses no sitemap where a page was at its address, as at every other of the site', async () => {
    const memory = new KeptMemory();
    const site = await siteOf({ '/': html('Home', 'Start'), '/sitemap.xml': html('', '') });
    await crawl(site, {}, { memory });
    site.pages.delete('/sitemap.xml');
    const { outcome, skipped } = await crawl(site, {}, { memory });
    expect([outcome.isComplete, skipped.size]).toEqual([true, 0]);
  });

  it('is not complete where a page is not read to its end, also when it is asked for again', async () => {
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

  it('walks into no endless calendar, no growing path and no session', async () => {
    const site = await siteOf({});
    const { script } = site.server;
    site.server.script = (asked, response) => {
      const [, month] = /^\/calendar\/(\d{4}-\d{2})$/.exec(asked.path) ?? [];
      const session = `?PHPSESSID=${Math.random().toString(36).slice(2)}0000000`;
      if (asked.path === '/')
        site.answer(asked, html('Home', 'Start', '/calendar/2026-11', '/grow/', `/s${session}`), response);
      else if (asked.path === '/s') site.answer(asked, html('S', 'Session', `/s${session}`, `/t${session}`), response);
      else if (month !== undefined) {
        const next = new Date(Date.parse(`${month}-01`) + 32 * 86_400_000).toISOString().slice(0, 7);
        site.answer(asked, html(month, `The month ${month}`, `/calendar/${next}`), response);
      } else if (asked.path.startsWith('/grow/'))
        site.answer(asked, html('Grow', `At ${asked.path}`, 'grow/'), response);
      else script(asked, response);
    };
    const { records, skipped } = await crawl(site, { depth_max: 100 });
    expect(paths(records).filter((path) => path.startsWith('/calendar')).length).toBeLessThan(20);
    expect(paths(records).filter((path) => path.startsWith('/grow')).length).toBeLessThan(4);
    expect(paths(records).filter((path) => path.startsWith('/s'))).toEqual(['/s']);
    expect([...skipped.values()].some((why) => why.includes('calendar'))).toBe(true);
    expect(site.asked().length).toBeLessThan(40);
  });

  it('makes one record of one content, and none of pages that say they are missing, empty shells or not to be found', async () => {
    const shell = '<body><div id=root></div><script src=app.js></script>';
    const site = await siteOf({
      '/': html('Home', 'Start', '/one', '/two', '/gone', '/app', '/hidden', '/tagged', '/picture', '/paper.pdf'),
      '/one': html('Same', 'The same text'),
      '/two': html('Same', 'The same text'),
      '/gone': html('Page not found', 'We are sorry', '/never'),
      '/app': shell,
      '/hidden': html('Hidden', 'x', '/behind').replace('<head>', '<head><meta name=robots content=noindex>'),
      '/tagged': (asked, response) => {
        response.setHeader('x-robots-tag', 'none');
        site.answer(asked, html('Tagged', 'x', '/never'), response);
      },
      '/behind': html('Behind', 'Behind a page that is not found'),
      '/picture': typed('image/png', 'x'),
      '/paper.pdf': typed('application/pdf', '%PDF'),
    });
    const { records, skipped, outcome } = await crawl(site);
    expect(paths(records).filter((path) => path !== '/two' && path !== '/one')).toEqual(['/', '/behind', '/paper.pdf']);
    expect(records.size).toBe(4);
    expect(Object.fromEntries([...skipped].filter(([path]) => path !== '/two' && path !== '/one'))).toEqual({
      '/gone': 'The page says that there is no such page.',
      '/app': 'needs JavaScript',
      '/hidden': 'The page asks not to be found (noindex).',
      '/tagged': 'The page asks not to be found (noindex).',
      '/picture': 'It is of the type image/png.',
    });
    expect(records.get('/paper.pdf')?.fields).toEqual({
      url: site.url('/paper.pdf'),
      title: 'paper',
      document: site.url('/paper.pdf'),
    });
    expect(outcome.isComplete).toBe(true);
  });

  it('finds a page again whose twin is gone, and one that only a canonical leads to', async () => {
    const site = await siteOf({
      '/': html('Home', 'Start', '/one', '/two', '/three'),
      '/one': html('Same', 'The same text'),
      '/two': html('Same', 'The same text'),
      '/three': html('Three', 'Three').replace('<head>', '<head><link rel=canonical href=/real>'),
      '/real': html('Real', 'The real one'),
    });
    const memory = new KeptMemory();
    const first = await crawl(site, {}, { memory, limits: { requestsMax: 1 } });
    expect(paths(first.records)).toEqual(['/', '/one', '/real']);
    site.pages.delete('/one');
    const second = await crawl(site, {}, { memory, limits: { requestsMax: 1 } });
    expect([paths(second.records), second.gone, [...second.unchanged].sort()]).toEqual([
      ['/two'],
      ['/one'],
      ['/', '/real'],
    ]);
  });

  it('takes a page for the one that it says it is, and no other host for it', async () => {
    const canonical = (title: string, ...links: string[]) =>
      html(title, `About ${title}`).replace(
        '<head>',
        `<head>${links.map((link) => `<link rel=canonical href="${link}">`).join('')}`,
      );
    const site = await siteOf({
      '/': html('Home', 'Start', '/relative?x', '/foreign', '/two'),
      '/relative?x': canonical('Relative', 'real'),
      '/real': html('Real', 'The real one'),
      '/foreign': canonical('Foreign', 'https://elsewhere.example/'),
      '/two': canonical('Two', '/one', '/other'),
    });
    const { records, skipped } = await crawl(site);
    expect(paths(records)).toEqual(['/', '/foreign', '/real', '/two']);
    expect(skipped.get('/relative?x')).toBe('The page says that it is /real.');
  });

  it('follows redirects within the site, and takes in the host of its start', async () => {
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

  it('never asks an address that is not to be reached, whoever leads there', async () => {
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
  ])('says of a page that answers %s that it failed, and that the listing is not complete', async (_, page, why) => {
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

  it('keeps the record of a page that becomes what is no text, and its links', async () => {
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
  ])('fails where the name of the site %s when it is connected to', async (_, lookup, why) => {
    const site = await siteOf({});
    const failing = crawl(site, { start_urls: ['https://birds.example/'] }, { client: testClient({ lookup }) });
    await expect(failing).rejects.toThrow(SourceFailedError);
    await expect(failing).rejects.toThrow(why);
  });

  it('leaves a site alone that asks for it, and says for how long', async () => {
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

  it('asks again after a short wait that a site asks for', async () => {
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

  it('ends at its limits, and says that it is not complete', async () => {
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
    let nowMs = NOW_MS;
    const late = await crawl(site, {}, { limits: { runMsMax: 1000 }, nowMs: () => (nowMs += 100) });
    expect(late.outcome.isComplete).toBe(false);
  });

  it('asks a host for one page at a time, however many crawls do, and lets each come to its end', async () => {
    const names = Array.from({ length: 5 }, (_, number) => `/p${number}`);
    const site = await siteOf({ '/': html('Home', 'Start here', ...names) });
    for (const name of names) site.pages.set(name, html(name, `About ${name}`));
    const pace = new HostPace({ pagesPerSecond: 200, nowMs: () => performance.now() });
    const crawls = await Promise.all(Array.from({ length: 4 }, () => crawl(site, { sitemaps: [] }, { pace })));
    for (const { outcome, records } of crawls) expect([outcome.isComplete, records.size]).toEqual([true, 6]);
    expect(site.server.underWayMax).toBe(1);
  });

  it('ends at once where it is aborted', async () => {
    const site = await siteOf({ '/': html('Home', 'Start', '/slow'), '/slow': () => undefined });
    const aborted = new AbortController();
    const running = crawl(
      site,
      {},
      { signal: aborted.signal, onProgress: () => aborted.abort(new Error('the service stops')) },
    );
    await expect(running).rejects.toThrow('the service stops');
  });

  it('makes a record of each section that something leads to', async () => {
    const long =
      '<h1>Birds</h1><p>All of them.</p><h2 id=gannets>Gannets</h2><p>They dive.</p><h3>Deep</h3><p>40 m.</p><h2 id="terns">Terns</h2><p>They hover.</p>';
    const site = await siteOf({ '/': `<title>Birds</title><main>${long}</main>` });
    const { records } = await crawl(site, { split: 'heading' });
    expect([...records].map(([path, { fields }]) => [path, fields['title'], fields['text']])).toEqual([
      ['/', 'Birds', 'All of them.'],
      ['/#gannets', 'Gannets', 'They dive.\nDeep\n40 m.'],
      ['/#terns', 'Terns', 'They hover.'],
    ]);
  });

  it('leaves what is behind the last section of a page that is taken with that one', async () => {
    const sections = Array.from(
      { length: 502 },
      (_, number) => `<h2 id="s${number}">S${number}</h2><p>Text ${number}</p>`,
    );
    const site = await siteOf({ '/': `<title>Long</title><main>${sections.join('')}</main>` });
    const { records } = await crawl(site, { split: 'heading' });
    expect([records.size, records.get('/#s499')?.fields['text']]).toEqual([
      500,
      'Text 499\nS500\nText 500\nS501\nText 501',
    ]);
  });

  it('asks directly for pages that it did not meet, and takes only 404 and 410 for evidence', async () => {
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
