import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

const WORDS = ['red', 'green', 'blue', 'sea', 'bird', 'fish'];
let service: TestService;
beforeAll(async () => {
  service = await startTestService({ clock: 'jumping', env: { GANNET_SEARCH_THREADS: '2' } });
  for (const name of ['one', 'two']) {
    await service.client.post('/list/default', {
      name,
      searchable_fields: [{ name: 'text' }],
      facets: [{ name: 'size', type: 'number' }],
    });
    await service.client.bulk('default', name, [{ name: `${name}-a`, text: 'red sea bird', size: 1 }]);
  }
  await service.client.post('/list-group/default', { name: 'both', lists: [{ list: 'one' }, { list: 'two' }] });
});
afterAll(() => service.close());

function search(options: Record<string, string | number | boolean>, path = '/search/default/one/1'): Promise<Answer> {
  return service.client.get(path, options);
}
const fromCache = ({ headers }: Answer) => headers['x-cache'];
const TIMES_MAX = 5;
/**
 * Asks until an answer comes from the cache. Background work on a list (merged segments, a new day) is a reason to
 * compute the answer again whenever it comes, but not again and again.
 */
async function repeated(ask: () => Promise<Answer>): Promise<Answer> {
  for (let times = 1; ; ++times) {
    const answer = await ask();
    if (fromCache(answer) === 'hit' || times === TIMES_MAX) return answer;
  }
}
/** Returns all that two runs of the same search have in common. */
function same({ status, body }: Answer): unknown {
  const { query_id: _id, took_ms: _ms, ...rest } = body as Record<string, unknown>;
  return { status, ...rest };
}

