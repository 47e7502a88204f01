/**
 * Tests which records a list has after its feed's API, RSS feed or media store failed as real ones do. Each failure
 * of data in the table of `docs/feed-failures.md`, which real systems were caught by, has a test.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeedService } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import { sitesOfEachTest } from '../support/feeds/used-sites.js';
import { frozen, html, MadeSite, type MadePage } from '../support/feeds/made-site.js';

let feeds: FeedService;
const sites = sitesOfEachTest();
beforeAll(async () => {
  feeds = await FeedService.start();
});
afterAll(() => feeds.close());

let feedsMade = 0;

async function connected(
  provider: string,
  { path, page, settings = {}, secret }: { path: string; page: MadePage; settings?: object; secret?: string },
): Promise<{ site: MadeSite; feed: FollowedFeed }> {
  const site = await MadeSite.start({ [path]: page });
  sites.push(site);
  feedsMade += 1;
  const given = { provider, settings: { url: site.url(path), ...settings }, base: site.url('') };
  const options = secret === undefined ? given : { ...given, secret };
  return { site, feed: await FollowedFeed.connect(feeds, `data${feedsMade}`, options) };
}

const answers =
  (body: string, type = 'application/json'): MadePage =>
  (_asked, response) =>
    response.writeHead(200, { 'content-type': type }).end(body);
const items = (...ids: readonly string[]) => JSON.stringify({ data: ids.map((id) => ({ id, title: `Title ${id}` })) });
const whole = items('a', 'b', 'c');

function api(settings: object = {}, more: { readonly page?: MadePage; readonly secret?: string } = {}) {
  const { page = answers(whole), ...rest } = more;
  return connected('api', { path: '/items', page, settings: { records: 'data', name: 'id', ...settings }, ...rest });
}

describe('feeds of an API', () => {
  it.each<[string, MadePage, string]>([
    ['breaks off', answers(whole.slice(0, -20)), 'JSON'],
    [
      'breaks off before its length',
      (_asked, response) =>
        void response.writeHead(200, { 'content-length': '5000' }).write(whole, () => response.destroy()),
      'cannot be read',
    ],
    ['gives a page of errors', answers(html('Oops', 'Something went wrong'), 'text/html'), 'page'],
    ['gives an empty body', answers(''), 'empty'],
    ['gives an error as data', answers('{"error":"busy"}'), "nothing at 'data'"],
    ['answers 500', (_asked, response) => response.writeHead(500).end(), '500'],
  ])('keep all records if the API %s', async (_, page, why) => {
    const { site, feed } = await api();
    const before = (await feed.now()).records;
    expect(before.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    site.pages.set('/items', page);
    const { records, feed: shown } = await feed.sync();
    expect([records, shown.status]).toEqual([before, 'Failed']);
    expect(shown.error?.message).toContain(why);
    site.pages.set('/items', answers(items('a', 'c')));
    expect((await feed.sync()).names).toEqual(['a', 'c']);
  });

  it('create a record for each id, even if ids are integers too long for a JavaScript number', async () => {
    const page = answers('{"data":[{"id":1453429999999999991,"title":"a"},{"id":1453429999999999992,"title":"b"}]}');
    const { feed } = await api({}, { page });
    const { records } = await feed.now();
    expect(records.map(({ name }) => name)).toEqual(['1453429999999999991', '1453429999999999992']);
  });

  it('keep all records if the API no longer accepts its token', async () => {
    let token = 'g00d';
    const page: MadePage = ({ headers }, response) =>
      response.writeHead(headers['x-token'] === token ? 200 : 401).end(whole);
    const { feed } = await api({ auth_header: { name: 'X-Token' } }, { page, secret: 'g00d' });
    token = 'another';
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([['a', 'b', 'c'], 'Failed']);
    expect(shown.error?.message).toContain('401');
  });

  it('keep all records and stop if a cursor comes again', async () => {
    const cursors: Record<string, string | null> = { '': '1', '1': null };
    const page: MadePage = ({ path }, response) => {
      const at = new URL(path, 'http://x').searchParams.get('at') ?? '';
      const data = [{ id: `r${at}`, title: at }];
      response.end(JSON.stringify({ data, next: cursors[at] }));
    };
    const settings = { pagination: { kind: 'cursor', parameter: 'at', next: 'next' } };
    const site = await MadeSite.start();
    sites.push(site);
    const { script } = site.server;
    site.server.script = (asked, response) =>
      asked.path.startsWith('/items') ? page(asked, response) : script(asked, response);
    const feed = await FollowedFeed.connect(feeds, 'cursor', {
      provider: 'api',
      settings: { url: site.url('/items'), records: 'data', name: 'id', ...settings },
    });
    expect((await feed.now()).names).toEqual(['r', 'r1']);
    cursors['1'] = '1';
    site.asked();
    const { names, feed: shown } = await feed.sync();
    expect([names, shown.status]).toEqual([['r', 'r1'], 'Failed']);
    expect(shown.error?.message).toContain('before');
    expect(site.asked().length).toBeLessThan(5);
  });

  it('have each record once, and lose none, if pages overlap', async () => {
    const pages = [['a', 'b', 'c'], ['c', 'd', 'e'], ['e', 'f'], []];
    const site = await MadeSite.start();
    sites.push(site);
    site.server.script = ({ path }, response) => {
      const page = Number(new URL(path, 'http://x').searchParams.get('page') ?? 1);
      response.end(items(...(pages[page - 1] ?? [])));
    };
    const pagination = { kind: 'page', parameter: 'page', first: 1 };
    const feed = await FollowedFeed.connect(feeds, 'border', {
      provider: 'api',
      settings: { url: site.url('/items'), records: 'data', name: 'id', pagination },
    });
    expect((await feed.now()).names).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    // A record is inserted at the front, so that all others move by one place.
    pages.splice(0, 3, ['z', 'a', 'b'], ['b', 'c', 'd'], ['d', 'e', 'f']);
    const { names, feed: shown } = await feed.sync();
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'z']);
    expect(shown.last_run).toMatchObject({ added: 1, changed: 0, removed: 0 });
  });

  it('ask again for records with the time of the last run, and lose none', async () => {
    const times: Record<string, string> = { a: '2020-01-01T00:00:00.000Z', b: '2020-01-01T00:00:00.000Z' };
    const asked: (string | null)[] = [];
    const site = await MadeSite.start();
    sites.push(site);
    site.server.script = ({ path }, response) => {
      const since = new URL(path, 'http://x').searchParams.get('since');
      asked.push(since);
      response.end(items(...Object.keys(times).filter((id) => since === null || (times[id] ?? '') >= since)));
    };
    const feed = await FollowedFeed.connect(feeds, 'since', {
      provider: 'api',
      settings: {
        url: site.url('/items'),
        records: 'data',
        name: 'id',
        updated_since: { parameter: 'since', full_every: 3 },
      },
    });
    await feed.now();
    // Changed in the very moment at which the last run began.
    const { last_checked: before } = await feeds.feed('since');
    times['c'] = before ?? '';
    times['d'] = new Date(Date.now() + 1000).toISOString();
    delete times['a'];
    expect((await feed.sync()).names).toEqual(['a', 'b', 'c', 'd']);
    expect(asked.at(-1)).not.toBeNull();
    await feed.sync();
    expect((await feed.sync()).names).toEqual(['b', 'c', 'd']);
    expect(asked.at(-1)).toBeNull();
  });
});

interface Item {
  readonly title: string;
  readonly guid?: string;
  readonly link?: string;
}

const rss = (...entries: readonly Item[]) =>
  `<rss version="2.0"><channel><title>News</title>${entries
    .map(({ title, guid, link }) => {
      const id = guid === undefined ? '' : `<guid isPermaLink="false">${guid}</guid>`;
      return `<item><title>${title}</title>${id}${link === undefined ? '' : `<link>${link}</link>`}</item>`;
    })
    .join('')}</channel></rss>`;
const titles = (records: readonly { readonly fields: Readonly<Record<string, unknown>> }[]) =>
  records.map(({ fields }) => fields['title']).sort();

function news(page: MadePage, settings: object = {}) {
  return connected('rss', { path: '/feed', page, settings });
}

describe('feeds of an RSS feed', () => {
  const three = ['One', 'Two', 'Three'].map((title) => ({ title, guid: title, link: `https://a.example/${title}` }));

  it.each<[string, MadePage, string]>([
    ['breaks off', answers(rss(...three).slice(0, 150), 'text/xml'), 'Synced'],
    ['is a page of errors', answers(html('Oops', 'Something went wrong'), 'text/html'), 'Failed'],
    ['is empty', answers('', 'text/xml'), 'Failed'],
    ['is not answered', (_asked, response) => response.destroy(), 'Failed'],
    ['needs a sign-in', (_asked, response) => response.writeHead(401).end(), 'Failed'],
  ])('keep all records if the RSS feed %s, even with drop_left_items', async (_, page, status) => {
    const { site, feed } = await news(answers(rss(...three), 'text/xml'), { drop_left_items: true });
    const before = (await feed.now()).records;
    expect(titles(before)).toEqual(['One', 'Three', 'Two']);
    site.pages.set('/feed', page);
    const { records, feed: shown } = await feed.sync();
    expect([records, shown.status]).toEqual([before, status]);
    site.pages.set('/feed', answers(rss(...three.slice(1)), 'text/xml'));
    expect(titles((await feed.sync()).records)).toEqual(['Three', 'Two']);
  });

  it('keep one record for each item if the guids of all items change', async () => {
    const { site, feed } = await news(answers(rss(...three), 'text/xml'));
    const before = (await feed.now()).records;
    const anew = three.map((item) => ({ ...item, guid: `https://new.example/?p=${item.title}` }));
    site.pages.set('/feed', answers(rss(...anew), 'text/xml'));
    const { records, feed: shown } = await feed.sync();
    expect([records, shown.last_run?.added]).toEqual([before, 0]);
  });

  it('keep one record for each item without a guid, and for items that share a guid', async () => {
    const nameless = [{ title: 'No guid' }, { title: 'No guid either' }];
    const shared = ['Red', 'Blue'].map((title) => ({ title, guid: 'same' }));
    const linked = ['North', 'South'].map((title) => ({ title, guid: 'same', link: `https://a.example/${title}` }));
    const page = answers(rss(...nameless, ...shared, ...linked), 'text/xml');
    const { site, feed } = await news(page);
    const all = ['Blue', 'No guid', 'No guid either', 'North', 'Red', 'South'];
    expect(titles((await feed.now()).records)).toEqual(all);
    site.pages.set('/feed', answers(rss(...linked, ...shared, ...nameless), 'text/xml'));
    const { records, feed: shown } = await feed.sync();
    expect([titles(records), shown.last_run?.added]).toEqual([all, 0]);
  });

  it('read an RSS feed again within a day if its ETag never changes and its date is in 2041', async () => {
    const { site, feed } = await news(frozen(rss(...three), 'text/xml'));
    site.pages.set('/feed', frozen(rss(...three, { title: 'Four', guid: 'Four' }), 'text/xml'));
    let runs = 1;
    while (!titles((await feed.sync()).records).includes('Four') && runs < 30) runs += 1;
    expect(runs).toBe(23);
  });
});
