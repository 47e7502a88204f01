/** Tests searches by meaning from outside: hits, scores, and searches while a model cannot be reached. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { answering, startScriptedModel, topicVector, topics } from '../support/scripted-model.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

interface Explained {
  readonly score: number;
  readonly sources?: readonly {
    readonly kind: string;
    readonly score: number;
    readonly cosine?: number;
    readonly way?: string;
  }[];
  readonly meaning?: {
    readonly floor: number;
    readonly nearest: number;
    readonly farthest: number;
    readonly calibrated_on: number;
    readonly like?: readonly string[];
  };
}
interface Hit {
  readonly name: string;
  readonly '@text_score': number;
  readonly list_name?: string;
  readonly explain?: Explained;
}
interface Found {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
  readonly applied: { readonly meaning: string; readonly reranker: unknown };
}

/** Texts about sea, money and cooking; each word is in one text only. */
const RECORDS = [
  { name: 'sea-1', title: 'gannet diving', topic: 'sea', size: 1 },
  { name: 'sea-2', title: 'cormorant fishing', topic: 'sea', size: 2 },
  { name: 'sea-3', title: 'trawler harbour', topic: 'sea', size: 3 },
  { name: 'money-1', title: 'interest rates', topic: 'money', size: 4 },
  { name: 'money-2', title: 'bonds coupon', topic: 'money', size: 5 },
  { name: 'money-3', title: 'inflation target', topic: 'money', size: 6 },
  { name: 'cook-1', title: 'simmer broth', topic: 'cook', size: 7 },
  { name: 'cook-2', title: 'knead dough', topic: 'cook', size: 8 },
];
const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  facets: [
    { name: 'topic', type: 'string' },
    { name: 'size', type: 'number' },
  ],
};

let service: TestService;
let server: ScriptedServer;
let client: ServiceClient;

