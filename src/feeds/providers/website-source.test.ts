import { existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { html, NOW_MS } from '../../../test/support/feeds/made-site.js';
import { sync, SYNC_PATH } from '../../../test/support/feeds/made-source.js';
import { usePlaces } from '../../../test/support/feeds/places.js';
import { CrawlMemoryFile } from '../crawl/crawl-memory-file.js';
import { PageLinks } from '../crawl/page-links.js';
import type { WebsiteSettings } from '../crawl/crawl-types.js';
import { discoverPages } from '../crawl/discover.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import { SourceFailedError } from '../source/source-run.js';
import { WebsiteSource } from './website-source.js';

const places = usePlaces();
const limits = { pagesPerSecond: 0, requestsMax: 4, runMsMax: 60_000, retryAfterMsMax: 0, pageBytesMax: 1_000_000 };
const memoryPath = () => join(places.files.dir, 'memory');

function settingsOf(settings: Partial<WebsiteSettings> = {}): WebsiteSettings {
  return {
    start_urls: [places.site.url('/')],
    include: [],
    exclude: [],
    depth_max: 10,
    pages_max: 1000,
    sitemaps: [],
    respect_robots: true,
    selectors: {},
    split: 'page',
    ...settings,
  };
}

async function run(settings: Partial<WebsiteSettings> = {}) {
  const source = new WebsiteSource({
    settings: settingsOf(settings),
    limits,
    client: places.client,
    memoryPath: memoryPath(),
    nowMs: () => NOW_MS,
  });
  try {
    return await sync(places.files, source);
  } finally {
    source.close();
  }
}

function fill(count: number): void {
  const links = Array.from({ length: count }, (_, number) => `/p${number}`);
  places.site.pages.set('/', html('Home', 'Start', ...links));
  for (const link of links) places.site.pages.set(link, html(link, `About ${link}`));
}

describe('WebsiteSource', () => {
  it('describes each selected field as what a list can have, whatever the selector finds', async () => {
    fill(1);
    const selected = { price: '.price', section: '.crumb', published: '.date', image: '.photo', title: 'h1' };
    await run({ selectors: { fields: selected } });
    const [header = ''] = places.files.text(SYNC_PATH).split('\n');
    const { fields } = JSON.parse(header) as { fields: FieldDescriptions };
    const rolesOf = (name: string) => [
      ...fields.searchable_fields.filter((field) => field.name === name).map(() => 'searchable'),
      ...fields.facets
        .filter((facet) => facet.name === name)
        .map(({ type, cardinality }) => `${cardinality} facet of ${type}s`),
      ...fields.resources.filter((resource) => resource.name === name).map(({ kind }) => kind),
    ];
    expect(Object.keys(selected).map((name) => [name, ...rolesOf(name)])).toEqual([
      ['price', 'searchable'],
      ['section', 'searchable', 'Many facet of strings'],
      ['published', 'searchable'],
      ['image', 'image'],
      ['title', 'searchable'],
    ]);
    expect(rolesOf('modified')).toEqual(['Single facet of dates']);
  });

  it('changes nothing if no page changed, and only makes conditional requests', async () => {
    fill(25);
    expect(await run()).toMatchObject({ added: 26, wasComplete: true });
    places.site.asked();
    expect(await run()).toMatchObject({ unchanged: 26, wasReplaced: false, wasComplete: true });
    expect(places.site.asked().filter((path) => !path.endsWith('if changed'))).toEqual(['/robots.txt']);
    expect(places.files.replaced).toBe(1);
  });

  it('fails if robots.txt now forbids the start URL, and removes nothing', async () => {
    fill(5);
    await run();
    const before = places.files.text(SYNC_PATH);
    places.site.pages.set('/robots.txt', (_asked, response) => response.end('User-agent: *\nDisallow: /'));
    await expect(run()).rejects.toThrow('robots.txt forbids it');
    expect(places.files.text(SYNC_PATH)).toBe(before);
  });

  it('keeps the record of a page whose type has changed, in all later runs', async () => {
    fill(5);
    await run();
    places.site.pages.set('/p1', (_asked, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end('x'),
    );
    for (let round = 0; round < 3; round += 1)
      expect(await run()).toMatchObject({ removed: 0, record_count: 6, wasComplete: false });
    places.site.pages.delete('/p1');
    expect(await run()).toMatchObject({ removed: 1, record_count: 5, wasComplete: true });
  });

  it('removes pages that are gone, and pages that nothing links to any more', async () => {
    fill(25);
    await run();
    places.site.pages.delete('/p3');
    places.site.pages.set('/', html('Home', 'Start', ...Array.from({ length: 20 }, (_, number) => `/p${number}`)));
    expect(await run()).toMatchObject({ removed: 6, changed: 0, record_count: 20 });
  });

  it.each([
    ['all pages become one of errors', () => html('Oops', 'Something went wrong')],
    ['all pages become a page to sign in', () => html('Sign in', 'Your session is over')],
    [
      'all pages become empty shells',
      (path: string) => `<title>${path}</title><div id=root></div><script src=x.js></script>`,
    ],
  ])('keeps its records if %s', async (_, page) => {
    fill(30);
    await run();
    const before = readFileSync(places.files.at(SYNC_PATH), 'utf8').split('\n').length;
    for (const path of places.site.pages.keys()) if (path !== '/') places.site.pages.set(path, page(path));
    expect(await run()).toMatchObject({ removed: 0 });
    expect(readFileSync(places.files.at(SYNC_PATH), 'utf8').split('\n').length).toBe(before);
  });

  it('fails if the site is down, and keeps its memory', async () => {
    fill(3);
    await run();
    const remembered = readFileSync(memoryPath(), 'utf8');
    places.site.pages.set('/', (_asked, response) => response.writeHead(500).end());
    await expect(run()).rejects.toThrow(SourceFailedError);
    expect(readFileSync(memoryPath(), 'utf8')).toBe(remembered);
    expect(existsSync(`${memoryPath()}.next`)).toBe(false);
  });

  it('remembers nothing of a run whose file could not be written', async () => {
    fill(3);
    await run();
    places.site.pages.set('/p1', html('p1', 'Anew'));
    places.files.room = 10;
    await expect(run()).rejects.toThrow('the store is full');
    places.files.room = Infinity;
    expect(await run()).toMatchObject({ changed: 1, unchanged: 3 });
  });

  it('lists in a preview what it would read, and keeps nothing', async () => {
    fill(3);
    places.site.pages.set('/p1', html('p0', 'About /p0'));
    places.site.pages.set('/p0', html('p0', 'About /p0'));
    places.site.pages.delete('/p2');
    const { pages, left_out, complete } = await discoverPages({
      settings: settingsOf(),
      limits,
      client: places.client,
      signal: new AbortController().signal,
      nowMs: () => NOW_MS,
    });
    expect(pages[0]).toEqual({ url: places.site.url('/'), title: 'Home', depth: 0, found: 'start' });
    expect([pages.length, left_out.length, complete]).toEqual([2, 2, true]);
    expect(left_out.find(({ url }) => url.endsWith('/p2'))?.why).toBe('There is no such page.');
  });

  it('lists in a preview what it read within a minute, and says that there is more', async () => {
    fill(40);
    // Each page takes five seconds by the clock that the crawl uses.
    let steadyMs = 0;
    for (const [path, page] of [...places.site.pages]) {
      places.site.pages.set(path, (asked, response) => {
        steadyMs += 5000;
        places.site.answer(asked, String(page), response);
      });
    }
    const { pages, left_out, complete } = await discoverPages({
      settings: settingsOf(),
      limits: { ...limits, runMsMax: 3_600_000, requestsMax: 1 },
      client: places.client,
      signal: new AbortController().signal,
      nowMs: () => NOW_MS,
      steadyMs: () => steadyMs,
    });
    // robots.txt took no time; the thirteenth page began after 60 s, and no further one did.
    expect([pages.length, complete, steadyMs]).toEqual([13, false, 65_000]);
    expect(left_out).toEqual([{ url: '28 pages', why: 'The time of a run was over.' }]);
  });
});

describe('CrawlMemoryFile', () => {
  const links = PageLinks.of(['https://a.example/ü', 'https://a.example/?q=},["x']);
  const page = (hash: string) => ({ names: ['n'], links, contentHash: hash, etag: '"x"' });
  const shown = (memory: CrawlMemoryFile, url: string) => {
    const kept = memory.page(url);
    return kept === undefined ? undefined : { ...kept, links: [...kept.links.urls], digests: [...kept.links.digests] };
  };
  const shownOf = (hash: string) => ({ ...page(hash), links: [...links.urls], digests: [...links.digests] });

  it('has what was committed, and the last of several versions of a page', () => {
    const first = new CrawlMemoryFile(memoryPath(), { isFresh: false });
    for (let number = 0; number < 5000; number += 1) first.keepPage(`https://a.example/${number}`, page(`h${number}`));
    first.keepPage('https://a.example/7', page('again'));
    first.keepFile('https://a.example/robots.txt', { status: 200, content: 'x'.repeat(2_000_000) });
    expect(first.page('https://a.example/7')).toBeUndefined();
    first.commit();
    const second = new CrawlMemoryFile(memoryPath(), { isFresh: false });
    expect(shown(second, 'https://a.example/4999')).toEqual(shownOf('h4999'));
    expect(shown(second, 'https://a.example/7')).toEqual(shownOf('again'));
    expect(second.file('https://a.example/robots.txt')?.content.length).toBe(2_000_000);
    expect(second.page('https://a.example/robots.txt')).toBeUndefined();
    second.discard();
    const fresh = new CrawlMemoryFile(memoryPath(), { isFresh: true });
    expect(fresh.page('https://a.example/7')).toBeUndefined();
    fresh.discard();
  });

  it('keeps pages as they were if they are kept again, in whatever order they are read', () => {
    const urls = Array.from({ length: 3000 }, (_, number) => `https://a.example/${number}?${'x'.repeat(number % 400)}`);
    const first = new CrawlMemoryFile(memoryPath(), { isFresh: true });
    for (const url of urls) first.keepPage(url, page(url));
    first.commit();
    for (const step of [1, 7, 1999]) {
      const again = new CrawlMemoryFile(memoryPath(), { isFresh: false });
      const read = urls
        .map((_, number) => urls[(number * step) % urls.length] ?? '')
        .map((url) => [url, again.page(url)] as const);
      for (const [url, known] of read.reverse()) if (known !== undefined) again.keepPage(url, known);
      again.commit();
    }
    const last = new CrawlMemoryFile(memoryPath(), { isFresh: false });
    for (const url of urls) expect(shown(last, url)).toEqual(shownOf(url));
    last.discard();
  });

  it('discards what is damaged and keeps the rest', () => {
    const written = new CrawlMemoryFile(memoryPath(), { isFresh: true });
    for (const name of ['a', 'b', 'c']) written.keepPage(`https://a.example/${name}`, page(name));
    written.commit();
    const whole = readFileSync(memoryPath(), 'utf8');
    for (let length = 0; length <= whole.length; length += 7) {
      writeFileSync(memoryPath(), whole);
      truncateSync(memoryPath(), length);
      const memory = new CrawlMemoryFile(memoryPath(), { isFresh: false });
      for (const name of ['a', 'b', 'c'])
        expect([undefined, name]).toContain(memory.page(`https://a.example/${name}`)?.contentHash);
      memory.discard();
    }
    writeFileSync(memoryPath(), whole.replace('"page"', '"pa\u0000e"'));
    const memory = new CrawlMemoryFile(memoryPath(), { isFresh: false });
    expect([memory.page('https://a.example/a'), memory.page('https://a.example/b')?.contentHash]).toEqual([
      undefined,
      'b',
    ]);
    memory.discard();
    writeFileSync(memoryPath(), whole.replace('format":2', 'format":1'));
    const other = new CrawlMemoryFile(memoryPath(), { isFresh: false });
    expect(other.page('https://a.example/b')).toBeUndefined();
    other.discard();
  });
});
