/**
 * Tests feeds from outside: each row of the table of statuses, each sentence below it, and which permissions are
 * needed.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { forbiddenUrls } from '../support/forbidden-urls.js';
import { FeedService, fill, held, ok, siteOf, type ShownFeed } from '../support/feeds/feed-service.js';
import { html, type MadeSite } from '../support/feeds/made-site.js';
import { sitesOfEachTest } from '../support/feeds/used-sites.js';

const outside = mkdtempSync(join(tmpdir(), 'gannet-feeds-'));
let feeds: FeedService;
const sites = sitesOfEachTest();
beforeAll(async () => {
  feeds = await FeedService.start({ env: { GANNET_MEDIA_FOLDERS: outside } });
});
afterAll(async () => {
  await feeds.close();
  rmSync(outside, { recursive: true, force: true });
});

async function site(...names: readonly string[]): Promise<MadeSite> {
  const made = await siteOf(...names);
  sites.push(made);
  return made;
}

const broken = (made: MadeSite) => {
  for (const path of made.pages.keys()) made.pages.set(path, (_asked, response) => response.writeHead(500).end());
};

describe('the status of a feed', () => {
  it('is "Waiting for first sync" when it is connected, and its first sync starts right away', async () => {
    const made = await site('a', 'b');
    const connected = await feeds.connect('first', made);
    expect(['Waiting for first sync', 'Syncing']).toContain(connected.status);
    expect(connected).toMatchObject({ last_checked: null, last_synced: null, error: null, record_count: 0 });
    expect(await feeds.settled('first')).toMatchObject({ status: 'Synced', record_count: 3, last_run: { added: 3 } });
  });

  it('is not created if a setting is wrong, and nothing is stored', async () => {
    const made = await site('a');
    broken(made);
    const bad = (provider: string, settings: object) =>
      feeds.control.post('/feed/default/connect', { name: 'bad', provider, settings });
    const web = { start_urls: [made.url('/')] };
    for (const [provider, settings] of [
      ['website', web],
      ['rss', { url: made.url('/') }],
      ['api', { url: made.url('/'), records: 'data', name: 'id' }],
    ] as const)
      expect(await bad(provider, settings), provider).toMatchObject({ status: 422, body: { code: 'source-unusable' } });
    made.pages.set('/', html('A page', 'Not data'));
    expect(await bad('rss', { url: made.url('/') })).toMatchObject({ status: 422 });
    expect(await bad('api', { url: made.url('/'), records: 'data', name: 'id' })).toMatchObject({ status: 422 });
    made.pages.set('/data', (_asked, response) => response.end('{"data":[{"uid":1},{"uid":2}]}'));
    expect(await bad('api', { url: made.url('/data'), records: 'data', name: 'id' })).toMatchObject({
      status: 422,
      body: { detail: "The answer has 2 records, of which none has a name at 'id'." },
    });
    expect(await bad('media-store', { store: 'nowhere' })).toMatchObject({ status: 404 });
    expect(await bad('website', { start_urls: ['https://10.0.0.1/'] })).toMatchObject({ status: 400 });
    expect(await bad('website', { ...web, selectors: { title: 'h1[' } })).toMatchObject({ status: 400 });
    expect(await bad('website', { ...web, dept_max: 3 })).toMatchObject({ status: 400 });
    expect((await feeds.client.get('/feed/default/bad')).status).toBe(404);
  });

  it('is "Syncing" for every reader during a run, and no second run begins', async () => {
    const made = await site('a');
    await feeds.connect('running', made);
    const before = await feeds.settled('running');
    const { asked, release } = held(made, '/a');
    ok(await feeds.client.send('POST', '/feed/default/running/sync'));
    await asked;
    expect((await feeds.feed('running')).status).toBe('Syncing');
    const listed = ok(await feeds.control.get('/feed/default')) as { readonly feeds: readonly ShownFeed[] };
    expect(listed.feeds.find(({ name }) => name === 'running')?.status).toBe('Syncing');
    expect(await feeds.client.send('POST', '/feed/default/running/sync')).toMatchObject({
      status: 409,
      body: { code: 'feed-syncing' },
    });
    const jobs = ok(await feeds.client.get('/progress/default')) as { readonly jobs: readonly object[] };
    expect(jobs.jobs).toContainEqual(expect.objectContaining({ kind: 'feed-sync', name: 'running', state: 'running' }));
    release();
    expect((await feeds.settled('running', before.last_checked)).status).toBe('Synced');
  });

  it('is "Synced" after a run that ends well, and its file is rewritten only if the source has changed', async () => {
    const made = await site('a', 'b');
    await feeds.connect('good', made);
    await feeds.settled('good');
    const first = await feeds.file('good');
    expect(await feeds.sync('good')).toMatchObject({ status: 'Synced', last_run: { changed: 0, unchanged: 3 } });
    const second = await feeds.file('good');
    expect([second.headers.etag, second.headers['last-modified']]).toEqual([
      first.headers.etag,
      first.headers['last-modified'],
    ]);
    fill(made, ['a', 'c']);
    expect(await feeds.sync('good')).toMatchObject({ last_run: { added: 1, removed: 1 } });
    const third = await feeds.file('good');
    expect(third.text).toContain('/c');
    expect(third.text).not.toContain('/b"');
  });

  it('is "Failed" after a run that fails, with reason and time, and the list keeps the last good records', async () => {
    const made = await site('a', 'b');
    await feeds.connect('failing', made);
    await feeds.list('failing-list');
    ok(await feeds.client.post('/list/default/failing-list/feed', { feed: 'failing' }));
    const names = ['/', '/a', '/b'].map((path) => made.url(path));
    await feeds.holds('failing-list', names);
    broken(made);
    const failed = await feeds.sync('failing');
    expect(failed.status).toBe('Failed');
    expect(failed.error?.message).toContain('500');
    expect(failed.error?.at).toBe(failed.last_checked);
    expect(failed.last_synced).not.toBe(failed.last_checked);
    await feeds.holds('failing-list', names);
    expect(failed.record_count).toBe(3);
    // It still cannot be reached, so it stays failed, and is checked again.
    const again = await feeds.sync('failing');
    expect(again.status).toBe('Failed');
    expect(Date.parse(again.error?.at ?? '')).toBeGreaterThan(Date.parse(failed.error?.at ?? ''));
    // It can be reached again, so the error is cleared.
    fill(made, ['a', 'b', 'c']);
    expect(await feeds.sync('failing')).toMatchObject({ status: 'Synced', error: null });
    await feeds.holds('failing-list', [...names, made.url('/c')]);
  });
});

describe('a feed and its list', () => {
  it('can be connected before the first sync, which fills the list with the fields that the feed describes', async () => {
    const made = await site('a', 'b');
    const { asked, release } = held(made, '/a');
    await feeds.connect('late', made);
    await feeds.list('late-list');
    await asked;
    ok(await feeds.client.post('/list/default/late-list/feed', { feed: 'late' }));
    expect(await feeds.source('late-list')).toMatchObject({ status: 'Waiting for first import', feed: 'late' });
    release();
    await feeds.holds(
      'late-list',
      ['/', '/a', '/b'].map((path) => made.url(path)),
    );
    const list = ok(await feeds.client.get('/list/default/late-list')) as {
      readonly searchable_fields: readonly { readonly name: string }[];
      readonly facets: readonly { readonly name: string }[];
      readonly current_version: number;
    };
    expect(list.searchable_fields.map(({ name }) => name)).toContain('headings');
    expect(list.facets.map(({ name }) => name)).toContain('language');
    const found = ok(
      await feeds.client.post(`/search/default/late-list/${list.current_version}`, { query: 'about a' }),
    );
    expect(found).toMatchObject({ results: [{ source: 'feed:late' }, {}] });
    expect((await feeds.feed('late')).searchable_in).toEqual(['late-list']);
  });

  it('are not connected if the list imports already or another list follows the feed', async () => {
    const made = await site('a');
    await feeds.connect('one', made);
    await feeds.connect('two', made);
    for (const name of ['taken', 'free']) await feeds.list(name);
    const bind = (list: string, feed: string) => feeds.client.post(`/list/default/${list}/feed`, { feed });
    ok(await bind('taken', 'one'));
    ok(await bind('taken', 'one'));
    expect(await bind('taken', 'two')).toMatchObject({ status: 409, body: { code: 'already-importing' } });
    const inUse = await bind('free', 'one');
    expect(inUse).toMatchObject({ status: 409, body: { code: 'feed-in-use' } });
    expect(inUse.text).toContain("'taken'");
    const file = { media_store: 'default', path: 'feeds/one.sync' };
    expect(await feeds.client.post('/list/default/free/source', file)).toMatchObject({ body: { code: 'feed-in-use' } });
    ok(await feeds.client.delete('/list/default/taken/source'));
    ok(await bind('free', 'one'));
  });

  it('undo what was edited in the list, and leave unchanged records alone', async () => {
    const made = await site('a', 'b');
    await feeds.connect('edited', made);
    await feeds.list('edited-list');
    ok(await feeds.client.post('/list/default/edited-list/feed', { feed: 'edited' }));
    await feeds.holds(
      'edited-list',
      ['/', '/a', '/b'].map((path) => made.url(path)),
    );
    const before = await feeds.records('edited-list');
    const { id = '' } = before.find(({ name }) => name.endsWith('/a')) ?? {};
    ok(await feeds.client.patch(`/search-result/default/edited-list/${id}`, { fields: { title: 'Mine' } }));
    await feeds.sync('edited');
    const after = await eventually(
      () => feeds.records('edited-list'),
      (records) => records.every(({ fields }) => fields['title'] !== 'Mine'),
    );
    const unchanged = after.filter((record) => record.id !== id);
    expect(unchanged).toEqual(before.filter((record) => record.id !== id));
  });

  it('are separated if the feed is deleted: its file is deleted, and the list keeps its records', async () => {
    const made = await site('a');
    await feeds.connect('dead', made);
    await feeds.list('orphan');
    ok(await feeds.client.post('/list/default/orphan/feed', { feed: 'dead' }));
    const names = ['/', '/a'].map((path) => made.url(path));
    await feeds.holds('orphan', names);
    expect(await feeds.client.delete('/feed/default/dead')).toMatchObject({
      status: 403,
      body: { code: 'console-only' },
    });
    ok(await feeds.control.delete('/feed/default/dead'));
    expect((await feeds.file('dead')).status).toBe(404);
    expect((await feeds.client.get('/feed/default/dead')).status).toBe(404);
    expect((await feeds.client.get('/list/default/orphan/source')).status).toBe(404);
    await feeds.holds('orphan', names);
  });

  it('keep their records if the media store is full, and the feed fails with that reason', async () => {
    const small = await FeedService.start({ env: { GANNET_MEDIA_DEFAULT_STORE_BYTES_MAX: '1000000' } });
    const made = await site('a');
    await small.connect('large', made);
    await small.list('large-list');
    ok(await small.client.post('/list/default/large-list/feed', { feed: 'large' }));
    await small.holds(
      'large-list',
      ['/', '/a'].map((path) => made.url(path)),
    );
    ok(await small.client.send('PUT', '/media/default/default/ballast.bin', { bytes: Buffer.alloc(995_000, 1) }));
    fill(made, ['a', 'b'], 'word '.repeat(5000));
    const failed = await small.sync('large');
    expect(failed).toMatchObject({ status: 'Failed', record_count: 2 });
    expect(failed.error?.message).toMatch(/1000000|1,000,000|full/);
    expect(await small.names('large-list')).toHaveLength(2);
    ok(await small.client.delete('/media/default/default/ballast.bin'));
    expect(await small.sync('large')).toMatchObject({ status: 'Synced', record_count: 3 });
    await small.close();
  });
});

describe('moving a feed to another media store', () => {
  it('moves its file, switches its list to it, and adds no record twice', async () => {
    const made = await site('a', 'b');
    const folder = await otherStore('archive');
    await feeds.connect('mover', made);
    await feeds.list('mover-list');
    ok(await feeds.client.post('/list/default/mover-list/feed', { feed: 'mover' }));
    const names = ['/', '/a', '/b'].map((path) => made.url(path));
    await feeds.holds('mover-list', names);
    const before = await feeds.records('mover-list');
    const { last_checked: checked } = await feeds.settled('mover');
    expect(await feeds.client.post('/feed/default/mover/move', { media_store: folder })).toMatchObject({ status: 403 });
    ok(await feeds.control.post('/feed/default/mover/move', { media_store: folder }));
    expect((await feeds.file('mover')).status).toBe(404);
    expect((await feeds.file('mover', folder)).status).toBe(200);
    expect(await feeds.settled('mover', checked)).toMatchObject({ media_store: folder, status: 'Synced' });
    expect(await feeds.source('mover-list')).toMatchObject({ media_store: folder });
    await eventually(
      () => feeds.source('mover-list'),
      ({ status }) => status === 'Imported',
    );
    expect(await feeds.records('mover-list')).toEqual(before);
    // Moving it there again changes nothing.
    const moved = await feeds.feed('mover');
    expect(ok(await feeds.control.post('/feed/default/mover/move', { media_store: folder }))).toEqual(moved);
    expect(await feeds.control.delete(`/media-store/default/${folder}`)).toMatchObject({ status: 409 });
  });

  it('is refused for a feed of a media store, and during a sync', async () => {
    const made = await site('a');
    const folder = await otherStore('elsewhere');
    ok(await feeds.client.send('PUT', '/media/default/default/files/a.txt', { bytes: 'one' }));
    const settings = { store: 'default', prefix: 'files/' };
    ok(await feeds.control.post('/feed/default/connect', { name: 'files', provider: 'media-store', settings }));
    expect(await feeds.settled('files')).toMatchObject({ status: 'Synced', record_count: 1 });
    expect(await feeds.control.post('/feed/default/files/move', { media_store: folder })).toMatchObject({
      status: 422,
    });
    const { asked, release } = held(made, '/a');
    await feeds.connect('busy', made);
    await asked;
    expect(await feeds.control.post('/feed/default/busy/move', { media_store: folder })).toMatchObject({
      status: 409,
      body: { code: 'feed-syncing' },
    });
    release();
    await feeds.settled('busy');
  });
});

describe('settings of a feed', () => {
  it('include the interval and the pages of a website, which can be previewed', async () => {
    const made = await site('a', 'b', 'c');
    await feeds.connect('scoped', made);
    await feeds.settled('scoped');
    const put = (path: string, body: object) => feeds.client.put(`/feed/default/scoped/${path}`, body);
    expect(await put('interval', { interval_minutes: 4 })).toMatchObject({ status: 400 });
    expect(ok(await put('interval', { interval_minutes: 60 }))).toMatchObject({ interval_minutes: 60 });
    const settings = { start_urls: [made.url('/')], exclude: ['/b'] };
    const preview = ok(await feeds.client.post('/feed/default/web/discover', { settings })) as {
      readonly pages: readonly { readonly url: string; readonly found: string }[];
    };
    expect(preview.pages.map(({ url, found }) => [url, found])).toEqual([
      [made.url('/'), 'start'],
      [made.url('/a'), 'link'],
      [made.url('/c'), 'link'],
    ]);
    expect(ok(await feeds.client.post('/feed/default/web/discover', settings))).toEqual(preview);
    const { last_checked: before } = await feeds.feed('scoped');
    ok(await put('web-scope', { settings }));
    expect(await feeds.settled('scoped', before)).toMatchObject({ record_count: 3, last_run: { removed: 1 } });
    const { last_checked: between } = await feeds.feed('scoped');
    const bare = { start_urls: [made.url('/')], exclude: ['/b', '/c'] };
    ok(await put('web-scope', bare));
    expect(await feeds.settled('scoped', between)).toMatchObject({ record_count: 2, settings: bare });
    for (const [body, pointer] of [
      [{ start_urls: ['ftp://a/'] }, '/start_urls/0'],
      [{ settings: { start_urls: ['ftp://a/'] } }, '/settings/start_urls/0'],
      [{ start_urls: [made.url('/')], excluded: [] }, '/excluded'],
      [{}, ''],
    ] as const) {
      expect(await put('web-scope', body)).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
    }
  });

  it('include a secret that is never shown, and that no API key may set', async () => {
    const made = await site();
    made.pages.set('/items', (asked, response) => {
      const isKnown = asked.headers['x-token'] === 't0p-s3cret';
      response.writeHead(isKnown ? 200 : 401).end(JSON.stringify({ data: [{ id: 1, title: 'One' }] }));
    });
    const settings = { url: made.url('/items'), records: 'data', name: 'id', auth_header: { name: 'X-Token' } };
    const body = { name: 'secret', provider: 'api', settings, secret: 't0p-s3cret' };
    const refused = { status: 403, body: { code: 'console-only' } };
    expect(await feeds.client.post('/feed/default/connect', body)).toMatchObject(refused);
    const rss = { name: 'x', provider: 'rss', settings: { url: made.url('/items') } };
    expect(await feeds.client.post('/feed/default/connect', rss)).toMatchObject(refused);
    const wrong = await feeds.control.post('/feed/default/connect', { ...body, secret: 'wrong' });
    expect(wrong).toMatchObject({ status: 422 });
    const connected = await feeds.control.post('/feed/default/connect', body);
    expect(ok(connected)).toMatchObject({ has_secret: true, settings: { auth_header: { name: 'X-Token' } } });
    expect(await feeds.settled('secret')).toMatchObject({ status: 'Synced', record_count: 1 });
    const shown = await feeds.client.get('/feed/default/secret');
    for (const text of [
      connected.text,
      wrong.text,
      shown.text,
      (await feeds.file('secret')).text,
      feeds.service.output,
    ])
      expect(text).not.toContain('t0p-s3cret');
  });

  it('that change during a sync are read by another one after it', async () => {
    const made = await site('a', 'b');
    let secret = 'old';
    let asked = (): void => undefined;
    let released = Promise.resolve();
    made.pages.set('/items', ({ headers }, response) => {
      const title = headers['x-token'];
      asked();
      void released.then(() =>
        response.writeHead(title === secret ? 200 : 401).end(JSON.stringify({ data: [{ id: title, title }] })),
      );
    });
    const settings = { url: made.url('/items'), records: 'data', name: 'id', auth_header: { name: 'X-Token' } };
    ok(await feeds.control.post('/feed/default/connect', { name: 'token', provider: 'api', settings, secret }));
    await feeds.settled('token');
    let release = (): void => undefined;
    released = new Promise((resolve) => (release = resolve));
    const isAsked = new Promise<void>((resolve) => (asked = resolve));
    ok(await feeds.client.send('POST', '/feed/default/token/sync'));
    await isAsked;
    // The old token is refused to the sync that is under way, and the new one is tried and taken beside it.
    [secret, released, asked] = ['new', Promise.resolve(), () => undefined];
    const { next_sync: due } = ok(await feeds.control.put('/feed/default/token/secret', { secret })) as ShownFeed;
    // So it is read after a crash, too.
    expect(Date.parse(due ?? '')).toBeLessThanOrEqual(Date.now());
    release();
    await eventually(
      () => feeds.file('token'),
      ({ text }) => text.includes('"new"') && !text.includes('"old"'),
    );
    expect(await feeds.settled('token')).toMatchObject({ status: 'Synced' });

    const { asked: pageAsked, release: releasePage } = held(made, '/a');
    await feeds.connect('narrowed', made);
    await pageAsked;
    ok(await feeds.client.put('/feed/default/narrowed/web-scope', { start_urls: [made.url('/')], exclude: ['/b'] }));
    releasePage();
    await eventually(
      () => feeds.feed('narrowed'),
      ({ record_count: count, status }) => count === 2 && status === 'Synced',
    );
  });
});

describe('a feed of a media store', () => {
  it("has a record for each of its files, over several pages of the listing, except the feed's own file", async () => {
    const put = (name: string) => feeds.client.send('PUT', `/media/default/default/many/${name}.pdf`, { bytes: name });
    const names = Array.from({ length: 1001 }, (_, number) => `f${number}`);
    for (let begin = 0; begin < names.length; begin += 50) await Promise.all(names.slice(begin, begin + 50).map(put));
    const connect = (name: string, settings: object) =>
      feeds.control.post('/feed/default/connect', { name, provider: 'media-store', settings });
    ok(await connect('many', { store: 'default', prefix: 'many/' }));
    expect(await feeds.settled('many')).toMatchObject({ status: 'Synced', record_count: 1001 });
    expect((await feeds.file('many')).text).toContain('"document":"media:default/many/f1000.pdf"');
    ok(await connect('every', { store: 'default', include: ['feeds/**'] }));
    await feeds.settled('every');
    expect(await feeds.sync('every')).toMatchObject({ last_run: { added: 0, changed: 0 } });
    expect((await feeds.file('every')).text).not.toContain('feeds/every.sync');
  });
});

describe("the file under a feed's former name", () => {
  it('is deleted by the next sync, which switches the list to the new file', async () => {
    const made = await site('a');
    ok(
      await feeds.client.send('PUT', '/media/default/default/feeds/old.ndjson', {
        bytes: '{"name":"x","title":"X"}\n',
      }),
    );
    await feeds.list('old-list', { searchable_fields: [{ name: 'title' }] });
    ok(await feeds.client.post('/list/default/old-list/source', { path: 'feeds/old.ndjson' }));
    await feeds.holds('old-list', ['x']);
    await feeds.connect('old', made);
    await eventually(
      () => feeds.source('old-list'),
      ({ path }) => path === 'feeds/old.sync',
    );
    expect(await feeds.feed('old')).toMatchObject({ searchable_in: ['old-list'] });
    await feeds.holds(
      'old-list',
      ['/', '/a'].map((path) => made.url(path)),
    );
    expect((await feeds.client.get('/media/default/default/feeds/old.ndjson')).status).toBe(404);
  });
});

describe('a list that imports the file of a feed before there is the feed', () => {
  it('is one in which the feed is searchable, once the feed is connected or moved to that file', async () => {
    const store = await otherStore('for-early');
    for (const [list, media_store] of [
      ['early', 'default'],
      ['elsewhere', store],
    ] as const) {
      await feeds.list(list, { searchable_fields: [{ name: 'title' }] });
      ok(await feeds.client.post(`/list/default/${list}/source`, { media_store, path: 'feeds/early.sync' }));
    }
    const made = await site('a');
    await feeds.connect('early', made);
    expect((await feeds.feed('early')).searchable_in).toEqual(['early']);
    expect(await feeds.source('early')).toMatchObject({ feed: 'early', keep_in_sync: true });
    const pages = ['/', '/a'].map((path) => made.url(path));
    await feeds.holds('early', pages);
    await feeds.list('late', {});
    expect(await feeds.client.post('/list/default/late/feed', { feed: 'early' })).toMatchObject({ status: 409 });
    ok(await feeds.control.post('/feed/default/early/move', { media_store: store }));
    await feeds.holds('elsewhere', pages);
    expect((await feeds.feed('early')).searchable_in.toSorted()).toEqual(['early', 'elsewhere']);
    expect(await feeds.source('early')).toMatchObject({ feed: 'early', media_store: store });
  });
});

describe('a host that must not be reached', () => {
  it('is refused as a start URL, and as the URL of an RSS feed, API or mailbox', async () => {
    const urls = forbiddenUrls().filter(
      (url) => URL.canParse(url) && !/^(?:127\.|localhost|.*\.localhost$|\[::1\])/.test(new URL(url).hostname),
    );
    expect(urls.length).toBeGreaterThan(300);
    for (const url of urls) {
      const asked: readonly [string, object][] = [
        ['website', { start_urls: [url] }],
        ['rss', { url }],
        ['api', { url, records: 'data', name: 'id' }],
        ['email', { host: new URL(url).hostname, user: 'ada', password: 'x' }],
      ];
      for (const [provider, settings] of asked) {
        const answer = await feeds.control.post('/feed/default/connect', { name: 'bad', provider, settings });
        expect([url, provider, answer.status]).toEqual([url, provider, 400]);
      }
    }
  });
});

describe('a file of a media store that a list imports', () => {
  it('is imported once, and again after each change if keep_in_sync is set', async () => {
    const put = (bytes: string) => feeds.client.send('PUT', '/media/default/default/films.csv', { bytes });
    ok(await put('name,title\na,One\nb,Two\n'));
    await feeds.list('films', { searchable_fields: [{ name: 'title' }] });
    const file = { path: 'films.csv' };
    ok(await feeds.client.post('/list/default/films/source', file));
    await feeds.holds('films', ['a', 'b']);
    ok(await put('name,title\na,Changed\nc,Three\n'));
    await feeds.holds('films', ['a', 'c']);
    // The outcome of an import is shown after its last record is written.
    await expect
      .poll(async () => (await feeds.source('films')).last_run)
      .toMatchObject({ added: 1, changed: 1, removed: 1, unchanged: 0 });
    ok(await feeds.client.put('/list/default/films/source', { keep_in_sync: false }));
    ok(await put('name,title\nd,Four\n'));
    const before = await feeds.source('films');
    ok(await feeds.client.send('POST', '/list/default/films/source/run'));
    await feeds.holds('films', ['d']);
    expect(before.last_run).toMatchObject({ added: 1 });
    ok(await feeds.client.delete('/media/default/default/films.csv'));
    ok(await feeds.client.send('POST', '/list/default/films/source/run'));
    const failed = await eventually(
      () => feeds.source('films'),
      ({ status }) => status === 'Failed',
    );
    expect(failed.error?.message).toContain('films.csv');
    expect(await feeds.names('films')).toEqual(['d']);
    expect(await feeds.client.post('/list/default/films/source', { path: 'x.pdf' })).toMatchObject({ status: 422 });
  });

  it('is read as a spreadsheet has written it', async () => {
    const bytes = Buffer.from('\ufeffname\ttitle\r\ne\tFünf, sechs\r\n', 'utf16le');
    ok(await feeds.client.send('PUT', '/media/default/default/sheet.tsv', { bytes }));
    await feeds.list('sheet', { searchable_fields: [{ name: 'title' }] });
    ok(await feeds.client.post('/list/default/sheet/source', { path: 'sheet.tsv' }));
    await feeds.holds('sheet', ['e']);
    expect((await feeds.client.post('/search/default/sheet/1', { query: 'sechs' })).body).toMatchObject({
      results: [{ name: 'e', fields: { title: 'Fünf, sechs' } }],
    });
  });
});

async function otherStore(name: string): Promise<string> {
  const folder = join(outside, name);
  mkdirSync(folder);
  ok(await feeds.control.post('/media-store/default', { name, kind: 'folder', folder }));
  return name;
}
