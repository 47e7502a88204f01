/**
 * Tests rerankers of lists and groups from outside: the order that they give, how it is reported and counted, and
 * searches without them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answering, startScriptedModel, wellBehaved } from '../support/scripted-model.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly '@text_score': number;
  readonly list_name?: string;
  readonly explain?: { readonly reranker?: { readonly place_before: number; readonly relevance: number } };
}
interface Found {
  readonly query_id: string;
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly applied: { readonly reranker: { readonly name: string; readonly reordered: boolean } | null };
}

/** The scripted reranker prefers long texts, and the score of words prefers short ones. */
const RECORDS = Array.from({ length: 6 }, (_, n) => ({
  name: `r${n}`,
  title: `apple${' pie'.repeat(n)}`,
  size: n,
  kind: n % 3 === 0 ? 'tart' : 'pie',
}));
const BEST_FIRST = ['r5', 'r4', 'r3', 'r2', 'r1', 'r0'];
const TOP = 4;

let service: TestService;
let server: ScriptedServer;
let client: ServiceClient;
/** Starts a service with a list that has the reranker, and one that has none. */
async function startWithLists(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const started = await startTestService({
    env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', GANNET_MODELS_RERANKER_TOP: String(TOP), ...env },
  });
  const model = { name: 'long', kind: 'reranker', provider: 'rerank', url: server.url('/rerank') };
  const added = await started.control().post('/model/default', model);
  expect(added.status, added.text).toBe(201);
  for (const [name, settings] of Object.entries({ pies: { reranker: 'long' }, plain: {} })) {
    const made = await started.client.post('/list/default', {
      name,
      searchable_fields: [{ name: 'title' }],
      facets: [
        { name: 'size', type: 'number' },
        { name: 'kind', type: 'string' },
      ],
      ...settings,
    });
    expect(made.status, made.text).toBe(201);
    await started.client.bulk('default', name, RECORDS);
  }
  return started;
}

beforeAll(async () => {
  server = await startScriptedModel();
  service = await startWithLists();
  ({ client } = service);
  const group = { name: 'both', lists: [{ list: 'pies' }, { list: 'plain' }], reranker: 'long' };
  expect((await client.post('/list-group/default', group)).status).toBe(201);
});
afterAll(async () => {
  await service.close();
  await server.close();
});

async function search(
  options: Readonly<Record<string, unknown>>,
  path = '/search/default/pies/1',
  by = client,
): Promise<Found> {
  const { status, text, body } = await by.post(path, { query: 'apple', ...options });
  expect(status, text).toBe(200);
  return body as Found;
}
const namesOf = ({ results }: Found) => results.map(({ name }) => name);

/** Returns the best hits by score ordered by length, then the others as they were. */
async function expected(): Promise<string[]> {
  const byScore = namesOf(await search({ reranker: false }));
  const top = byScore.slice(0, TOP).sort((left, right) => BEST_FIRST.indexOf(left) - BEST_FIRST.indexOf(right));
  return [...top, ...byScore.slice(TOP)];
}

