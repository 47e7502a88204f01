/** Tests what suggestions and related records learn from searches and clicks. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface Suggestion {
  readonly text: string;
  readonly kind: string;
  readonly highlight: string;
  readonly record_count?: number;
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_ANALYTICS_ROLL_UP_SECONDS: '1' } });
  for (const [name, require_click] of [
    ['birds', false],
    ['clicked', true],
  ] as const) {
    await service.client.post('/list/default', {
      name,
      searchable_fields: [{ name: 'text' }],
      facets: [{ name: 'size', type: 'number' }],
      suggestions: { require_click },
    });
    await service.client.bulk('default', name, [
      { name: 'one', text: 'gannets dive from high above the sea', size: 1 },
      { name: 'two', text: 'gannets dive for fish', size: 2 },
      { name: 'three', text: 'a lighthouse keeper', size: 1 },
      { name: 'four', text: 'gannet colonies of the north', size: 1 },
    ]);
  }
  await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'birds' }, { list: 'clicked' }] });
});
afterAll(() => service.close());

async function search(list: string, query: string): Promise<string> {
  const answer = await service.client.get(`/search/default/${list}/1`, { query });
  return (answer.body as { query_id: string }).query_id;
}
const click = (list: string, query_id: string, result_id: string) =>
  service.client.post(`/search/analytics/click/list/default/${list}`, { query_id, result_id });
async function suggest(list: string, query: string): Promise<readonly Suggestion[]> {
  const { body } = await service.client.get(`/suggest/default/${list}/1`, { query });
  return (body as { suggestions: Suggestion[] }).suggestions;
}
/** Waits until this number of searches and clicks is rolled up since the start. */
const counted = (count: number) =>
  eventually(
    () => service.metric('gannet_analytics_events_rolled_up_total'),
    (events) => events >= count,
  );
const queries = (suggestions: readonly Suggestion[]) =>
  suggestions.filter(({ kind }) => kind === 'query').map(({ text }) => text);

it('Suggestions begin with queries that others searched for with hits, also for misspelt input', async () => {
  for (let time = 0; time < 3; ++time) await search('birds', 'Gannets dive');
  for (let time = 0; time < 2; ++time) await search('birds', 'gannets fish');
  await search('birds', 'gannets once');
  // These queries have hits only by typo tolerance, or none.
  for (let time = 0; time < 4; ++time) await search('birds', 'gannets dvie');
  for (let time = 0; time < 5; ++time) await search('birds', 'gannetry');
  await counted(15);
  // On a busy machine the first searches may be counted, and learned from, before the last.
  const expected = ['gannets dive', 'gannets fish', 'gannets', 'gannet'];
  const found = await eventually(
    () => suggest('birds', 'gan'),
    (suggestions) => queries(suggestions).join() === expected.join(),
  );
  expect(found[0]).toEqual({
    text: 'gannets dive',
    kind: 'query',
    highlight: 'gan<em>nets dive</em>',
    record_count: 2,
  });
  expect(queries(await suggest('birds', 'gnanets'))[0]).toBe('gannets dive');
  expect(queries(await suggest('birds', 'gannets f'))[0]).toBe('gannets fish');
});

it("A list with require_click suggests only queries that led to a click on the list's own route", async () => {
  for (let time = 0; time < 3; ++time) await search('clicked', 'gannets dive');
  const id = await search('clicked', 'gannets fish');
  await click('clicked', id, 'two');
  const { body } = await service.client.get('/search/group/default/all/latest', { query: 'gannets sea' });
  const ofGroup = { query_id: (body as { query_id: string }).query_id, result_id: 'one', list_name: 'clicked' };
  for (let time = 0; time < 3; ++time) await service.client.post('/search/analytics/click/group/default/all', ofGroup);
  await counted(24);
  const found = await eventually(
    () => suggest('clicked', 'gannets '),
    (suggestions) => queries(suggestions).length > 0,
  );
  expect(queries(found)).toEqual(['gannets fish']);
});

it('Related records begin with those clicked after the same searches, within the filter and the page', async () => {
  const related = async (query: Record<string, string | number> = {}) => {
    const { body } = await service.client.get('/related/default/birds/1/one', query);
    const { results, total_count } = body as { results: { name: string }[]; total_count: number };
    return { names: results.map(({ name }) => name), total_count };
  };
  expect((await related()).names).toEqual(['two', 'four']);
  for (let time = 0; time < 3; ++time) {
    const id = await search('birds', 'lighthouse or gannets');
    await click('birds', id, 'one');
    await click('birds', id, 'three');
    await click('birds', id, 'gone');
  }
  const learned = await eventually(related, ({ names }) => names.includes('three'));
  expect(learned).toEqual({ names: ['three', 'two', 'four'], total_count: 3 });
  expect(await related({ skip: 1, size: 1 })).toEqual({ names: ['two'], total_count: 3 });
  expect(await related({ size: 1 })).toEqual({ names: ['three'], total_count: 3 });
  expect(await related({ filter: 'size = 2' })).toEqual({ names: ['two'], total_count: 1 });
});
