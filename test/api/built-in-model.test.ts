/**
 * Tests the built-in model from outside: it is learned from the list's own records, and takes what a query means from
 * the records that its words find.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly '@text_score': number;
  readonly list_name?: string;
  readonly fields: { readonly title: string; readonly topic: readonly string[]; readonly number: number };
  readonly explain?: {
    readonly meaning?: { readonly like?: readonly string[]; readonly calibrated_on: number };
    readonly sources?: readonly { readonly kind: string; readonly score: number }[];
  };
}
interface Found {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly applied: { readonly meaning: string };
}

const TOPICS = ['sea', 'money', 'garden', 'engine', 'music', 'law'];
const WORDS_OF_TOPIC = 12;
const WORDS_OF_RECORD = 4;
const RECORDS = 180;

/** Each record has some words of one topic, and none of another. */
const records = Array.from({ length: RECORDS }, (_, number) => {
  const random = new SeededRandom(number);
  const topic = TOPICS[number % TOPICS.length] as string;
  const words = Array.from({ length: WORDS_OF_RECORD }, () => topic + String(random.below(WORDS_OF_TOPIC)));
  return { name: `${topic}-${number}`, title: [...new Set(words)].join(' '), topic, number };
});
const DEFINITION = {
  searchable_fields: [{ name: 'title' }],
  facets: ['topic', 'number'].map((name) => ({ name, type: name === 'number' ? 'number' : 'string' })),
};

let service: TestService;
let client: ServiceClient;
beforeAll(async () => {
  service = await startTestService();
  ({ client } = service);
  for (const [name, model] of Object.entries({ learned: 'built-in', small: 'built-in', words: null })) {
    const made = await client.post('/list/default', { name, ...DEFINITION, model });
    expect(made.status, made.text).toBe(201);
  }
  await client.bulk('default', 'learned', records);
  await client.bulk('default', 'words', records);
  await client.bulk('default', 'small', records.slice(0, 20));
  const group = { name: 'all', lists: [{ list: 'learned' }, { list: 'words' }] };
  expect((await client.post('/list-group/default', group)).status).toBe(201);
  await eventually(
    () => meaningOf('learned'),
    ({ state, embedded }) => state === 'ready' && embedded === RECORDS,
  );
  const scale = async () => {
    const { results } = await search('learned', { query: 'sea0', explain: true, cache: false });
    return results[0]?.explain?.meaning?.calibrated_on;
  };
  await eventually(scale, (calibratedOn) => calibratedOn === RECORDS);
});
afterAll(() => service.close());

async function meaningOf(list: string) {
  const { body } = await client.get(`/list/default/${list}`);
  return (body as { meaning: { state: string; embedded: number; error?: string } }).meaning;
}

async function search(list: string, options: Readonly<Record<string, unknown>>): Promise<Found> {
  const path = list === 'all' ? '/search/group/default/all/latest' : `/search/default/${list}/1`;
  const { status, text, body } = await client.post(path, { highlight: false, ...options });
  expect(status, text).toBe(200);
  return body as Found;
}
const isWithWord = ({ fields }: Hit, word: string) => fields.title.split(' ').includes(word);
const scoresOf = ({ results }: Found) => new Map(results.map((hit) => [hit.name, hit['@text_score']]));

