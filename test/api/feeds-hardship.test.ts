/**
 * Tests troubles on the feed's own side: its file is deleted or damaged in the media store, and many clients try
 * sources at once or disconnect.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { FeedService, ok, siteOf } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { MadeSite } from '../support/feeds/made-site.js';

/** The most sources that are tried at the same time. */
const TRIED_MAX = 16;

const outside = mkdtempSync(join(tmpdir(), 'gannet-feeds-'));
let feeds: FeedService;
const sites: MadeSite[] = [];
beforeAll(async () => {
  feeds = await FeedService.start({ env: { GANNET_MEDIA_FOLDERS: outside } });
});
afterAll(async () => {
  await feeds.close();
  rmSync(outside, { recursive: true, force: true });
});
afterEach(async () => {
  await Promise.all(sites.splice(0).map((site) => site.close()));
});

const item = (title: string) => `<item><title>${title}</title><guid>${title}</guid></item>`;
async function news(...titles: readonly string[]): Promise<MadeSite> {
  const site = await MadeSite.start();
  sites.push(site);
  has(site, ...titles);
  return site;
}
function has(site: MadeSite, ...titles: readonly string[]): void {
  const feed = `<rss version="2.0"><channel>${titles.map(item).join('')}</channel></rss>`;
  site.pages.set('/feed', (_asked, response) => response.setHeader('content-type', 'text/xml').end(feed));
}

describe('the file of a feed', () => {
  const path = (name: string) => `/media/default/default/feeds/${name}.sync`;

  it.each<[string, (name: string) => Promise<unknown>]>([
    ['is removed from its store', (name) => feeds.control.delete(path(name))],
    ['is cut in its store', (name) => replaced(name, (text) => text.slice(0, text.length / 2))],
    ['is another thing in its store', (name) => replaced(name, () => '<html>Not a feed</html>')],
    ['lacks a record in its store', (name) => replaced(name, (text) => text.replace(/\n\{"name"[^\n]*/, ''))],
  ])('if it %s, is restored by the next sync, with records that the source no longer has', async (what, damage) => {
    const name = what.replace(/\W+/g, '-');
    const site = await news('One', 'Two');
    const feed = await FollowedFeed.connect(feeds, name, { provider: 'rss', settings: { url: site.url('/feed') } });
    has(site, 'Two', 'Three');
    const before = (await feed.sync()).records;
    expect(before.map(({ fields }) => fields['title']).sort()).toEqual(['One', 'Three', 'Two']);
    const file = (await feeds.file(name)).text;
    for (const isAsItWas of [true, false]) {
      ok((await damage(name)) as Awaited<ReturnType<FeedService['file']>>);
      if (!isAsItWas) has(site, 'Three', 'Four');
      const { records, feed: shown } = await feed.sync();
      expect(shown.status).toBe('Synced');
      if (isAsItWas) expect([records, (await feeds.file(name)).text]).toEqual([before, file]);
      else expect(records).toHaveLength(4);
    }
  });

  async function replaced(name: string, change: (text: string) => string) {
    const { text } = await feeds.file(name);
    return feeds.control.send('PUT', path(name), {
      bytes: change(text),
      headers: { 'content-type': 'application/x-ndjson' },
    });
  }
});

describe('a media store that cannot be reached', () => {
  it('fails the sync and keeps all records, whether its folder is missing or empty', async () => {
    const folder = join(outside, 'disk');
    mkdirSync(folder);
    for (const name of ['a.pdf', 'b.pdf', 'c.pdf']) writeFileSync(join(folder, name), name);
    ok(await feeds.control.post('/media-store/default', { name: 'disk', kind: 'folder', folder }));
    const feed = await FollowedFeed.connect(feeds, 'files', { provider: 'media-store', settings: { store: 'disk' } });
    const before = (await feed.now()).records;
    expect(before.map(({ name }) => name)).toEqual(['a.pdf', 'b.pdf', 'c.pdf']);
    renameSync(folder, `${folder}-away`);
    const missing = await feed.sync();
    expect([missing.records, missing.feed.status]).toEqual([before, 'Failed']);
    expect(missing.feed.error?.message).toContain('does not exist');
    mkdirSync(folder);
    const empty = await feed.sync();
    expect([empty.records, empty.feed.status]).toEqual([before, 'Failed']);
    expect(empty.feed.error?.message).toContain('not mounted');
    rmSync(folder, { recursive: true });
    renameSync(`${folder}-away`, folder);
    rmSync(join(folder, 'b.pdf'));
    expect((await feed.sync()).names).toEqual(['a.pdf', 'c.pdf']);
  });

  it('fails the sync of a feed whose file it has, and the list keeps its records', async () => {
    const folder = join(outside, 'files');
    mkdirSync(folder);
    ok(await feeds.control.post('/media-store/default', { name: 'files', kind: 'folder', folder }));
    const site = await news('One', 'Two');
    const settings = { url: site.url('/feed') };
    ok(
      await feeds.control.post('/feed/default/connect', {
        name: 'kept',
        provider: 'rss',
        media_store: 'files',
        settings,
      }),
    );
    await feeds.list('kept');
    ok(await feeds.client.post('/list/default/kept/feed', { feed: 'kept' }));
    expect((await feeds.settled('kept')).status).toBe('Synced');
    await feeds.holds('kept', ['One', 'Two']);
    renameSync(folder, `${folder}-away`);
    has(site, 'Two', 'Three');
    expect(await feeds.sync('kept')).toMatchObject({
      status: 'Failed',
      error: { message: expect.stringContaining('does not exist') as string },
    });
    expect(await feeds.names('kept')).toEqual(['One', 'Two']);
    renameSync(`${folder}-away`, folder);
    expect((await feeds.sync('kept')).status).toBe('Synced');
    await feeds.holds('kept', ['One', 'Three', 'Two']);
  });
});

describe('trying of sources', () => {
  const body = (site: MadeSite) => ({ settings: { start_urls: [site.url('/')] } });
  const discover = (site: MadeSite, signal?: AbortSignal) =>
    fetch(`${feeds.service.address}/feed/default/web/discover`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body(site)),
      ...(signal === undefined ? {} : { signal }),
    });
  let key = '';
  beforeAll(async () => {
    ({ key } = await feeds.service.createKey({ access: 'full' }));
  });

  it('is limited to a number at a time, ends when the client disconnects, and leaves room for feeds', async () => {
    const silent = await MadeSite.start();
    sites.push(silent);
    silent.server.script = () => undefined;
    const left = new AbortController();
    const asked = Array.from({ length: 40 }, () =>
      discover(silent, left.signal).then(
        ({ status, headers }) => ({ status, retryAfter: headers.get('retry-after') }),
        () => 'left',
      ),
    );
    const refused = asked.length - TRIED_MAX;
    let answered: unknown[] = [];
    for (const each of asked) void each.then((answer) => (answered = [...answered, answer]));
    await eventually(
      () => Promise.resolve(answered.length),
      (count) => count >= refused,
    );
    expect(answered).toEqual(Array.from({ length: refused }, () => ({ status: 503, retryAfter: '10' })));
    const busy = await feeds.control.post('/feed/default/connect', {
      name: 'refused',
      provider: 'website',
      ...body(silent),
    });
    expect(busy).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    left.abort();
    expect(await Promise.all(asked)).toContain('left');
    // There is room again, and no more requests are made to the silent site.
    const site = await siteOf('a');
    sites.push(site);
    await eventually(
      () => discover(site).then(({ status }) => status),
      (status) => status === 200,
    );
    await eventually(
      () => Promise.resolve(silent.server.underWay),
      (count) => count === 0,
    );
  });
});