describe('a reranker', () => {
  it('reorders the best hits, keeps their scores, and is named in the answer', async () => {
    const plain = await search({ reranker: false, explain: true });
    const reranked = await search({ explain: true });
    expect(plain.applied.reranker).toBeNull();
    expect(reranked.applied.reranker).toEqual({ name: 'long', reordered: true });
    expect(namesOf(reranked)).toEqual(await expected());
    expect(namesOf(reranked)).not.toEqual(namesOf(plain));
    expect(reranked.total_count).toBe(plain.total_count);
    const scores = (found: Found) => Object.fromEntries(found.results.map((hit) => [hit.name, hit['@text_score']]));
    expect(scores(reranked)).toEqual(scores(plain));
    expect(reranked.results.map(({ explain }) => explain?.reranker?.place_before)).toEqual(
      namesOf(reranked).map((name) => namesOf(plain).indexOf(name)),
    );
  });

  it('works with facets and facet_query', async () => {
    const options = { query: 'apple', facets: ['kind'], facet_query: 'p' };
    const { status, text, body } = await client.post('/search/default/pies/1', options);
    expect([status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    expect(body).toMatchObject({ applied: { reranker: { reordered: true } } });
  });

  it('orders what is left with one hit per value, of a list and of a group', async () => {
    for (const path of ['/search/default/pies/1', '/search/group/default/both/latest']) {
      const plain = await search({ reranker: false, distinct: 'kind' }, path);
      const reranked = await search({ distinct: 'kind' }, path);
      expect([plain.total_count, plain.results.length, reranked.total_count]).toEqual([2, 2, 2]);
      expect(reranked.applied.reranker).toEqual({ name: 'long', reordered: true });
      const longestFirst = namesOf(plain).sort((a, b) => BEST_FIRST.indexOf(a) - BEST_FIRST.indexOf(b));
      expect(namesOf(reranked)).toEqual(longestFirst);
      expect(longestFirst).not.toEqual(namesOf(plain));
    }
  });

  it('gives the same order on several pages as on one', async () => {
    const whole = await expected();
    const pages: string[] = [];
    for (let skip = 0; skip < RECORDS.length; skip += 2) pages.push(...namesOf(await search({ skip, size: 2 })));
    expect(pages).toEqual(whole);
    expect((await search({ skip: TOP, size: 2 })).applied.reranker).toBeNull();
  });

  it('is not called for other orders, or without a query', async () => {
    for (const options of [{ order_by: 'size asc' }, { ranking: 'none' }, { query: '' }]) {
      expect((await search(options)).applied.reranker).toBeNull();
    }
  });

  it('reorders the hits of a group as a whole', async () => {
    const path = '/search/group/default/both/latest';
    const byScore = await search({ reranker: false, size: 100 }, path);
    const reranked = await search({ size: 100 }, path);
    const key = ({ name, list_name: list }: Hit) => `${list}/${name}`;
    expect(reranked.results.map(key).sort()).toEqual(byScore.results.map(key).sort());
    const lengths = reranked.results.slice(0, TOP).map(({ name }) => -BEST_FIRST.indexOf(name));
    expect(lengths).toEqual([...lengths].sort((left, right) => right - left));
    expect(reranked.results.slice(TOP).map(key)).toEqual(byScore.results.slice(TOP).map(key));
  });

  it('leaves the order as it is if it fails or answers nonsense, and the answer says so', async () => {
    const byScore = namesOf(await search({ reranker: false, cache: false }));
    const nonsense = { results: [{ index: 0, relevance_score: 'high' }] };
    for (const script of [answering(500, '{}'), answering(200, JSON.stringify(nonsense))]) {
      server.script = script;
      const found = await search({});
      expect(found.applied.reranker).toEqual({ name: 'long', reordered: false });
      expect(namesOf(found)).toEqual(byScore);
    }
    server.script = wellBehaved;
    // No answer without the reranker is cached.
    await eventually(
      async () => (await search({})).applied.reranker?.reordered,
      (reordered) => reordered === true,
    );
  });

  it('is not waited for longer than the time limit of a search', async () => {
    const hurried = await startWithLists({ GANNET_MODELS_RERANKER_MS: '500' });
    try {
      const byScore = namesOf(await search({ reranker: false, cache: false }, undefined, hurried.client));
      server.script = () => undefined;
      const found = await search({}, undefined, hurried.client);
      expect(found.applied.reranker).toEqual({ name: 'long', reordered: false });
      expect(namesOf(found)).toEqual(byScore);
    } finally {
      server.script = wellBehaved;
      await hurried.close();
    }
  });

  it('is counted in analytics, with how it moved hits and clicks on them', async () => {
    await client.post('/list/default', {
      name: 'counted',
      searchable_fields: [{ name: 'title' }],
      reranker: 'long',
    });
    await client.bulk('default', 'counted', RECORDS);
    const path = '/search/default/counted/1';
    const byScore = namesOf(await search({ reranker: false, skip: 1 }, path));
    const all = [namesOf(await search({ reranker: false, skip: 0, size: 1 }, path))[0] as string, ...byScore];
    const first = await search({}, path);
    // Answered from the cache, and counted like the first.
    const second = await search({}, path);
    const clicked = namesOf(first)[0] as string;
    for (const { query_id } of [first, second]) {
      const click = { query_id, result_id: clicked };
      expect((await client.post('/search/analytics/click/list/default/counted', click)).status).toBe(204);
    }
    const report = await eventually(
      async () => (await client.get('/analytics/list/default/counted')).body as Record<string, number>,
      ({ total_searches: searches, total_clicks: clicks }) => searches === 3 && clicks === 2,
    );
    expect(report).toMatchObject({
      reranked_searches: 2,
      reranker_top_changed_rate: clicked === all[0] ? 0 : 1,
      reranker_mean_displacement: 0,
      reranker_click_lift: all.indexOf(clicked),
      reranker_lift_sample_size: 2,
    });
    expect(all.indexOf(clicked)).toBeGreaterThan(0);
  });

  it('is refused under an unknown name, and cannot be deleted while it is used', async () => {
    for (const [path, body] of [
      ['/list/default', { name: 'other', reranker: 'nobody' }],
      ['/list-group/default', { name: 'other', reranker: 'nobody', lists: [] }],
    ] as const) {
      const { status, body: problem } = await client.post(path, body);
      expect([status, problem]).toMatchObject([422, { detail: expect.stringContaining('nobody') as string }]);
    }
    expect((await client.put('/list/default/plain', { reranker: 'nobody' })).status).toBe(422);
    expect((await service.control().delete('/model/default/long')).status).toBe(409);
  });
});

describe('the preview of a synonym rule', () => {
  const RULE = { kind: 'equivalent', terms: ['apple', 'tart'] };
  const path = '/list/synonym-preview/default/pies';
  interface Preview {
    readonly changes_nothing: boolean;
    readonly words: readonly Record<'before' | 'after', Found>[];
  }
  const preview = async (): Promise<Preview> => (await client.post(path, RULE)).body as Preview;
  const sides = ({ words }: Preview, side: 'before' | 'after') => words.map((word) => namesOf(word[side]));
  const searched = async () => [
    namesOf(await search({ size: 10 })),
    namesOf(await search({ size: 10, query: 'tart' })),
  ];

  it('is in the order of the reranker, as the searches are', async () => {
    const previewed = await preview();
    expect(sides(previewed, 'before')).toEqual(await searched());
    expect((await client.put('/list/synonyms/default/pies', { rules: [RULE] })).status).toBe(200);
    expect(sides(previewed, 'after')).toEqual(await searched());
    // The rule that is in force already changes nothing.
    expect((await preview()).changes_nothing).toBe(true);
  });

  it('says that a rule changes nothing also if the reranker ordered only one of the two searches', async () => {
    let calls = 0;
    server.script = (asked, response) => {
      calls += 1;
      (calls === 1 ? answering(503, '{}') : wellBehaved)(asked, response);
    };
    expect((await preview()).changes_nothing).toBe(true);
    server.script = wellBehaved;
  });
});