describe('a list with the built-in model', () => {
  it('finds records by meaning that no word finds, and explains which records the query is like', async () => {
    const words = await search('words', { query: 'sea0', size: 100 });
    const both = await search('learned', { query: 'sea0', size: 100, explain: true });
    expect(words.applied.meaning).toBe('none');
    expect(both.applied.meaning).toBe('used');
    expect(both.total_count).toBeGreaterThan(words.total_count);
    const more = both.results.filter((hit) => !isWithWord(hit, 'sea0'));
    expect(more.length).toBeGreaterThan(0);
    for (const hit of both.results) expect(hit.fields.topic).toEqual(['sea']);
    for (const { explain } of more) expect(explain?.sources?.map(({ kind }) => kind)).toEqual(['meaning']);
    // The query means what the records mean that its words find best.
    const best = words.results.map(({ name }) => name);
    const like = both.results[0]?.explain?.meaning?.like ?? [];
    expect(like.length).toBeGreaterThan(0);
    for (const name of like) expect(best).toContain(name);
    expect((await search('learned', { query: 'sea0', vector_search: false })).total_count).toBe(words.total_count);
  });

  it('gives a record the same score on every page, with filters, with a minimum score and in groups', async () => {
    const query = 'money1 money2';
    const whole = await search('learned', { query, size: 100 });
    const scores = scoresOf(whole);
    const page = await search('learned', { query, size: 5, skip: 5 });
    expect(page.results).toEqual(whole.results.slice(5, 10));
    expect(page.total_count).toBe(whole.total_count);
    const floor = whole.results[9]?.['@text_score'] ?? 0;
    const above = await search('learned', { query, size: 100, minimum_text_score: floor });
    expect(above.total_count).toBe(whole.results.filter((hit) => hit['@text_score'] >= floor).length);
    const group = await search('all', { query, size: 200 });
    const own = group.results.filter((hit) => hit.list_name === 'learned');
    expect(scoresOf({ ...group, results: own })).toEqual(scores);
    // The query means the same if a filter excludes the records that its words find.
    const near = whole.results.find((hit) => !isWithWord(hit, 'money1') && !isWithWord(hit, 'money2'));
    const only = await search('learned', { query, filter: `number = ${near?.fields.number}` });
    expect(only.results).toEqual([near]);
    const filtered = await search('learned', { query, filter: "topic = 'money'", size: 100 });
    expect(scoresOf(filtered)).toEqual(scores);
  });

  it('returns only records with all words if match is all, and uses no meaning if no word is known', async () => {
    const [word, other] = (records[0]?.title ?? '').split(' ');
    const all = await search('learned', { query: `${word} ${other}`, match: 'all', size: 100 });
    expect(all.applied.meaning).toBe('used');
    expect(all.total_count).toBeGreaterThan(0);
    for (const hit of all.results) expect(isWithWord(hit, word ?? '') && isWithWord(hit, other ?? '')).toBe(true);
    const unknown = await search('learned', { query: 'xyzzyx', size: 10 });
    expect(unknown).toMatchObject({ total_count: 0, applied: { meaning: 'none' } });
    expect((await search('learned', { query: `"${word}"`, match: 'phrase' })).applied.meaning).toBe('off');
  });

  it('finds related records that share no word with the record', async () => {
    const [of] = records as [(typeof records)[number]];
    const relatedIn = async (list: string) => {
      const { status, text, body } = await client.get(`/related/default/${list}/1/${of.name}`, { size: 100 });
      expect(status, text).toBe(200);
      return body as Found;
    };
    const [byMeaning, byWords] = [await relatedIn('learned'), await relatedIn('words')];
    const own = of.title.split(' ');
    const more = byMeaning.results.filter((hit) => !own.some((word) => isWithWord(hit, word)));
    expect(more.length).toBeGreaterThan(0);
    for (const hit of byMeaning.results) expect(hit.fields.topic).toEqual([of.topic]);
    expect(byMeaning.total_count).toBe(byMeaning.results.length);
    expect(byMeaning.total_count).toBeGreaterThan(byWords.total_count);
    const found = byMeaning.results.map(({ name }) => name);
    expect(found).not.toContain(of.name);
    for (const { name } of byWords.results) expect(found).toContain(name);
  });

  it('says that it has too few records to learn from, and searches by words', async () => {
    await expect
      .poll(() => meaningOf('small'))
      .toMatchObject({ state: 'off', error: expect.stringContaining('64') as unknown });
    const { applied, total_count: total } = await search('small', { query: 'sea0 sea1 sea2 sea3' });
    expect([applied.meaning, total > 0]).toEqual(['none', true]);
  });
});
