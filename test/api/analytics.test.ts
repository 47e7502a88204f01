/** Tests analytics from outside: which searches and clicks are counted, the reports, and what is refused. */
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReportFigures } from '../../src/analytics/index.js';
import type { Answer, ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

const EMPTY = {
  total_searches: 0,
  zero_result_searches: 0,
  total_clicks: 0,
  click_through_rate: 0,
  top_searches: [],
  top_zero_result_searches: [],
  reranked_searches: 0,
  reranker_top_changed_rate: 0,
  reranker_mean_displacement: 0,
  reranker_click_lift: 0,
  reranker_lift_sample_size: 0,
  catching_up: false,
};

let service: TestService;
let client: ServiceClient;
/** Each test has lists and a group of its own. */
let list = '';
let other = '';
let group = '';
let made = 0;

beforeAll(async () => {
  service = await startTestService({ env: { GANNET_ANALYTICS_ROLL_UP_SECONDS: '1' } });
  client = service.client;
});
afterAll(() => service.close());

beforeEach(async () => {
  made += 1;
  [list, other, group] = [`list-${made}`, `other-${made}`, `group-${made}`];
  for (const name of [list, other]) {
    await client.post('/list/default', { name, searchable_fields: [{ name: 'text' }] });
    await client.bulk('default', name, [
      { name: `${name}-a`, text: 'red sea bird' },
      { name: `${name}-b`, text: 'red kite' },
    ]);
  }
  await client.post('/list-group/default', { name: group, lists: [{ list }, { list: other }] });
});

const search = (query: string, options: Record<string, string | number | boolean> = {}) =>
  client.get(`/search/default/${list}/1`, { query, ...options });
const searchGroup = (query: string) => client.get(`/search/group/default/${group}/latest`, { query });
async function report(path = `/analytics/list/default/${list}`, query = {}): Promise<ReportFigures> {
  const answer = await client.get(path, query);
  expect(answer.status).toBe(200);
  return answer.body as ReportFigures;
}
const groupReport = () => report(`/analytics/group/default/${group}`);
const queryId = ({ body }: Answer) => (body as { query_id: string }).query_id;
const click = (body: object, name = list) => client.post(`/search/analytics/click/list/default/${name}`, body);
const clickGroup = (body: object, name = group) => client.post(`/search/analytics/click/group/default/${name}`, body);
const today = () => new Date().toISOString().slice(0, 10);
/** Drops from a report what depends on the day that it is asked on: a new day may begin during a test. */
const timeless = ({ from: _from, to: _to, daily, ...rest }: ReportFigures) => ({
  ...rest,
  daily: daily.filter(({ searches, zero_result_searches, clicks }) => searches + zero_result_searches + clicks > 0),
});

describe('counting of searches', () => {
  it('counts each search of a list or a group once, by GET and by POST', async () => {
    await search('red');
    await client.post(`/search/default/${list}/1`, { query: 'kite' });
    await searchGroup('bird');
    await client.post(`/search/group/default/${group}/latest`, { query: 'bird' });
    expect(await report()).toMatchObject({ total_searches: 2, zero_result_searches: 0 });
    expect(await groupReport()).toMatchObject({ total_searches: 2, top_searches: [{ term: 'bird', count: 2 }] });
  });

  it('counts an answer from the cache like any other', async () => {
    const how: unknown[] = [];
    for (let time = 0; time < 4; ++time) how.push((await search('red')).headers['x-cache']);
    expect(how).toContain('hit');
    // The same search in other words: the cache finds it by what it means, not by its text.
    await search(' red ', { size: 10 });
    for (let time = 0; time < 2; ++time) await search('nothing like it');
    expect(await report()).toMatchObject({
      total_searches: 7,
      zero_result_searches: 2,
      top_searches: [
        { term: 'red', count: 5 },
        { term: 'nothing like it', count: 2 },
      ],
      top_zero_result_searches: [{ term: 'nothing like it', count: 2 }],
    });
  });

  it('leaves out a search with analytics=false, whether it ran or came from the cache', async () => {
    const how: unknown[] = [];
    for (let time = 0; time < 3; ++time) how.push((await search('red', { analytics: false })).headers['x-cache']);
    expect(how).toContain('hit');
    await client.post(`/search/default/${list}/1`, { query: 'kit', analytics: false });
    await client.post(`/search/group/default/${group}/latest`, { query: 'kit', analytics: false });
    await search('red');
    expect(await report()).toMatchObject({ total_searches: 1, top_searches: [{ term: 'red', count: 1 }] });
    expect(await groupReport()).toMatchObject(EMPTY);
  });

  it('leaves out suggestions, related records and previews of synonyms', async () => {
    await client.get(`/suggest/default/${list}/1`, { query: 're' });
    await client.get(`/related/default/${list}/1/${list}-a`);
    await client.post(`/list/synonym-preview/default/${list}`, { kind: 'equivalent', terms: ['red', 'kite'] });
    expect(await report()).toMatchObject(EMPTY);
  });

  it('leaves out refused and failed searches', async () => {
    expect((await search('red', { filter: 'no = field' })).status).toBe(400);
    expect((await search('red', { size: 5000 })).status).toBe(400);
    expect((await client.get(`/search/default/${list}/7`, { query: 'red' })).status).toBe(404);
    const reader = await service.clientFor({ access: 'custom', permissions: ['list:read'] });
    expect((await reader.get(`/search/default/${list}/1`, { query: 'red' })).status).toBe(403);
    expect(await report()).toMatchObject(EMPTY);
  });

  it('leaves out searches whose client disconnected before the answer', async () => {
    const { hostname, port } = new URL(service.address);
    const path = `/search/default/${list}/1?query=red&cache=false`;
    const cancelled = Array.from(
      { length: 20 },
      () =>
        new Promise<void>((resolve) => {
          const outgoing = request({ hostname, port, path, headers: { 'X-API-Key': client.key } });
          outgoing.on('error', () => resolve());
          outgoing.on('close', () => resolve());
          outgoing.end(() => setImmediate(() => outgoing.destroy()));
        }),
    );
    await Promise.all(cancelled);
    const counted = await service.metric('gannet_http_requests_aborted_total');
    // Those that were answered before the client disconnected did run.
    expect((await report()).total_searches).toBeLessThanOrEqual(20 - counted);
  });

  it('leaves out later pages, so that a page past the end adds no term without results', async () => {
    await search('red');
    for (let time = 0; time < 2; ++time) await search('red', { skip: 1 });
    for (let time = 0; time < 2; ++time) {
      expect((await search('red', { skip: 100 })).body).toMatchObject({ results: [] });
    }
    expect(await report()).toMatchObject({
      total_searches: 1,
      zero_result_searches: 0,
      top_searches: [{ term: 'red', count: 1 }],
      top_zero_result_searches: [],
    });
  });

  it('compares terms without case, cuts them to 100 characters, and takes a search without text for no term', async () => {
    for (const query of ['RED', 'red', ' Red ', 'É'.repeat(150), 'é'.repeat(101), '', '  ']) await search(query);
    expect(await report()).toMatchObject({
      total_searches: 7,
      top_searches: [
        { term: 'red', count: 3 },
        { term: 'é'.repeat(100), count: 2 },
      ],
    });
  });

  it('counts a search of a group only in the report of the group', async () => {
    await searchGroup('red');
    expect(await report()).toMatchObject(EMPTY);
    expect(await report(`/analytics/list/default/${other}`)).toMatchObject(EMPTY);
    expect(await groupReport()).toMatchObject({ total_searches: 1 });
  });

  it('reports the 20 most frequent terms, the most frequent first', async () => {
    for (let term = 0; term < 25; ++term) for (let time = 0; time <= term; ++time) await search(`red ${term}`);
    const { top_searches: top } = await report();
    expect(top).toHaveLength(20);
    expect(top.slice(0, 2)).toEqual([
      { term: 'red 24', count: 25 },
      { term: 'red 23', count: 24 },
    ]);
  });
});

describe('clicks', () => {
  it('are counted and determine the click-through rate', async () => {
    const id = queryId(await search('red'));
    for (const result of ['a', 'b']) {
      const answer = await click({ query_id: id, result_id: `${list}-${result}` });
      expect([answer.status, answer.text]).toEqual([204, '']);
    }
    expect(await report()).toMatchObject({ total_searches: 1, total_clicks: 2, click_through_rate: 2 });
  });

  it('are counted even if their query_id is unknown', async () => {
    expect((await click({ query_id: 'anything', result_id: 'x' })).status).toBe(204);
    expect(await report()).toMatchObject({ total_searches: 0, total_clicks: 1, click_through_rate: 0 });
  });

  it('are accepted and record nothing if an id is empty or the list or group does not exist', async () => {
    for (const [id, result] of [
      ['', 'x'],
      ['  ', 'x'],
      ['x', ''],
      ['x', ' \t '],
    ]) {
      expect((await click({ query_id: id, result_id: result })).status).toBe(204);
      expect((await clickGroup({ query_id: id, result_id: result })).status).toBe(204);
    }
    expect((await click({ query_id: 'x', result_id: 'x' }, 'missing')).status).toBe(204);
    expect((await clickGroup({ query_id: 'x', result_id: 'x' }, 'missing')).status).toBe(204);
    expect(await report()).toMatchObject(EMPTY);
    expect(await groupReport()).toMatchObject(EMPTY);
  });

  it('are refused without a required field', async () => {
    for (const send of [click, clickGroup]) {
      expect((await send({ result_id: 'x' })).status).toBe(400);
      expect((await send({ query_id: 'x' })).status).toBe(400);
      expect((await send({ query_id: 'x', result_id: 'x', other: 1 })).status).toBe(400);
    }
  });

  it('on a group must name a list of that group; on a list, list_name is ignored', async () => {
    const ids = { query_id: 'x', result_id: 'y' };
    expect((await clickGroup({ ...ids, list_name: other })).status).toBe(204);
    expect((await clickGroup(ids)).status).toBe(204);
    const outside = await clickGroup({ ...ids, list_name: 'outside' });
    expect(outside.status).toBe(400);
    expect(outside.body).toMatchObject({ errors: [{ pointer: '/list_name' }] });
    expect((await click({ ...ids, list_name: 'outside' })).status).toBe(204);
    expect((await click({ ...ids, list_name: 7 })).status).toBe(204);
    expect(await groupReport()).toMatchObject({ total_clicks: 2 });
  });

  it('on a group may name a list of an earlier version that is still there, and no list that took the name of one', async () => {
    const ids = { query_id: 'x', result_id: 'y', list_name: other };
    const members = await service.client.put(`/list-group/default/${group}`, { lists: [{ list }] });
    expect(members.status, members.text).toBe(200);
    expect((await clickGroup(ids)).status).toBe(204);
    expect((await service.client.delete(`/list/default/${other}`)).status).toBe(204);
    const gone = await clickGroup(ids);
    expect(gone.body).toMatchObject({ status: 400, errors: [{ pointer: '/list_name' }] });
    expect((await service.client.post('/list/default', { name: other })).status).toBe(201);
    expect((await clickGroup(ids)).status).toBe(400);
    expect(await groupReport()).toMatchObject({ total_clicks: 1 });
  });

  it('on the route of a list are counted for the list, also with the query_id of a group search', async () => {
    const id = queryId(await searchGroup('red'));
    await click({ query_id: id, result_id: `${list}-a` });
    expect(await report()).toMatchObject({ total_searches: 0, total_clicks: 1 });
    expect(await groupReport()).toMatchObject({ total_searches: 1, total_clicks: 0 });
  });

  it('need the permission search-result:read, and the refusal names it', async () => {
    const reader = await service.clientFor({ access: 'custom', permissions: ['analytics:read'] });
    for (const path of [`list/default/${list}`, `group/default/${group}`]) {
      const refused = await reader.post(`/search/analytics/click/${path}`, { query_id: 'x', result_id: 'y' });
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('search-result:read');
    }
    const scoped = await service.clientFor({ access: 'full', scope: 'list', scope_target: other });
    const outside = await scoped.post(`/search/analytics/click/list/default/${list}`, {
      query_id: 'x',
      result_id: 'y',
    });
    expect(outside.status).toBe(403);
    expect(outside.text).toContain('search-result:read');
    const missing = await scoped.post('/search/analytics/click/list/default/missing', {
      query_id: 'x',
      result_id: 'y',
    });
    expect(missing.status).toBe(403);
  });
});

describe('the limit on searches per minute', () => {
  it('is used up by clicks and searches alike', async () => {
    const limited = await startTestService({ env: { GANNET_SEARCH_RATE_PER_MINUTE: '3' } });
    try {
      const target = '/search/analytics/click/list/default/missing';
      const send = () => limited.client.post(target, { query_id: 'x', result_id: 'y' });
      for (let time = 0; time < 3; ++time) expect((await send()).status).toBe(204);
      const refused = await send();
      expect(refused.status).toBe(429);
      expect(Number(refused.headers['retry-after'])).toBe(
        (refused.body as { retry_after_seconds: number }).retry_after_seconds,
      );
      const groupRefused = await limited.client.post('/search/analytics/click/group/default/missing', {});
      expect(groupRefused.status).toBe(429);
    } finally {
      await limited.close();
    }
  });
});

describe('reports', () => {
  it('have every member, and a row for every day', async () => {
    const before = today();
    const answer = await client.get(`/analytics/list/default/${list}`);
    expect(answer.body).toEqual({
      account: 'default',
      scope: 'list',
      target: list,
      from: expect.any(String),
      to: expect.any(String),
      ...EMPTY,
      daily: expect.any(Array),
    });
    const { from, to, daily } = answer.body as ReportFigures;
    expect(to).toBeOneOf([before, today()]);
    expect(daily).toHaveLength(30);
    expect([daily[0]?.date, daily.at(-1)?.date]).toEqual([from, to]);
    expect(daily[7]).toMatchObject({ searches: 0, zero_result_searches: 0, clicks: 0 });
    expect((await client.get(`/analytics/group/default/${group}`)).body).toMatchObject({
      scope: 'group',
      target: group,
    });
  });

  it('cover the days that were asked for', async () => {
    const before = today();
    await search('red');
    const after = today();
    const path = `/analytics/list/default/${list}`;
    const counted = await report(path, { from: before, to: after });
    expect(counted).toMatchObject({ from: before, to: after, total_searches: 1 });
    expect(timeless(counted).daily).toMatchObject([{ date: expect.toBeOneOf([before, after]), searches: 1 }]);
    expect(await report(path, { from: '2020-01-31', to: '2020-02-01' })).toMatchObject({
      ...EMPTY,
      from: '2020-01-31',
      to: '2020-02-01',
      daily: [{ date: '2020-01-31' }, { date: '2020-02-01' }],
    });
    const future = await report(path, { from: '2999-01-01', to: '2999-01-02' });
    expect(future.from).toBeOneOf([after, today()]);
    expect(future.to).toBe(future.from);
    expect((await report(path, { from: '2000-01-01' })).daily).toHaveLength(366);
    for (const wrong of ['2026-02-30', '2026-2-3', 'today', '']) {
      expect((await client.get(path, { from: wrong })).status, wrong).toBe(400);
    }
  });

  it('need the permission analytics:read on the account or the list, and the refusal names it', async () => {
    const searcher = await service.clientFor({ access: 'search-and-read' });
    const scoped = await service.clientFor({ access: 'read-all', scope: 'list', scope_target: other });
    for (const path of [`list/default/${list}`, `group/default/${group}`]) {
      for (const caller of [searcher, scoped]) {
        const refused = await caller.get(`/analytics/${path}`);
        expect(refused.status).toBe(403);
        expect(refused.text).toContain('analytics:read');
      }
    }
    expect((await scoped.get(`/analytics/list/default/${other}`)).status).toBe(200);
    expect(
      (await service.clientFor({ access: 'read-all' }).then((all) => all.get(`/analytics/list/default/${list}`)))
        .status,
    ).toBe(200);
  });

  it('are refused for a list or group that does not exist', async () => {
    expect((await client.get('/analytics/list/default/missing')).status).toBe(404);
    expect((await client.get('/analytics/group/default/missing')).status).toBe(404);
    const scoped = await service.clientFor({ access: 'read-all', scope: 'list', scope_target: list });
    expect((await scoped.get('/analytics/group/default/missing')).status).toBe(403);
  });

  it('stay the same after events are rolled up and after a restart', async () => {
    await search('red');
    await search('nothing like it');
    await click({ query_id: queryId(await searchGroup('kite')), result_id: `${list}-a` });
    const before = timeless(await report());
    const rolledUp = () => service.metric('gannet_analytics_events_rolled_up_total');
    while ((await rolledUp()) < (await service.metric('gannet_analytics_events_total{kind="search"}'))) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(timeless(await report())).toEqual(before);
    await service.stop();
    await service.start();
    client = service.client;
    expect(timeless(await report())).toEqual(before);
    expect(await groupReport()).toMatchObject({ total_searches: 1 });
  });

  it('start from zero for a list or group that was deleted and created again', async () => {
    await search('red');
    await searchGroup('red');
    await report();
    await client.delete(`/list-group/default/${group}`);
    await client.delete(`/list/default/${list}`);
    expect((await client.get(`/analytics/list/default/${list}`)).status).toBe(404);
    await client.post('/list/default', { name: list, searchable_fields: [{ name: 'text' }] });
    await client.post('/list-group/default', { name: group, lists: [{ list }] });
    expect(await report()).toMatchObject(EMPTY);
    expect(await groupReport()).toMatchObject(EMPTY);
  });
});