async function startWithModel(env: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const started = await startTestService({ env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true', ...env } });
  const model = { name: 'topics', provider: 'openai', url: server.url('/v1'), served_name: 'topics' };
  const added = await started.control().post('/model/default', model);
  expect(added.status, added.text).toBe(201);
  return started;
}

beforeAll(async () => {
  server = await startScriptedModel();
  server.script = topics;
  service = await startWithModel();
  ({ client } = service);
  for (const [name, settings] of Object.entries({ texts: { model: 'topics' }, vectors: { model: 'own' }, words: {} })) {
    const made = await client.post('/list/default', { name, ...DEFINITION, ...settings });
    expect(made.status, made.text).toBe(201);
  }
  await client.bulk('default', 'texts', RECORDS);
  await client.bulk('default', 'words', RECORDS);
  const withVectors = RECORDS.map(({ name, ...fields }) => ({ name, fields, vector: topicVector(fields.title) }));
  await client.bulk('default', 'vectors', withVectors);
  const group = { name: 'all', lists: [{ list: 'texts' }, { list: 'words' }, { list: 'vectors' }] };
  expect((await client.post('/list-group/default', group)).status).toBe(201);
  await embedded('texts', RECORDS.length);
  await embedded('vectors', RECORDS.length);
});
afterAll(async () => {
  await service.close();
  await server.close();
});

async function embedded(list: string, count: number): Promise<void> {
  const meaning = async () =>
    ((await client.get(`/list/default/${list}`)).body as { meaning: { state: string; embedded: number } }).meaning;
  await eventually(meaning, ({ state, embedded: done }) => state === 'ready' && done === count);
  // The scale of the cosines is calibrated afterwards; until then, scores are those of the previous scale.
  const vector = list === 'vectors' ? { vector: topicVector('ocean') } : {};
  const scale = async () => {
    const { results } = (await ask(list, { query: 'ocean', ...vector, explain: true, cache: false })).body as Found;
    return results[0]?.explain?.meaning?.calibrated_on;
  };
  await eventually(scale, (calibratedOn) => calibratedOn === count);
}

type Options = Readonly<Record<string, unknown>>;
const ask = (list: string, options: Options): Promise<Answer> =>
  client.post(list === 'all' ? '/search/group/default/all/latest' : `/search/default/${list}/1`, options);

async function search(list: string, options: Options): Promise<Found> {
  const { status, text, body } = await ask(list, options);
  expect(status, text).toBe(200);
  return body as Found;
}
const namesOf = ({ results }: Found) => results.map(({ name }) => name);

describe('a search of a list with a model', () => {
  it('finds records by meaning that share no word with the query, and says so', async () => {
    const found = await search('texts', { query: 'ocean birds', explain: true });
    expect(found.applied).toMatchObject({ meaning: 'used', reranker: null });
    expect(namesOf(found).sort()).toEqual(['sea-1', 'sea-2', 'sea-3']);
    expect(found.total_count).toBe(3);
    const [best] = found.results;
    expect(best?.explain?.sources).toMatchObject([{ kind: 'meaning', way: 'scan' }]);
    expect(best?.explain?.meaning?.nearest).toBeGreaterThan(best?.explain?.meaning?.farthest ?? 1);
  });

  it('ranks hits of words and meaning above hits of only one of them', async () => {
    const found = await search('texts', { query: 'cormorant' });
    expect(namesOf(found)[0]).toBe('sea-2');
    expect(found.total_count).toBe(3);
    for (const { '@text_score': score } of found.results) expect(score >= 0 && score <= 1).toBe(true);
  });

  it('mixes the best hits of the words into what a text means, but not into a vector that was sent', async () => {
    const likeOf = ({ results }: Found) => results[0]?.explain?.meaning?.like;
    expect(likeOf(await search('texts', { query: 'cormorant', explain: true }))).toEqual(['sea-2']);
    expect(likeOf(await search('texts', { query: 'ocean birds', explain: true }))).toBeUndefined();
    const vector = topicVector('cormorant');
    expect(likeOf(await search('vectors', { query: 'cormorant', vector, explain: true }))).toBeUndefined();
  });

  it('uses words alone if it is told to, for phrases, without a query and without a model', async () => {
    const off = await search('texts', { query: 'cormorant', vector_search: false });
    expect([off.applied.meaning, namesOf(off)]).toEqual(['off', ['sea-2']]);
    const phrase = await search('texts', { query: 'cormorant fishing', match: 'phrase' });
    expect([phrase.applied.meaning, namesOf(phrase)]).toEqual(['off', ['sea-2']]);
    const all = await search('texts', { query: 'cormorant fishing', match: 'all' });
    expect([all.applied.meaning, namesOf(all)]).toEqual(['used', ['sea-2']]);
    const nothing = await search('texts', { query: '' });
    expect([nothing.applied.meaning, nothing.total_count]).toEqual(['off', RECORDS.length]);
    expect((await search('words', { query: 'cormorant' })).applied.meaning).toBe('none');
  });

  it('counts, filters, sorts and pages hits by meaning as those by words', async () => {
    const options = { query: 'ocean rates', facets: 'topic' };
    const whole = await search('texts', { ...options, size: 100 });
    expect(whole.facets?.['topic']).toEqual(
      expect.arrayContaining([
        { value: 'sea', count: 3 },
        { value: 'money', count: 3 },
      ]),
    );
    expect(whole.total_count).toBe(whole.results.length);
    const pages: Hit[] = [];
    for (let skip = 0; skip < whole.total_count; skip += 2) {
      const page = await search('texts', { ...options, skip, size: 2 });
      expect(page.total_count).toBe(whole.total_count);
      pages.push(...page.results);
    }
    expect(pages).toEqual(whole.results);
    expect(namesOf(await search('texts', { ...options, filter: 'size > 2 and size < 5' })).sort()).toEqual([
      'money-1',
      'sea-3',
    ]);
    const bySize = namesOf(await search('texts', { ...options, order_by: 'size desc' }));
    expect(bySize).toEqual([...bySize].sort((left, right) => sizeOf(right) - sizeOf(left)));
    expect(await search('texts', { ...options, exact: true, size: 100 })).toMatchObject({ results: whole.results });
    const floor = whole.results[2]?.['@text_score'] ?? 1;
    const floored = await search('texts', { ...options, minimum_text_score: floor, size: 1 });
    expect(floored.total_count).toBe(whole.results.filter((hit) => hit['@text_score'] >= floor).length);
  });

  it('embeds a query once, even for simultaneous and repeated searches', async () => {
    const before = server.asked.length;
    const at = () => search('all', { query: 'once only', cache: false });
    await Promise.all([at(), at(), at(), search('texts', { query: 'once only', cache: false })]);
    await at();
    expect(server.asked.length - before).toBe(1);
  });
});

function sizeOf(name: string): number {
  return RECORDS.find((record) => record.name === name)?.size ?? 0;
}

describe('a search with a vector', () => {
  const sea = topicVector('ocean');

  it('finds the nearest records, with and without words', async () => {
    const alone = await search('vectors', { vector: sea });
    expect([alone.applied.meaning, namesOf(alone).sort()]).toEqual(['used', ['sea-1', 'sea-2', 'sea-3']]);
    const beside = await search('vectors', { vector: sea, query: 'dough' });
    expect(namesOf(beside).sort()).toEqual(['cook-2', 'sea-1', 'sea-2', 'sea-3']);
    const text = await client.get('/search/default/vectors/1', { vector: sea.join(', ') });
    expect(namesOf(text.body as Found).sort()).toEqual(['sea-1', 'sea-2', 'sea-3']);
    expect((await search('vectors', { query: 'dough' })).applied.meaning).toBe('none');
  });

  it('has no hits without words if no record has a vector, in a list and in a group', async () => {
    const made = await client.post('/list/default', { name: 'bare', ...DEFINITION, model: 'own' });
    expect(made.status, made.text).toBe(201);
    await client.bulk('default', 'bare', [{ name: 'bare', fields: { title: 'gannet diving', topic: 'sea' } }]);
    const bare = await search('bare', { vector: sea, facets: 'topic' });
    expect([bare.applied.meaning, bare.total_count, bare.facets]).toEqual(['none', 0, { topic: [] }]);
    expect(namesOf(await search('bare', { vector: sea, query: 'gannet' }))).toEqual(['bare']);
    for (const options of [{ vector_search: false }, { match: 'phrase' }])
      expect(namesOf(await search('bare', { vector: sea, ...options }))).toEqual(['bare']);
    const group = await search('all', { vector: sea, size: 100 });
    expect(group.results.map(({ list_name: list, name }) => [list, name]).sort()).toEqual([
      ['vectors', 'sea-1'],
      ['vectors', 'sea-2'],
      ['vectors', 'sea-3'],
    ]);
    expect(group.total_count).toBe(3);
  });

  it('explains what is wrong with the vector', async () => {
    const wrong: [string, Options, RegExp][] = [
      ['vectors', { vector: [1, 2] }, /3 numbers here, not 2/],
      ['vectors', { vector: [0, 0, 0] }, /zeros/],
      ['vectors', { vector: [1e39, 1, 1] }, /32 bits/],
      ['words', { vector: sea }, /No list/],
      ['texts', { vector: sea }, /No list/],
    ];
    for (const [list, options, detail] of wrong) {
      const { status, body } = await ask(list, options);
      expect(status).toBe(400);
      expect(body).toMatchObject({ code: 'invalid-parameter', detail: expect.stringMatching(detail) as string });
    }
    expect((await ask('vectors', { vector: ['a'] })).status).toBe(400);
    expect((await client.get('/search/default/vectors/1', { vector: '1,x,2' })).status).toBe(400);
  });
});

describe('a text with more passages than a record can have vectors for', () => {
  it('is counted as too long and found by its words', async () => {
    const model = { name: 'short', provider: 'openai', url: server.url('/v1'), served_name: 'topics', tokens_max: 16 };
    expect((await service.control().post('/model/default', model)).status).toBe(201);
    await client.post('/list/default', { name: 'books', ...DEFINITION, model: 'short' });
    const book = 'The gannet dives and then it swims after many fish. '.repeat(1001);
    await client.bulk('default', 'books', [
      { name: 'book', title: `${book} colophon` },
      { name: 'leaf', title: 'gannet diving' },
    ]);
    const read = async () => (await client.get('/list/default/books')).body as { meaning: Record<string, unknown> };
    const { meaning } = await eventually(read, (list) => list.meaning.pending === 0);
    expect(meaning).toMatchObject({ embedded: 1, failed: 1, error: 'too-long' });
    const { body } = await client.get('/search/default/books/1?query=colophon');
    expect((body as Found).results[0]?.name).toBe('book');
  });
});

describe('the score of a hit', () => {
  it('is the same in the list and in a group, for every page size, and after writes', async () => {
    const query = { query: 'ocean gannet', cache: false };
    const scores = ({ results }: Found) =>
      Object.fromEntries(results.map(({ name, '@text_score': score }) => [name, score]));
    const alone = scores(await search('texts', { ...query, size: 100 }));
    expect(Object.keys(alone)).toHaveLength(3);
    const inGroup = await search('all', { ...query, size: 100 });
    const ofTexts = inGroup.results.filter(({ list_name }) => list_name === 'texts');
    expect(scores({ ...inGroup, results: ofTexts })).toEqual(alone);
    for (const size of [1, 2]) {
      const page = await search('texts', { ...query, size });
      for (const { name, '@text_score': score } of page.results) expect(score).toBe(alone[name]);
    }
  });
});

it('A list accepts the vector of a search before any record has one, and finds the first that comes', async () => {
  expect((await client.post('/list/default', { name: 'fresh', ...DEFINITION, model: 'own' })).status).toBe(201);
  const vector = topicVector('gannet');
  expect(await search('fresh', { vector })).toMatchObject({ total_count: 0, applied: { meaning: 'none' } });
  await client.bulk('default', 'fresh', [{ name: 'plain', fields: { title: 'without' } }]);
  expect((await search('fresh', { query: 'without', vector })).applied.meaning).toBe('none');
  await client.bulk('default', 'fresh', [{ name: 'first', fields: { title: 'gannet' }, vector }]);
  const found = await search('fresh', { vector });
  expect([namesOf(found), found.applied.meaning]).toEqual([['first'], 'used']);
  expect((await ask('fresh', { vector: [1, 2] })).status).toBe(400);
});

it('The preview of a synonym rule shows what searches find by meaning too, before and after the rule', async () => {
  const rule = { kind: 'equivalent', terms: ['ocean', 'coupon'] };
  const shown = ({ total_count, results }: Pick<Found, 'total_count' | 'results'>) => [
    total_count,
    results.map(({ name, '@text_score': score }) => [name, score]),
  ];
  const searched = async () => [
    shown(await search('texts', { query: 'ocean' })),
    shown(await search('texts', { query: 'coupon' })),
  ];
  const { status, text, body } = await client.post('/list/synonym-preview/default/texts', rule);
  expect(status, text).toBe(200);
  const { words } = body as { words: readonly Record<'before' | 'after', Found>[] };
  expect(words.map(({ before }) => shown(before))).toEqual(await searched());
  expect((await client.put('/list/synonyms/default/texts', { rules: [rule] })).status).toBe(200);
  expect(words.map(({ after }) => shown(after))).toEqual(await searched());
  expect((await client.put('/list/synonyms/default/texts', { rules: [] })).status).toBe(200);
});

it('Related records are found by meaning for a record that shares no word with others', async () => {
  for (const list of ['texts', 'vectors', 'words']) {
    const { status, text, body } = await client.get(`/related/default/${list}/1/sea-1`, { size: 2 });
    expect(status, text).toBe(200);
    const found = namesOf(body as Found).sort();
    expect(found).toEqual(list === 'words' ? [] : ['sea-2', 'sea-3']);
  }
});

describe('a model that cannot be reached', () => {
  it('leaves searches to words, and is called again when it is back', async () => {
    server.script = answering(503, '{"error": "starting"}');
    const without = await search('texts', { query: 'harbour while away' });
    expect([without.applied.meaning, namesOf(without)]).toEqual(['unavailable', ['sea-3']]);
    const group = await search('all', { query: 'harbour while away' });
    expect(group.applied.meaning).toBe('unavailable');
    server.script = topics;
    // No answer without the model is cached.
    await expect
      .poll(async () => (await search('texts', { query: 'harbour while away' })).applied.meaning)
      .toBe('used');
  });

  it('is not waited for longer than the time limit of a search', async () => {
    const hurried = await startWithModel({ GANNET_MODELS_QUERY_MS: '500' });
    try {
      await hurried.client.post('/list/default', { name: 'texts', ...DEFINITION, model: 'topics' });
      await hurried.client.bulk('default', 'texts', RECORDS);
      await eventually(
        async () => (await hurried.client.get('/list/default/texts')).body as { meaning: { state: string } },
        ({ meaning }) => meaning.state === 'ready',
      );
      server.script = () => undefined;
      const { body } = await hurried.client.post('/search/default/texts/1', { query: 'trawler and silence' });
      expect(body).toMatchObject({ applied: { meaning: 'unavailable' }, total_count: 1 });
    } finally {
      server.script = topics;
      await hurried.close();
    }
  });
});
