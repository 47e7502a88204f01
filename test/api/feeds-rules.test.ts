/** Tests the rules about feeds that are not in the table of their statuses, each with a test. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, fill, ok, siteOf, type ShownFeed } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { sitesOfEachTest } from '../support/feeds/used-sites.js';
import { html, MadeSite } from '../support/feeds/made-site.js';

let feeds: FeedService;
const sites = sitesOfEachTest();
beforeAll(async () => {
  feeds = await FeedService.start();
});
afterAll(() => feeds.close());

async function site(...names: readonly string[]): Promise<MadeSite> {
  const made = await siteOf(...names);
  sites.push(made);
  return made;
}

async function followed(name: string, made: MadeSite): Promise<FollowedFeed> {
  const settings = { start_urls: [made.url('/')] };
  return FollowedFeed.connect(feeds, name, { provider: 'website', settings, base: made.url('') });
}

describe('the records of a feed', () => {
  it('are there once if the source moves one to another URL', async () => {
    const made = await site('a', 'b');
    const feed = await followed('renamed', made);
    made.pages.set('/a', (_asked, response) => response.writeHead(301, { location: '/renamed' }).end());
    made.pages.set('/renamed', html('Page a', 'Something about a'));
    expect((await feed.sync()).names).toEqual(['/', '/b', '/renamed']);
    made.pages.delete('/a');
    made.pages.set('/', html('Home', 'Where it begins', '/b', '/renamed'));
    expect((await feed.sync()).names).toEqual(['/', '/b', '/renamed']);
  });

  it('are written again if deleted from the list, and other records of the list stay', async () => {
    const made = await site('a', 'b');
    const feed = await followed('shared', made);
    await feed.now();
    const records = await feeds.records('shared');
    const { id = '' } = records.find(({ name }) => name.endsWith('/a')) ?? {};
    ok(await feeds.client.delete(`/search-result/default/shared/${id}`));
    ok(await feeds.client.post('/search-result/default/shared', { name: 'my own', fields: { title: 'Mine' } }));
    const expected = ['/', '/a', '/b', 'my own'];
    expect((await feed.sync()).names).toEqual(expected);
    made.pages.delete('/a');
    expect((await feed.sync()).names).toEqual(['/', '/b', 'my own']);
  });
});

describe('a feed with a long interval', () => {
  it('is due sooner as soon as its interval is shortened, and still is after the answer', async () => {
    const [dayMs, minuteMs] = [86_400_000, 60_000];
    await feeds.connect('hurried', await site('a'));
    const put = async (minutes: number) =>
      ok(await feeds.client.put('/feed/default/hurried/interval', { interval_minutes: minutes })) as ShownFeed;
    await feeds.settled('hurried');
    await put(43_200);
    const { last_checked: checked } = await feeds.sync('hurried');
    // The time of the next sync is written by itself, after the outcome of the run.
    await eventually(
      () => feeds.feed('hurried'),
      ({ next_sync: next }) => Date.parse(next ?? '') - Date.parse(checked ?? '') > 29 * dayMs,
    );
    const soon = await put(5);
    expect(Date.parse(soon.next_sync ?? '') - Date.now()).toBeLessThanOrEqual(5.5 * minuteMs);
    expect(await feeds.feed('hurried')).toEqual(soon);
    // A longer interval counts from the last attempt: with the shorter one, the sync was due first.
    const later = await put(60);
    expect(Date.parse(later.next_sync ?? '')).toBe(Date.parse(checked ?? '') + 60 * minuteMs);
    expect(await feeds.feed('hurried')).toEqual(later);
  });
});

describe('deletion of a list', () => {
  it('releases its feed, which goes on and can be followed by another list', async () => {
    const made = await site('a');
    await followed('given', made);
    ok(await feeds.client.delete('/list/default/given'));
    await eventually(
      () => feeds.feed('given'),
      ({ searchable_in: lists }) => lists.length === 0,
    );
    fill(made, ['a', 'b']);
    expect(await feeds.sync('given')).toMatchObject({ status: 'Synced', record_count: 3 });
    await feeds.list('second');
    ok(await feeds.client.post('/list/default/second/feed', { feed: 'given' }));
    await feeds.holds(
      'second',
      ['/', '/a', '/b'].map((path) => made.url(path)),
    );
    expect((await feeds.feed('given')).searchable_in).toEqual(['second']);
  });
});

describe('the settings of a feed', () => {
  it('are shown with their defaults, have limits, and must fit the provider', async () => {
    const made = await MadeSite.start();
    sites.push(made);
    made.pages.set('/feed', '<rss><channel><item><title>One</title></item></channel></rss>');
    const rss = { name: 'shown', provider: 'rss', settings: { url: made.url('/feed') } };
    expect(ok(await feeds.control.post('/feed/default/connect', rss))).toMatchObject({
      file: 'feeds/shown.sync',
      media_store: 'default',
      interval_minutes: 30,
      settings: { url: made.url('/feed'), full_text: false, drop_left_items: false },
      has_secret: false,
    });
    await feeds.settled('shown');
    const put = (path: string, body: object) => feeds.client.put(`/feed/default/shown/${path}`, body);
    for (const [minutes, status] of [
      [4, 400],
      [5, 200],
      [43_200, 200],
      [43_201, 400],
    ])
      expect((await put('interval', { interval_minutes: minutes })).status).toBe(status);
    const settings = { start_urls: [made.url('/')] };
    expect(await put('web-scope', { settings })).toMatchObject({ status: 422 });
    expect(await feeds.control.post('/feed/default/connect', rss)).toMatchObject({
      status: 409,
      body: { code: 'name-exists' },
    });
    expect(await feeds.client.post('/list/default/nowhere/feed', { feed: 'shown' })).toMatchObject({ status: 404 });
    expect(await feeds.client.send('POST', '/feed/default/nowhere/sync')).toMatchObject({ status: 404 });
  });

  it('are read and changed only with the permissions for that', async () => {
    const made = await site('a');
    await feeds.connect('guarded', made);
    await feeds.settled('guarded');
    const reader = await feeds.service.clientFor({ access: 'custom', permissions: ['feed:read'] });
    const stranger = await feeds.service.clientFor({ access: 'custom', permissions: ['list:read'] });
    expect((await reader.get('/feed/default/guarded')).status).toBe(200);
    for (const [client, method, path, body] of [
      [stranger, 'GET', 'guarded', undefined],
      [stranger, 'GET', '', undefined],
      [reader, 'POST', 'guarded/sync', undefined],
      [reader, 'PUT', 'guarded/interval', { interval_minutes: 60 }],
      [reader, 'PUT', 'guarded/web-scope', { settings: { start_urls: [made.url('/')] } }],
      [reader, 'POST', 'connect', { name: 'x', provider: 'website', settings: { start_urls: [made.url('/')] } }],
    ] as const) {
      const options = body === undefined ? {} : { json: body };
      const { status } = await client.send(method, `/feed/default${path === '' ? '' : `/${path}`}`, options);
      expect([method, path, status]).toEqual([method, path, 403]);
    }
  });

  it('have their secret encrypted: no file of the data directory contains it', async () => {
    const made = await MadeSite.start();
    sites.push(made);
    made.pages.set('/items', (_asked, response) => response.end('{"data":[{"id":1}]}'));
    const settings = { url: made.url('/items'), records: 'data', name: 'id', auth_header: { name: 'X-Token' } };
    const secret = 'at-r3st-t0ken-of-a-feed';
    ok(await feeds.control.post('/feed/default/connect', { name: 'sealed', provider: 'api', settings, secret }));
    await feeds.settled('sealed');
    const { dataDir } = feeds.service;
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(3);
    for (const { parentPath, name } of files) {
      const path = join(parentPath, name);
      expect([path, readFileSync(path).includes(secret)]).toEqual([path, false]);
    }
  });
});

describe('a preview of a website', () => {
  it('says how each page was found, ends at 200 pages, and stores nothing', async () => {
    const names = Array.from({ length: 250 }, (_, number) => `p${number}`);
    const made = await site(...names);
    made.pages.set('/sitemap.xml', '<urlset><url><loc>/only-there</loc></url></urlset>');
    made.pages.set('/only-there', html('Only there', 'It is in the sitemap alone'));
    const before = await feeds.client.get('/feed/default', { size: 1000 });
    const { pages, complete } = ok(
      await feeds.client.post('/feed/default/web/discover', {
        settings: { start_urls: [made.url('/')], pages_max: 1000 },
      }),
    ) as { readonly pages: readonly { readonly url: string; readonly found: string }[]; readonly complete: boolean };
    expect([pages.length, complete]).toEqual([200, false]);
    expect(pages.find(({ url }) => url === made.url('/only-there'))?.found).toBe('sitemap');
    const named = (text: string) => (JSON.parse(text) as { feeds: { name: string }[] }).feeds.map(({ name }) => name);
    expect(named((await feeds.client.get('/feed/default', { size: 1000 })).text)).toEqual(named(before.text));
  });
});
