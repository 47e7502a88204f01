import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

interface RelatedBody {
  readonly total_count: number;
  readonly results: readonly { readonly name: string; readonly fields: Readonly<Record<string, unknown>> }[];
}

const RECORDS = [
  { name: 'gannets', text: 'Gannets are seabirds that dive into the sea for fish at full speed', kind: 'bird' },
  { name: 'boobies', text: 'Boobies are seabirds and dive for fish too', kind: 'bird' },
  { name: 'terns', text: 'Terns are slender seabirds', kind: 'bird' },
  { name: 'herring', text: 'The herring is a fish of the cold sea', kind: 'fish' },
  { name: 'a/b c%2F', text: 'Percent signs and seabirds', kind: 'other' },
  { name: 'bread', text: 'Flour, water and salt', kind: 'food' },
  { name: 'cake', text: 'Sugar, eggs and butter', kind: 'food' },
  { name: 'lonely', text: 'zyzzyva', kind: 'other' },
  { name: 'Lonely', text: 'zyzzyva', kind: 'other' },
  { name: 'silent', kind: 'other' },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', {
    name: 'things',
    searchable_fields: [{ name: 'text' }],
    facets: [{ name: 'kind', type: 'string' }],
  });
  for (const record of RECORDS) await service.client.post('/search-result/default/things', record);
});
afterAll(() => service.close());

async function related(name: string, query: Readonly<Record<string, string | number>> = {}): Promise<RelatedBody> {
  const answer = await service.client.get(`/related/default/things/1/${encodeURIComponent(name)}`, query);
  expect(answer.status).toBe(200);
  return answer.body as RelatedBody;
}
const names = ({ results }: RelatedBody) => results.map(({ name }) => name);

describe('GET /related', () => {
  it('finds the records that share the most significant words, best first, without the record itself', async () => {
    const body = await related('gannets');
    expect(names(body)[0]).toBe('boobies');
    expect(names(body)).not.toContain('gannets');
    expect(names(body)).toContain('terns');
    expect(names(body)).not.toContain('bread');
    expect(body.total_count).toBe(names(body).length);
    expect(body).not.toHaveProperty('query_id');
    expect(body).toMatchObject({ list_name: 'things', version: 1 });
  });

  it('takes filter, select, size and skip', async () => {
    expect(names(await related('gannets', { filter: "kind = 'fish'" }))).toEqual(['herring']);
    const all = names(await related('gannets'));
    expect(names(await related('gannets', { size: 1, skip: 1 }))).toEqual(all.slice(1, 2));
    expect((await related('gannets', { select: 'kind' })).results[0]?.fields).toEqual({ kind: ['bird'] });
    expect((await related('gannets', { size: 0 })).results).toEqual([]);
  });

  it('accepts names with slashes and percent signs', async () => {
    expect(names(await related('a/b c%2F'))).toContain('terns');
  });

  it('distinguishes records whose names differ only in case', async () => {
    expect(names(await related('lonely'))).toEqual(['Lonely']);
    expect(names(await related('Lonely'))).toEqual(['lonely']);
  });

  it('distinguishes records whose names differ only in case and that were written in one request', async () => {
    const twins = ['twin', 'Twin'].map((name) => ({ name, text: 'xylophone' }));
    expect((await service.client.bulk('default', 'things', twins)).status).toBe(200);
    expect(names(await related('twin'))).toEqual(['Twin']);
    expect(names(await related('Twin'))).toEqual(['twin']);
  });

  it('has no hits for a record without words', async () => {
    expect(await related('silent')).toMatchObject({ total_count: 0, results: [] });
  });

  it('answers 404 for unknown records and versions, and 400 for wrong options', async () => {
    expect(await service.client.get('/related/default/things/1/missing')).toMatchObject({
      status: 404,
      body: { code: 'record-not-found' },
    });
    expect(await service.client.get('/related/default/things/7/gannets')).toMatchObject({
      status: 404,
      body: { code: 'version-not-found' },
    });
    expect((await service.client.get('/related/default/things/1/gannets', { filter: 'kin = 1' })).status).toBe(400);
    expect((await service.client.get('/related/default/things/1/gannets', { query: 'sea' })).status).toBe(400);
  });

  it('is not counted as a search', async () => {
    const before = await service.metric('gannet_searches_total');
    await related('gannets');
    expect(await service.metric('gannet_searches_total')).toBe(before);
  });
});
