import { describe, expect, it } from 'vitest';
import { sync, SYNC_PATH } from '../../../test/support/feeds/made-source.js';
import { MadeSite, NOW_MS, type MadePage } from '../../../test/support/feeds/made-site.js';
import { usePlaces } from '../../../test/support/feeds/places.js';
import { Secret } from '../../platform/index.js';
import { ApiSource, type ApiMemory, type ApiSettings, type ApiSourceOptions } from './api-source.js';

const places = usePlaces<ApiMemory>();

const json =
  (value: unknown, headers: Record<string, string> = {}): MadePage =>
  (_asked, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const items = (...ids: readonly number[]) =>
  ids.map((id) => ({ id, title: `Item ${id}`, isNew: id > 2, at: '2026-11-02T10:00:00Z', tags: ['sea'] }));

function run(settings: Partial<ApiSettings> = {}, options: Partial<ApiSourceOptions> = {}) {
  const source = new ApiSource({
    settings: {
      url: places.site.url('/items'),
      method: 'GET',
      records: 'data',
      name: 'id',
      pagination: { kind: 'none' },
      ...settings,
    },
    client: places.client,
    memory: places.memory,
    nowMs: () => NOW_MS,
    apartMsMax: 80_000_000,
    bytesMax: 1_000_000,
    recordsMax: 1000,
    ...options,
  });
  return sync(places.files, source);
}

describe('ApiSource', () => {
  it('reads records and infers their fields', async () => {
    places.site.pages.set('/items', json({ data: items(1, 2, 3) }));
    expect(await run()).toMatchObject({ added: 3, requests: 1 });
    const [header = ''] = places.files.text(SYNC_PATH).split('\n');
    expect((JSON.parse(header) as { fields: unknown }).fields).toEqual({
      searchable_fields: [
        { name: 'tags', weight: 1 },
        { name: 'title', weight: 4 },
      ],
      facets: [
        { name: 'at', type: 'date', cardinality: 'Single' },
        { name: 'id', type: 'number', cardinality: 'Single' },
        { name: 'isNew', type: 'boolean', cardinality: 'Single' },
        { name: 'tags', type: 'string', cardinality: 'Many' },
      ],
      resources: [],
    });
    places.site.pages.set('/items', json({ data: items(2, 3, 4) }));
    expect(await run()).toMatchObject({ added: 1, removed: 1, unchanged: 2 });
  });

  it('removes nothing after lines without a known end, because the rest may have been cut off', async () => {
    const told =
      (count: number, isEndTold: boolean): MadePage =>
      (_asked, response) => {
        response.setHeader('content-type', 'application/x-ndjson');
        // With neither chunks nor a length, the answer ends where the connection does.
        if (!isEndTold) for (const name of ['transfer-encoding', 'content-length']) response.removeHeader(name);
        response.end(
          items(...Array(count).keys())
            .map((item) => `${JSON.stringify(item)}\n`)
            .join(''),
        );
      };
    const lines = { records: '$' };
    places.site.pages.set('/items', told(9, false));
    expect(await run(lines)).toMatchObject({ added: 9 });
    for (const cut of [8, 1]) {
      places.site.pages.set('/items', told(cut, false));
      const { removed, record_count, skipped } = await run(lines);
      expect([removed, record_count, skipped.map(({ what }) => what)]).toEqual([0, 9, ['the rest']]);
    }
    places.site.pages.set('/items', told(8, true));
    expect(await run(lines)).toMatchObject({ removed: 1, skipped_count: 0 });
  });

  it('reads all pages, and counts a record once that two pages have', async () => {
    places.site.pages.set('/items?page=1', json({ data: items(1, 2) }));
    places.site.pages.set('/items?page=2', json({ data: items(2, 3) }));
    places.site.pages.set('/items?page=3', json({ data: [] }));
    expect(await run({ pagination: { kind: 'page', parameter: 'page' } })).toMatchObject({
      added: 3,
      requests: 3,
      skipped_count: 0,
    });
  });

  it('reports records with the same name on one page, because the name may not be unique', async () => {
    places.site.pages.set('/items', json({ data: [...items(1, 2), ...items(1), { title: 'nameless' }] }));
    const { added, skipped } = await run();
    expect([added, skipped.map(({ what }) => what)]).toEqual([2, ['1', '{"title":"nameless"}']]);
  });

  it.each<[string, ApiSettings['pagination'], (foreign: string) => Readonly<Record<string, MadePage>>]>([
    ['an answer', { kind: 'link', next: 'next' }, (at) => ({ '/items': json({ data: items(1), next: `${at}/more` }) })],
    [
      'a header',
      { kind: 'link' },
      (at) => ({ '/items': json({ data: items(1) }, { link: `<${at}/more>; rel=next` }) }),
    ],
    [
      'an answer behind a redirect',
      { kind: 'link', next: 'next' },
      (at) => ({ '/items': (_asked, response) => response.writeHead(302, { location: `${at}/moved` }).end() }),
    ],
  ])('sends its secret to no other origin that %s names for the next page', async (_, pagination, pages) => {
    const foreign = await MadeSite.start({
      '/more': json(
        { data: items(2), next: places.site.url('/last') },
        { link: `<${places.site.url('/last')}>; rel=next` },
      ),
      '/moved': json({ data: items(1), next: '/more' }),
    });
    for (const [path, page] of Object.entries(pages(foreign.url('')))) places.site.pages.set(path, page);
    places.site.pages.set('/last', json({ data: items(3) }));
    const secrets = (site: MadeSite) => site.server.asked.map(({ headers }) => headers['x-key']);
    try {
      await run({ pagination }, { authHeader: { name: 'X-Key', value: new Secret('very secret') } });
      expect(secrets(places.site)).toEqual(['very secret', 'very secret']);
      expect(new Set(secrets(foreign))).toEqual(new Set([undefined]));
    } finally {
      await foreign.close();
    }
  });

  it.each<[string, ApiSettings['pagination'], Readonly<Record<string, MadePage>>]>([
    [
      'a cursor that repeats',
      { kind: 'cursor', parameter: 'c', next: 'next' },
      { '/items': json({ data: items(1), next: 'a' }), '/items?c=a': json({ data: items(2), next: 'a' }) },
    ],
    [
      'a page that repeats',
      { kind: 'page', parameter: 'p' },
      { '/items?p=1': json({ data: items(1) }), '/items?p=2': json({ data: items(1) }) },
    ],
    ['a link to itself', { kind: 'link' }, { '/items': json({ data: items(1) }, { link: '</items>; rel=next' }) }],
    ['a page that fails', { kind: 'page', parameter: 'p' }, { '/items?p=1': json({ data: items(1) }) }],
    [
      'a page in HTML',
      { kind: 'page', parameter: 'p' },
      { '/items?p=1': json({ data: items(1) }), '/items?p=2': '<p>Error' },
    ],
    [
      'a link to where nobody may go',
      { kind: 'link' },
      { '/items': json({ data: items(1) }, { link: '<http://169.254.169.254/>; rel=next' }) },
    ],
    [
      'records that have come to be called otherwise',
      { kind: 'none' },
      { '/items': json({ data: [{ uid: 1 }, { uid: 2 }] }) },
    ],
    ['nothing where records are', { kind: 'none' }, { '/items': json({ error: 'quota' }) }],
    ['an empty body', { kind: 'none' }, { '/items': (_asked, response) => response.end() }],
    ['401', { kind: 'none' }, { '/items': (_asked, response) => response.writeHead(401).end() }],
    [
      'half an answer',
      { kind: 'none' },
      { '/items': (_asked, response) => response.end('{"data": [{"id": 1}, {"id"') },
    ],
  ])('fails at %s, and keeps the records', async (_, pagination, pages) => {
    places.site.pages.set('/items', json({ data: items(1, 2, 3) }));
    await run();
    const before = places.files.text(SYNC_PATH);
    places.site.pages.clear();
    for (const [path, page] of Object.entries(pages)) places.site.pages.set(path, page);
    await expect(run({ pagination })).rejects.toThrow(/^The |^Line /);
    expect(places.files.text(SYNC_PATH)).toBe(before);
  });

  it('asks once more if more than half of the records would be removed', async () => {
    const all = Array.from({ length: 30 }, (_, number) => number);
    places.site.pages.set('/items', json({ data: items(...all) }));
    await run();
    let times = 0;
    places.site.pages.set('/items', (asked, response) => {
      times += 1;
      const page = json({ data: items(...(times === 1 ? [0] : all.slice(0, 25))) });
      if (typeof page === 'function') page(asked, response);
    });
    expect(await run()).toMatchObject({ removed: 5, unchanged: 25 });
  });

  it('asks for what changed since the last run, and for everything every few runs', async () => {
    const updated = { updated_since: { parameter: 'since', full_every: 3 } };
    const since = `/items?since=${encodeURIComponent(new Date(NOW_MS).toISOString())}`;
    places.site.pages.set('/items', json({ data: items(1, 2) }));
    await run(updated);
    places.site.pages.set('/items', json({ data: items(2) }));
    places.site.pages.set(since, json({ data: items(3) }));
    expect(await run(updated)).toMatchObject({ added: 1, removed: 0, unchanged: 2 });
    expect(await run(updated)).toMatchObject({ added: 0, removed: 0, unchanged: 3 });
    expect(await run(updated)).toMatchObject({ removed: 2, unchanged: 1 });
    expect(places.site.asked()).toEqual(['/items', since, since, '/items']);
  });

  it('describes the fields of all records, also after a run that was given only what had changed', async () => {
    const updated = { updated_since: { parameter: 'since', full_every: 4 } };
    const since = `/items?since=${encodeURIComponent(new Date(NOW_MS).toISOString())}`;
    const fieldsNow = () => {
      const [header = ''] = places.files.text(SYNC_PATH).split('\n');
      const { fields } = JSON.parse(header) as { fields: Record<string, readonly { readonly name: string }[]> };
      return Object.values(fields).flatMap((kind) => kind.map(({ name }) => name));
    };
    places.site.pages.set('/items', json({ data: items(1, 2) }));
    await run(updated);
    const all = fieldsNow();
    places.site.pages.set(since, json({ data: [] }));
    expect(await run(updated)).toMatchObject({ unchanged: 2, wasReplaced: false });
    expect(fieldsNow()).toEqual(all);
    places.site.pages.set(since, json({ data: [{ id: 3, weight: 1.5 }] }));
    expect(await run(updated)).toMatchObject({ added: 1, wasReplaced: true });
    expect(fieldsNow()).toEqual([...all, 'weight']);
    places.site.pages.set(since, json({ data: [] }));
    expect(await run(updated)).toMatchObject({ unchanged: 3, wasReplaced: false });
    // A run that reads everything tells what there is now.
    expect(await run(updated)).toMatchObject({ removed: 1 });
    expect(fieldsNow()).toEqual(all);
  });

  it('reads everything if an earlier release has not kept what the fields are', async () => {
    const updated = { updated_since: { parameter: 'since', full_every: 30 } };
    places.site.pages.set('/items', json({ data: items(1, 2) }));
    await run(updated);
    const { kinds: _, ...earlier } = places.memory.read() ?? { since: '', partialRuns: 0 };
    await places.memory.write(earlier);
    expect(await run(updated)).toMatchObject({ unchanged: 2, wasReplaced: false });
    expect(places.site.asked()).toEqual(['/items', '/items']);
  });

  it('asks for everything if the last run was made by a clock that was ahead', async () => {
    const updated = { updated_since: { parameter: 'since', full_every: 30 } };
    places.site.pages.set('/items', json({ data: items(1, 2) }));
    await run(updated, { nowMs: () => NOW_MS + 1000 });
    places.site.pages.set('/items', json({ data: items(1, 2, 3) }));
    expect(await run(updated)).toMatchObject({ added: 1, unchanged: 2 });
    expect(places.site.asked()).toEqual(['/items', '/items']);
  });

  it('sends its secret only to the server that it is meant for', async () => {
    const other = await MadeSite.start({ '/items': json({ data: items(1) }) });
    places.site.pages.set('/items', (_asked, response) =>
      response.writeHead(307, { location: other.url('/items') }).end(),
    );
    const authHeader = { name: 'X-Token', value: new Secret('t0p') };
    await run({}, { authHeader });
    const seen = [places.site, other].map(({ server }) => server.asked[0]?.headers['x-token']);
    await other.close();
    expect(seen).toEqual(['t0p', undefined]);
    places.site.pages.set('/items', (_asked, response) => response.writeHead(403).end('t0p'));
    await expect(run({}, { authHeader })).rejects.toThrow('The interface answered 403.');
    expect(places.files.text(SYNC_PATH)).not.toContain('t0p');
  });

  it('skips a record without a name, maps fields, and sends a body', async () => {
    places.site.pages.set('/items', json({ data: [{ id: 1, deep: { title: 'T' } }, { title: 'nameless' }] }));
    const result = await run({ method: 'POST', body: { q: 'all' }, fields: { title: 'deep.title' } });
    expect(result).toMatchObject({
      added: 1,
      skipped: [{ what: '{"title":"nameless"}', why: "It has no name at 'id'." }],
    });
    expect(places.files.text(SYNC_PATH)).toContain('{"name":"1","fields":{"title":"T"}}');
    expect(places.site.server.asked[0]).toMatchObject({ method: 'POST', body: '{"q":"all"}' });
  });

  it('removes nothing for a day while more records than before have no name', async () => {
    let nowMs = NOW_MS;
    const again = (...data: readonly object[]) => {
      places.site.pages.set('/items', json({ data }));
      return run({}, { nowMs: () => nowMs });
    };
    const nameless = { title: 'Nameless' };
    await again(...items(1, 2, 3, 4), nameless);
    expect(await again(...items(1, 2, 3), nameless)).toMatchObject({ removed: 1, skipped_count: 1 });
    for (const _ of [1, 2]) {
      expect(await again(...items(1, 2), nameless, nameless)).toMatchObject({ removed: 0, skipped_count: 3 });
      nowMs += 80_000_000;
    }
    expect(places.files.text(SYNC_PATH)).toContain('"name":"3"');
    expect(await again(...items(1, 2, 3), nameless)).toMatchObject({ removed: 0, unchanged: 3 });
    expect(await again(...items(1, 2), nameless, nameless)).toMatchObject({ removed: 0 });
    // The clock is set from 1970 to today, or back.
    for (const yearsMs of [1_800_000_000_000, -1_800_000_000_000]) {
      nowMs += yearsMs;
      expect(await again(...items(1, 2), nameless, nameless)).toMatchObject({ removed: 0 });
    }
    nowMs += 90_000_000;
    expect(await again(...items(1, 2), nameless, nameless)).toMatchObject({ removed: 1, skipped_count: 2 });
  });

  it('gives a member `name` a field of its own, since `name` is the name of the record', async () => {
    const named = (id: unknown, name: unknown, more: object = {}) => ({ id, name, ...more });
    places.site.pages.set('/items', json({ data: [named(1, 'Pier'), named(2, 'Bay', { display_name: 'The bay' })] }));
    await run();
    const [header = '', ...lines] = places.files.text(SYNC_PATH).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { fields: unknown }).fields)).toEqual([
      { id: 1, display_name: 'Pier' },
      { id: 2, display_name: 'The bay', display_name_2: 'Bay' },
    ]);
    expect((JSON.parse(header) as { fields: { searchable_fields: unknown } }).fields.searchable_fields).toEqual([
      { name: 'display_name', weight: 4 },
      { name: 'display_name_2', weight: 1 },
    ]);
  });

  it.each(['name', '$.name', "$['name']"])('keeps the member that the records are named by: %s', async (name) => {
    places.site.pages.set('/items', json({ data: [{ name: 12, at: 1 }] }));
    await run({ name });
    const [header = '', line] = places.files.text(SYNC_PATH).trim().split('\n');
    expect(line).toBe('{"name":"12","fields":{"at":1,"name":12}}');
    // Among the fields of a list, `name` is the name of the record, which is a text and no facet.
    expect((JSON.parse(header) as { fields: unknown }).fields).toEqual({
      searchable_fields: [{ name: 'name', weight: 4 }],
      facets: [{ name: 'at', type: 'number', cardinality: 'Single' }],
      resources: [],
    });
  });

  it('describes the same fields after a run that was given only what had changed, if there are more than a list can have', async () => {
    const updated = { updated_since: { parameter: 'since', full_every: 4 } };
    const since = `/items?since=${encodeURIComponent(new Date(NOW_MS).toISOString())}`;
    const members = (id: number) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, number) => [`f${id}_${number}`, 'x']));
    const [one, two, three] = [1, 2, 3].map((id) => ({ id, ...members(id) }));
    places.site.pages.set('/items', json({ data: [one, two, three] }));
    await run(updated);
    const [header] = places.files.text(SYNC_PATH).split('\n');
    places.site.pages.set(since, json({ data: [{ ...three, f3_0: 'changed' }] }));
    expect(await run(updated)).toMatchObject({ changed: 1, wasReplaced: true });
    expect(places.files.text(SYNC_PATH).split('\n')[0]).toBe(header);
  });

  it('describes no more fields than a list can have, those of the first records, and says so', async () => {
    const members = (id: number) =>
      Object.fromEntries(Array.from({ length: 150 }, (_, number) => [`f${id}_${number}`, 'x']));
    places.site.pages.set('/items', json({ data: [1, 2, 3].map((id) => ({ id, ...members(id) })) }));
    const { skipped } = await run();
    expect(skipped).toEqual([
      {
        what: 'fields after the first 256',
        why: 'A list has at most 256 fields: the others are in the records, and a list that takes its fields from the feed cannot be searched by them. Name those that are wanted in `fields`.',
      },
    ]);
    const [header = ''] = places.files.text(SYNC_PATH).split('\n');
    const { fields } = JSON.parse(header) as { fields: { searchable_fields: readonly { readonly name: string }[] } };
    expect(fields.searchable_fields.filter(({ name }) => /^f[12]_/.test(name))).toHaveLength(255);
  });

  it('reports once that records have more members than fields allowed', async () => {
    const members = Object.fromEntries(Array.from({ length: 300 }, (_, number) => [`f${number}`, number]));
    places.site.pages.set('/items', json({ data: [1, 2, 3].map((id) => ({ id, ...members })) }));
    const { added, skipped } = await run();
    expect(added).toBe(3);
    expect(skipped.map(({ what }) => what)).toEqual(['members of 1']);
  });

  it('is incomplete beyond its limit of records', async () => {
    places.site.pages.set('/items', json({ data: items(1, 2, 3) }));
    await run();
    places.site.pages.set('/items?p=1', json({ data: items(4, 5) }));
    places.site.pages.set('/items?p=2', json({ data: items(6) }));
    for (const [recordsMax, added] of [
      [1, 1],
      [2, 1],
    ] as const)
      expect(await run({ pagination: { kind: 'page', parameter: 'p' } }, { recordsMax })).toMatchObject({
        added,
        removed: 0,
        skipped_count: 1,
      });
    expect(await run({}, { recordsMax: 2 })).toMatchObject({ removed: 0, skipped_count: 1 });
    expect(await run({}, { recordsMax: 3 })).toMatchObject({ removed: 2, skipped_count: 0 });
  });
});
