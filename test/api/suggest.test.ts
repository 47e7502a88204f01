import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

interface Suggestion {
  readonly text: string;
  readonly kind: 'record' | 'query';
  readonly highlight: string;
  readonly record_count?: number;
  readonly list_name?: string;
}

const PLACES = [
  { name: 'New York City', text: 'The city that never sleeps, a city of boroughs' },
  { name: 'New Orleans', text: 'The city of jazz' },
  { name: 'York', text: 'A walled city of England, old York' },
  { name: 'Newcastle', text: 'A city on the river Tyne' },
  { name: 'Yellowknife', text: 'Far north, yellow knives' },
  { name: 'Île-de-France', text: 'The region around Paris <capital>' },
  { name: 'Gone', text: 'yachts and nothing else' },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const list of ['places', 'others']) {
    await service.client.post('/list/default', {
      name: list,
      searchable_fields: [{ name: 'name', weight: 2 }, { name: 'text' }],
    });
  }
  await service.client.bulk('default', 'places', PLACES);
  await service.client.bulk('default', 'others', [{ name: 'New Zealand', text: 'new islands, new cities' }]);
  const { body } = await service.client.get('/search-result/default/places', { size: 100 });
  const gone = (body as { results: { id: string; name: string }[] }).results.find(({ name }) => name === 'Gone');
  await service.client.delete(`/search-result/default/places/${gone?.id ?? ''}`);
  await service.client.post('/list-group/default', { name: 'all', lists: [{ list: 'places' }, { list: 'others' }] });
});
afterAll(() => service.close());

async function suggest(query: string, options: object = {}, path = '/suggest/default/places/1'): Promise<Suggestion[]> {
  const answer = await service.client.post(path, { query, ...options });
  expect(answer.status).toBe(200);
  expect(answer.body).not.toHaveProperty('query_id');
  return (answer.body as { suggestions: Suggestion[] }).suggestions;
}
const ofKind = (kind: Suggestion['kind'], suggestions: readonly Suggestion[]) =>
  suggestions.filter((each) => each.kind === kind).map(({ text }) => text);

