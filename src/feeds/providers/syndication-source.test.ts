import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { MadeFolder, sync, SYNC_PATH } from '../../../test/support/feeds/made-source.js';
import { html, NOW_MS, type MadePage } from '../../../test/support/feeds/made-site.js';
import { usePlaces } from '../../../test/support/feeds/places.js';
import { readSyncFile } from '../file/sync-file.js';
import type { SourceRecord } from '../source/source-run.js';
import { SyndicationSource, type SyndicationMemory, type SyndicationSettings } from './syndication-source.js';

const places = usePlaces<SyndicationMemory>();

interface Item {
  readonly link?: string;
  readonly guid?: string;
  readonly title?: string;
  readonly published?: string;
}

function feed(...items: readonly Item[]): MadePage {
  const written = items.map(
    ({ link, guid, title, published }) =>
      `<item>${published === undefined ? '' : `<pubDate>${published}</pubDate>`}${link === undefined ? '' : `<link>${link}</link>`}${guid === undefined ? '' : `<guid isPermaLink="false">${guid}</guid>`}<title>${title ?? 'T'}</title></item>`,
  );
  return `<rss version="2.0"><channel><title>News</title>${written.join('')}</channel></rss>`;
}

function run(settings: Partial<SyndicationSettings> = {}, isFresh = false) {
  const source = new SyndicationSource({
    settings: { url: places.site.url('/feed'), full_text: false, drop_left_items: false, ...settings },
    client: places.client,
    memory: places.memory,
    nowMs: () => NOW_MS,
    bytesMax: 1_000_000,
  });
  return sync(places.files, source, { isFresh });
}

async function records(): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const bytes = await places.files.read(SYNC_PATH);
  if (bytes === undefined) return found;
  for await (const { line } of (await readSyncFile(bytes)).lines) {
    const { name, fields } = JSON.parse(line) as SourceRecord;
    found[name.replace(places.site.url(''), '')] = fields['title'];
  }
  return found;
}