describe('the cache of search results', () => {
  it('answers a repeated request with a fresh query_id, and marks the answer as a hit', async () => {
    const red = () => search({ query: 'red' });
    const [first, second] = [await red(), await repeated(red)];
    expect([fromCache(first), fromCache(second)]).toEqual(['miss', 'hit']);
    expect(same(second)).toEqual(same(first));
    const ids = [first, second].map(({ body }) => (body as { query_id: string }).query_id);
    expect(new Set(ids).size).toBe(2);
    expect(ids[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect((second.body as { took_ms: number }).took_ms).toBeGreaterThanOrEqual(0);
    const posted = { query: 'red sea', match: 'all' };
    const path = '/search/default/one/1';
    expect(fromCache(await service.client.post(path, posted))).toBe('miss');
    expect(fromCache(await repeated(() => service.client.post(path, posted)))).toBe('hit');
  });

  it('recognizes the same request in different forms', async () => {
    let size = 5;
    // Asks in all forms within one state of the list, as background work may change it.
    const inAllForms = async () => {
      size += 1;
      return [
        await search({ query: 'sea bird', size }),
        await search({ size, query: 'sea bird' }),
        await search({ query: ' sea bird ', size, match: 'any', highlight: true, skip: 0, typo_tolerance: true }),
        await service.client.post('/search/default/one/1', { size, query: 'sea bird' }),
      ].map(fromCache);
    };
    const answered = await eventually(inAllForms, ([, ...others]) => others.every((how) => how === 'hit'));
    expect(answered).toEqual(['miss', 'hit', 'hit', 'hit']);
    expect(fromCache(await search({ query: 'sea bird', size: 5 }))).toBe('miss');
    expect(fromCache(await search({ query: 'sea bird', size, match: 'all' }))).toBe('miss');
  });

  it('is bypassed with cache=false', async () => {
    await search({ query: 'bird' });
    expect(fromCache(await search({ query: 'bird', cache: false }))).toBe('miss');
    expect(fromCache(await search({ query: 'bird', cache: 'false' }))).toBe('miss');
    await search({ query: 'only this', cache: false });
    expect(fromCache(await search({ query: 'only this' }))).toBe('miss');
  });

  it('returns no answer of another list or version, or from before a write or change of settings', async () => {
    const query = { query: 'red' };
    await search(query);
    const two = await search(query, '/search/default/two/1');
    expect(two.body).toMatchObject({ list_name: 'two', results: [{ name: 'two-a' }] });
    expect((await search(query, '/search/default/one/2')).status).toBe(404);
    expect((await search(query, '/search/default/missing/1')).status).toBe(404);
    await service.client.post('/search-result/default/one', { name: 'one-b', text: 'red', size: 2 });
    const after = await search(query);
    expect(fromCache(after)).toBe('miss');
    expect(after.body).toMatchObject({ total_count: 2 });
    await service.client.put('/list/synonyms/default/one', {
      rules: [{ kind: 'equivalent', terms: ['crimson', 'red'] }],
    });
    expect(fromCache(await search(query))).toBe('miss');
    await service.client.put('/list/synonyms/default/one', { rules: [] });
  });

  it('answers for a group until one of its lists changes', async () => {
    const path = '/search/group/default/both/latest';
    const before = await search({ query: 'red' }, path);
    expect(fromCache(await repeated(() => search({ query: 'red' }, path)))).toBe('hit');
    expect(fromCache(await repeated(() => search({ query: 'red' }, '/search/group/default/both/1')))).toBe('hit');
    await service.client.post('/search-result/default/two', { name: 'two-b', text: 'red' });
    const after = await search({ query: 'red' }, path);
    expect(fromCache(after)).toBe('miss');
    const count = ({ body }: Answer) => (body as { total_count: number }).total_count;
    expect(count(after)).toBe(count(before) + 1);
  });

  it('checks the permission before it answers, and the search is counted', async () => {
    await search({ query: 'green' });
    const stranger = await service.clientFor({ permissions: ['list:read'] });
    expect((await stranger.get('/search/default/one/1', { query: 'green' })).status).toBe(403);
    expect((await service.clientWith(undefined).get('/search/default/one/1', { query: 'green' })).status).toBe(401);
    const [searches, hits] = ['gannet_searches_total', 'gannet_search_cache_hits_total'];
    const counts = () => Promise.all([service.metric(searches), service.metric(hits)]);
    const counted = async () => ({ before: await counts(), how: fromCache(await search({ query: 'green' })) });
    const { before } = await eventually(counted, ({ how }) => how === 'hit');
    expect(await counts()).toEqual(before.map((count) => count + 1));
  });

  it('answers no key of another scope, expired or deleted, while it answers others', async () => {
    const path = '/search/default/one/1';
    const query = { query: 'fish' };
    const ask = async (client: ServiceClient) => {
      const answer = await repeated(() => client.get(path, query));
      return [answer.status, fromCache(answer)];
    };
    await search(query);
    const created = await service.createKey({ scope: 'list', scope_target: 'one' });
    const own = service.clientWith(created.key);
    const other = await service.clientFor({ scope: 'list', scope_target: 'two' });
    for (let run = 0; run < 2; ++run) {
      expect(await ask(own)).toEqual([200, 'hit']);
      expect(await ask(other)).toEqual([403, undefined]);
    }
    const ending = await service.clientFor({ expires_at: new Date(Date.now() + 12 * 3_600_000).toISOString() });
    expect(await ask(ending)).toEqual([200, 'hit']);
    await service.control().delete(`/api-key/default/${created.id}`);
    expect(await ask(own)).toEqual([401, undefined]);
    service.jumpADay();
    await eventually(
      () => ask(ending),
      ([status]) => status === 401,
    );
    // The new day may bring background work, which is a reason to compute the answer again once.
    await eventually(
      () => ask(service.client),
      ([status, how]) => status === 200 && how === 'hit',
    );
  });

  it('gives each of many simultaneous answers its own id', async () => {
    // Waits for answers from one generation: background work on the list may be a reason to compute the answer again
    // once.
    const answers = await eventually(
      () => Promise.all(Array.from({ length: 100 }, () => search({ query: 'sea fish' }))),
      (given) => given.every((answer) => fromCache(answer) === 'hit'),
    );
    for (const id of [
      ({ body }: Answer) => (body as { query_id: string }).query_id,
      ({ headers }: Answer) => headers['x-request-id'],
    ]) {
      expect(new Set(answers.map(id)).size).toBe(100);
    }
    const took = ({ body }: Answer) => (body as { took_ms: number }).took_ms.toFixed(3);
    for (const answer of answers) {
      expect(answer.headers['server-timing']).toBe(`cache;dur=${took(answer)}, total;dur=${took(answer)}`);
    }
  });

  it('returns nothing from a list that was deleted and created again', async () => {
    const definition = { name: 'brief', searchable_fields: [{ name: 'text' }] };
    const path = '/search/default/brief/1';
    for (const text of ['red sea', 'blue fish']) {
      await service.client.post('/list/default', definition);
      await service.client.post('/search-result/default/brief', { name: text, text });
      const answers = [await search({}, path), await repeated(() => search({}, path))];
      expect(answers.map(fromCache)).toEqual(['miss', 'hit']);
      for (const { body } of answers) expect(body).toMatchObject({ results: [{ name: text }] });
      await service.client.delete('/list/default/brief');
      expect((await search({}, path)).status).toBe(404);
    }
  });

  it('keeps no refused searches', async () => {
    for (let run = 0; run < 2; ++run) expect((await search({ query: 'red', filter: 'siez = 1' })).status).toBe(400);
  });

  it('answers as a search without the cache does, whatever is written in between', async () => {
    const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    const write = fc.record({
      kind: fc.constant('write'),
      name: fc.integer({ min: 0, max: 5 }),
      text,
      size: fc.nat(9),
    });
    const read = fc.record(
      {
        query: text,
        match: fc.constantFrom('any', 'all', 'phrase'),
        filter: fc.constantFrom('size > 3', 'size <= 3'),
        facets: fc.constant('size'),
        size: fc.integer({ min: 0, max: 3 }),
        group: fc.boolean(),
      },
      { requiredKeys: ['group'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(write, read), { minLength: 5, maxLength: 20 }), async (steps) => {
        for (const step of steps) {
          if ('text' in step) {
            const { name, text: words, size } = step;
            await service.client.post('/search-result/default/one', { name: `record-${name}`, text: words, size });
            continue;
          }
          const { group, ...options } = step;
          const path = group ? '/search/group/default/both/latest' : '/search/default/one/1';
          // A background merge drops deleted records from the statistics behind the scores. An answer is kept for one
          // state of the lists, and no state comes back: if the third request finds the answer of the first, all
          // three saw the same state.
          const threeAnswers = async () => [
            await search(options, path),
            await search({ ...options, cache: false }, path),
            await search(options, path),
          ];
          const answers = await eventually(threeAnswers, (three) => fromCache(three[2] as Answer) === 'hit');
          for (const answer of answers) expect(same(answer)).toEqual(same(answers[1] as Answer));
        }
      }),
      { numRuns: 30 },
    );
  });
});

it('A search answered from the cache counts towards the limit on searches per minute', async () => {
  const limited = await startTestService({ env: { GANNET_SEARCH_RATE_PER_MINUTE: '3' } });
  try {
    await limited.client.post('/list/default', { name: 'one', searchable_fields: [{ name: 'text' }] });
    const answers: Answer[] = [];
    for (let run = 0; run < 4; ++run) answers.push(await limited.client.get('/search/default/one/1', { query: 'red' }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(fromCache)).toContain('hit');
  } finally {
    await limited.close();
  }
});

it('The cache can be turned off', async () => {
  const without = await startTestService({ env: { GANNET_SEARCH_CACHE_MIB: '0' } });
  try {
    await without.client.post('/list/default', { name: 'one', searchable_fields: [{ name: 'text' }] });
    for (let run = 0; run < 2; ++run) {
      expect(fromCache(await without.client.get('/search/default/one/1', { query: 'red' }))).toBe('miss');
    }
  } finally {
    await without.close();
  }
});