describe('/suggest', () => {
  it('completes names of records by their beginning, then by the beginning of a word', async () => {
    expect(ofKind('record', await suggest('new'))).toEqual(['New Orleans', 'New York City', 'Newcastle']);
    expect(ofKind('record', await suggest('yo'))).toEqual(['York', 'New York City']);
    expect(ofKind('record', await suggest('new y'))).toEqual(['New York City']);
    expect(ofKind('record', await suggest('île'))).toEqual(['Île-de-France']);
    expect(ofKind('record', await suggest('fra'))).toEqual(['Île-de-France']);
  });

  it('completes the last word by words of the list that have hits together with the words before', async () => {
    expect(ofKind('query', await suggest('ci'))).toEqual(['city']);
    expect(ofKind('query', await suggest('jazz ci'))).toEqual(['jazz city']);
    // "yellow" is a word of the list, but no record has it together with "city".
    expect(ofKind('query', await suggest('city y'))).toEqual(['city york']);
    expect((await suggest('city y')).find(({ kind }) => kind === 'query')?.record_count).toBe(2);
  });

  it('highlights what was not typed', async () => {
    const suggestions = await suggest('new yo');
    expect(suggestions.find(({ kind }) => kind === 'record')?.highlight).toBe('New Yo<em>rk City</em>');
    expect(suggestions.find(({ kind }) => kind === 'query')?.highlight).toBe('new yo<em>rk</em>');
    expect((await suggest('yor')).map(({ highlight }) => highlight)).toContain('<em>New </em>Yor<em>k City</em>');
    expect((await suggest('par <ca')).find(({ kind }) => kind === 'query')).toBeUndefined();
    expect((await suggest('paris <ca'))[0]?.highlight).toBe('paris &lt;ca<em>pital</em>');
  });

  it('tolerates typos, unless told not to', async () => {
    expect(ofKind('record', await suggest('newcats'))).toEqual(['Newcastle']);
    expect(ofKind('record', await suggest('yellwkn'))).toEqual(['Yellowknife']);
    expect(ofKind('query', await suggest('borugh'))).toEqual(['boroughs']);
    expect(await suggest('newcats', { typo_tolerance: false })).toEqual([]);
  });

  it('leaves out deleted records', async () => {
    expect(await suggest('gone')).toEqual([]);
    expect(await suggest('yacht')).toEqual([]);
  });

  it('suggests each of the names that differ only in case, until its record is deleted', async () => {
    const records = ['lisbon', 'Lisbon', 'LISBON'].map((name) => ({ name, text: 'xylophone' }));
    expect((await service.client.bulk('default', 'others', records)).status).toBe(200);
    const path = '/suggest/default/others/1';
    expect(ofKind('record', await suggest('lis', {}, path))).toEqual(['LISBON', 'Lisbon', 'lisbon']);
    expect(ofKind('record', await suggest('lis', { size: 3 }, path))).toEqual(['LISBON', 'Lisbon']);
    const { body } = await service.client.get('/search/default/others/1', { query: 'xylophone' });
    for (const { id, name } of (body as { results: { id: string; name: string }[] }).results)
      if (name !== 'Lisbon') await service.client.delete(`/search-result/default/others/${id}`);
    expect(ofKind('record', await suggest('lis', {}, path))).toEqual(['Lisbon']);
    expect(ofKind('record', await suggest('lizbon', {}, path))).toEqual(['Lisbon']);
  });

  it('returns up to size suggestions, eight by default, of both kinds', async () => {
    const few = await suggest('n', { size: 2 });
    expect(few.map(({ kind }) => kind).sort()).toEqual(['query', 'record']);
    await service.client.post('/list/default', { name: 'many', searchable_fields: [{ name: 'text' }] });
    const records = Array.from({ length: 100 }, (_, index) => ({ name: `star-${index}`, text: `starlight${index}` }));
    await service.client.bulk('default', 'many', records);
    const path = '/suggest/default/many/1';
    expect((await suggest('sta', {}, path)).length).toBe(8);
    expect((await suggest('sta', { size: 50 }, path)).length).toBe(50);
    expect((await service.client.post(path, { query: 'a', size: 51 })).status).toBe(400);
  });

  it('returns nothing for an empty query, blanks and symbols', async () => {
    for (const query of ['', '  ', '!', 'qqqqq']) expect(await suggest(query)).toEqual([]);
    expect((await service.client.get('/suggest/default/places/1')).body).toMatchObject({ suggestions: [] });
  });

  it('accepts its options in the query string as well', async () => {
    const { body } = await service.client.get('/suggest/default/places/1', { query: 'newca', size: 1 });
    expect((body as { suggestions: Suggestion[] }).suggestions).toMatchObject([{ text: 'Newcastle', kind: 'record' }]);
  });

  it('of a group suggests from all its lists, and each query once', async () => {
    const suggestions = await suggest('new', { size: 20 }, '/suggest/group/default/all/latest');
    expect(suggestions.filter(({ kind }) => kind === 'record').map(({ text, list_name }) => [text, list_name])).toEqual(
      [
        ['New Orleans', 'places'],
        ['New York City', 'places'],
        ['Newcastle', 'places'],
        ['New Zealand', 'others'],
      ],
    );
    expect(suggestions.find(({ text }) => text === 'new')?.record_count).toBe(3);
  });

  it('of a group counts the records of all lists, even of a list with another best suggestion', async () => {
    // For "th", one list suggests "the", and the other "that", which a record of the first contains as well.
    await service.client.post('/list/default', { name: 'those', searchable_fields: [{ name: 'text' }] });
    const records = Array.from({ length: 5 }, (_, index) => ({ name: `${index}`, text: 'that' }));
    await service.client.bulk('default', 'those', records);
    await service.client.post('/list-group/default', {
      name: 'both',
      lists: [{ list: 'places' }, { list: 'those' }],
    });
    const suggestions = await suggest('th', { size: 1 }, '/suggest/group/default/both/latest');
    expect(suggestions).toMatchObject([{ text: 'that', record_count: 6 }]);
  });

  it('suggests words as the records write them, in searches that find these records', async () => {
    const definition = { language: 'pl', searchable_fields: [{ name: 'title' }] };
    await service.client.post('/list/default', { name: 'books', ...definition });
    const titles = ['Nowe książki', 'KSIĄŻKI i gazety', 'Łódź: książki', 'ksiazki', 'C# i książki'];
    const records = titles.map((title) => ({ name: title, title }));
    expect((await service.client.bulk('default', 'books', records)).status).toBe(200);
    const suggested = async (query: string) =>
      (await suggest(query, {}, '/suggest/default/books/1')).filter(({ kind }) => kind === 'query');
    expect(await suggested('książ')).toMatchObject([{ text: 'książki', record_count: 5 }]);
    expect(await suggested('lodz ksia')).toMatchObject([
      { text: 'łódź książki', record_count: 1, highlight: 'łódź ksią<em>żki</em>' },
    ]);
    for (const { text, record_count } of [...(await suggested('ksia')), ...(await suggested('lodz ksia'))]) {
      const options = { query: text, match: 'all', typo_tolerance: false };
      const { body } = await service.client.get('/search/default/books/1', options);
      expect(body).toMatchObject({ total_count: record_count });
    }
    // Of two records, the one that is left decides.
    const { body } = await service.client.get('/search-result/default/books', { size: 100 });
    for (const { id, name } of (body as { results: { id: string; name: string }[] }).results)
      if (name !== 'ksiazki') await service.client.delete(`/search-result/default/books/${id}`);
    expect(await suggested('ksia')).toMatchObject([{ text: 'ksiazki', record_count: 1 }]);
  });

  it('refuses unknown versions', async () => {
    expect((await service.client.post('/suggest/default/places/9', { query: 'a' })).status).toBe(404);
    expect((await service.client.post('/suggest/default/places/latest', { query: 'a' })).status).toBe(400);
  });
});