describe('SyndicationSource', () => {
  it('keeps an item that left the feed, unless drop_left_items is set', async () => {
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }, { link: '/2', title: 'Two' }));
    await run();
    places.site.pages.set('/feed', feed({ link: '/2', title: 'Two, anew' }, { link: '/3', title: 'Three' }));
    expect(await run()).toMatchObject({ added: 1, changed: 1, unchanged: 1, removed: 0 });
    expect(await records()).toEqual({ '/1': 'One', '/2': 'Two, anew', '/3': 'Three' });
    places.site.pages.set('/feed', feed({ link: '/3', title: 'Three' }, { link: '/4' }));
    expect(await run({ drop_left_items: true })).toMatchObject({ added: 1, removed: 2, unchanged: 1 });
  });

  it('makes a conditional request if it read the feed before', async () => {
    places.site.pages.set('/feed', feed({ link: '/1' }));
    await run();
    expect(await run()).toMatchObject({ unchanged: 1, wasReplaced: false });
    expect(places.site.asked()).toEqual(['/feed', '/feed if changed']);
  });

  it('recognizes items by their links if all guids change, and distinguishes items that share one', async () => {
    places.site.pages.set('/feed', feed({ link: '/1', guid: 'a' }, { link: '/2', guid: 'b' }));
    await run();
    places.site.pages.set('/feed', feed({ link: '/1?utm_source=rss', guid: 'x' }, { link: '/2', guid: 'y' }));
    expect(await run()).toMatchObject({ added: 0, record_count: 2 });
    places.site.pages.set(
      '/feed',
      feed(
        { link: '/', guid: 'a' },
        { link: '/', guid: 'b' },
        { guid: 'c' },
        { guid: 'c', title: 'Other' },
        { title: 'Bare' },
        { title: 'Bare' },
      ),
    );
    expect(await run({ drop_left_items: true })).toMatchObject({ record_count: 5, skipped_count: 1 });
    expect(Object.keys(await records()).filter((name) => !name.includes('#'))).toEqual(['a', 'b']);
  });

  it.each([
    [{ published: 'Mon, 02 Nov 2026 10:00:00 GMT' }, { title: 'Renamed', published: 'Mon, 02 Nov 2026 10:00:00 GMT' }],
    [{ title: 'One' }, { title: 'One' }],
  ])('renames a record if the address of its item changes, but not its guid: %j', async (before, now) => {
    const others = [{ link: '/2', guid: 'b', title: 'Two' }];
    places.site.pages.set('/feed', feed({ link: '/one', guid: 'a', ...before }, ...others));
    await run();
    places.site.pages.set('/feed', feed({ link: '/renamed', guid: 'a', ...now }, ...others));
    expect(await run()).toMatchObject({ added: 1, removed: 1, unchanged: 1, record_count: 2 });
    expect(Object.keys(await records())).toEqual(['/2', '/renamed']);
  });

  it.each<[string, readonly Item[], readonly Item[]]>([
    [
      'numbers its items anew',
      [{ link: '/1', guid: '1', published: 'Mon, 02 Nov 2026 10:00:00 GMT' }],
      [{ link: '/2', guid: '1', published: 'Tue, 03 Nov 2026 10:00:00 GMT' }],
    ],
    [
      'gives no times, and numbers its items anew',
      [{ link: '/1', guid: '1', title: 'One' }],
      [{ link: '/2', guid: '1' }],
    ],
    ['has guids of several items', [{ link: '/1', guid: '1' }], ['/2', '/3'].map((link) => ({ link, guid: '1' }))],
  ])('keeps a record whose item left a feed that %s', async (_, before, now) => {
    places.site.pages.set('/feed', feed(...before));
    await run();
    places.site.pages.set('/feed', feed(...now));
    expect(await run()).toMatchObject({ added: now.length, removed: 0 });
  });

  it.each<[string, MadePage, string]>([
    ['a web page', html('Sign in', 'Please'), 'web page'],
    ['nothing', (_asked, response) => response.end(), 'empty'],
    ['401', (_asked, response) => response.writeHead(401).end(), '401'],
    ['503', (_asked, response) => response.writeHead(503, { 'retry-after': '60' }).end(), '503'],
    ['a broken connection', (_asked, response) => response.destroy(), 'cannot be read'],
    ['a bomb', (_asked, response) => response.end(Buffer.alloc(1_000_001, 0x20)), 'more than 1000000 bytes'],
    [
      'a redirect to where nobody may go',
      (_asked, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end(),
      'cannot be read',
    ],
  ])('fails if the URL answers with %s, and keeps the records', async (_, page, why) => {
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }));
    await run();
    places.site.pages.set('/feed', page);
    await expect(run({ drop_left_items: true })).rejects.toThrow(why);
    expect(await records()).toEqual({ '/1': 'One' });
  });

  it('renames a record each time that its item is renamed in a feed that breaks off', async () => {
    const titled = { guid: 'a', title: 'One', published: 'Mon, 02 Nov 2026 10:00:00 GMT' };
    for (const link of ['/1', '/2', '/3']) {
      const whole = feed({ link, ...titled }, { link: '/other', guid: 'b' }) as string;
      places.site.pages.set('/feed', whole.slice(0, whole.indexOf('</item>') + 9));
      await run();
      expect(await records()).toEqual({ [link]: 'One' });
    }
  });

  it('removes nothing if the feed breaks off', async () => {
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }, { link: '/2', title: 'Two' }));
    await run({ drop_left_items: true });
    const whole = places.site.pages.get('/feed') as string;
    places.site.pages.set('/feed', whole.slice(0, whole.indexOf('</item>') + 9));
    expect(await run({ drop_left_items: true })).toMatchObject({ removed: 0, unchanged: 2, skipped_count: 1 });
  });

  it('reads nothing of an item in which the feed breaks off, and requests the whole feed the next time', async () => {
    const items = [
      { link: '/1', title: 'One' },
      { link: '/2', title: 'Two and more' },
    ];
    const whole = feed(...items) as string;
    places.site.pages.set('/feed', whole);
    await run();
    places.site.pages.set('/feed', whole.slice(0, whole.indexOf(' and more')));
    const { skipped } = await run();
    expect(skipped).toMatchObject([{ why: 'The feed breaks off; items are missing at its end.' }]);
    expect(await records()).toEqual({ '/1': 'One', '/2': 'Two and more' });
    places.site.asked();
    expect(await run()).toMatchObject({ skipped_count: 1 });
    expect(places.site.asked()).toEqual(['/feed']);
  });

  it('keeps the article that it has if its URL answers with something that is no text', async () => {
    places.site.pages.set('/1', html('One', 'The whole article about one'));
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }));
    await run({ full_text: true });
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One, anew' }));
    places.site.pages.set('/1', (_asked, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(gzipSync('<p>One</p>')),
    );
    const why = 'The article is not there: It is no text, whatever its type says.';
    expect(await run({ full_text: true })).toMatchObject({ unchanged: 1, skipped: [{ why }] });
    expect(places.files.text(SYNC_PATH)).toContain('The whole article about one');
  });

  it('fetches an article once for each version of its item, and keeps what it has if that fails', async () => {
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }, { link: '/2', title: 'Two' }));
    places.site.pages.set('/1', html('One', 'The whole article about one'));
    const first = await run({ full_text: true });
    expect(first).toMatchObject({ added: 2, skipped: [{ why: 'The article is not there: It is no page with text.' }] });
    expect(places.files.text(SYNC_PATH)).toContain('The whole article about one');
    places.site.asked();
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }, { link: '/2', title: 'Two' }, { link: '/3' }));
    places.site.pages.set('/3', html('Three', 'About three'));
    await run({ full_text: true });
    expect(places.site.asked().filter((path) => path === '/1')).toEqual([]);
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One, corrected' }));
    places.site.pages.delete('/1');
    // However often it fails, even in runs that read everything again.
    for (const isFresh of [false, false, true, false]) {
      expect(await run({ full_text: true }, isFresh)).toMatchObject({ changed: 0, unchanged: 3 });
      expect(places.files.text(SYNC_PATH)).toContain('The whole article about one');
    }
    places.files.remove();
    places.files = new MadeFolder();
    expect(await run({ full_text: true })).toMatchObject({ added: 1 });
    expect(await records()).toEqual({ '/1': 'One, corrected' });
  });

  it('retries an article that failed temporarily, although the feed has not changed', async () => {
    places.site.pages.set('/feed', feed({ link: '/1', title: 'One' }));
    places.site.pages.set('/1', (_asked, response) => response.writeHead(500).end());
    expect(await run({ full_text: true })).toMatchObject({ added: 1, skipped_count: 1 });
    places.site.pages.set('/1', html('One', 'The article about one'));
    expect(await run({ full_text: true })).toMatchObject({ changed: 1, skipped_count: 0 });
    expect(places.files.text(SYNC_PATH)).toContain('The article about one');
  });

  it('fetches all articles over several runs, however many a run fetches, and loses none', async () => {
    const all = Array.from({ length: 501 }, (_, number) => number);
    const listed = feed(...all.map((number) => ({ link: `/${number}`, title: `T${number}` }))) as string;
    for (const number of all) places.site.pages.set(`/${number}`, html(`T${number}`, `Article ${number}.`));
    places.site.pages.set('/feed', listed);
    const articles = () => places.files.text(SYNC_PATH).match(/Article \d+/g)?.length;
    await run({ full_text: true });
    expect(articles()).toBe(500);
    await run({ full_text: true });
    expect(articles()).toBe(501);
    expect(await run({ full_text: true }, true)).toMatchObject({ changed: 0, unchanged: 501, skipped_count: 1 });
    expect(await run({ full_text: true })).toMatchObject({ changed: 0, unchanged: 501, skipped_count: 0 });
    expect(articles()).toBe(501);
  });
});
