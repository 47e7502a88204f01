/**
 * Tests groups of lists whose records are found by pages of their documents, together with lists that have no
 * documents.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';

interface Hit {
  readonly name: string;
  readonly list_name: string;
  readonly '@document_score'?: number;
  readonly '@text_score'?: number;
  readonly document?: { readonly field: string; readonly page: number; readonly highlight: string };
}
interface Body {
  readonly total_count: number;
  readonly results: readonly Hit[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
}

const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  '/r1.pdf': ['A survey of cliffs', 'Gannets breed there in spring'],
  '/r2.pdf': ['The tomograph was repaired in spring'],
  '/r3.pdf': ['Cod and herring'],
  '/e1.pdf': ['Les chevaux au printemps', 'Gannets au large, gannets partout'],
  '/e2.pdf': ['Une panne de scanner'],
};

let service: TestService;
let server: ScriptedServer;
beforeAll(async () => {
  server = await ScriptedServer.start();
  server.script = ({ path }, response) =>
    response.end(pdfOf((DOCUMENTS[path] ?? []).map((line) => ({ lines: [line] }))));
  service = await startTestService({ env: { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' } });
  const { client } = service;
  const facets = [{ name: 'year', type: 'number' }];
  const made = (name: string, more: object) =>
    client.post('/list/default', { name, model: 'own', searchable_fields: [{ name: 'title' }], facets, ...more });
  await made('reports', { language: 'en', resources: [{ name: 'paper', kind: 'document' }] });
  await made('etudes', { language: 'fr', resources: [{ name: 'fichier', kind: 'document' }] });
  await made('notes', { language: 'en' });
  await client.bulk('default', 'reports', [
    { name: 'r1', title: 'Survey', year: 2001, paper: server.url('/r1.pdf') },
    { name: 'r2', title: 'Repairs', year: 1990, paper: server.url('/r2.pdf') },
    { name: 'r3', title: 'Gannets at sea', year: 1980, paper: server.url('/r3.pdf') },
  ]);
  await client.bulk('default', 'etudes', [
    { name: 'e1', title: 'Rapport', year: 1995, fichier: server.url('/e1.pdf') },
    { name: 'e2', title: 'Atelier', year: 1970, fichier: server.url('/e2.pdf') },
  ]);
  await client.bulk('default', 'notes', [
    { name: 'n1', title: 'Gannets, by eye', year: 2010 },
    { name: 'n2', title: 'Spring', year: 2011 },
  ]);
  const lists = ['reports', 'etudes', 'notes'].map((list) => ({ list }));
  expect((await client.post('/list-group/default', { name: 'all', lists })).status).toBe(201);
  // Waits until the documents are read and indexed: they are found by words that no title contains.
  for (const [list, record, query] of [
    ...['r1', 'r2', 'r3'].map((name, at) => ['reports', name, ['cliffs', 'tomograph', 'herring'][at] ?? '']),
    ...['e1', 'e2'].map((name, at) => ['etudes', name, ['printemps', 'panne'][at] ?? '']),
  ] as [string, string, string][])
    await eventually(
      async () => (await asked(`/search/default/${list}/1`, { query, typo_tolerance: false })).results,
      (found) => found.map(({ name }) => name).join() === record,
    );
});
afterAll(async () => {
  await service.close();
  await server.close();
});

async function asked(path: string, options: object): Promise<Body> {
  const answer = await service.client.post(path, options);
  expect(answer.status, answer.text).toBe(200);
  return answer.body as Body;
}
const search = (options: object) => asked('/search/group/default/all/latest', options);
const names = ({ results }: Body) => results.map(({ list_name: list, name }) => `${list}/${name}`);

it('A group ranks hits of fields and pages together, each with the scores and page of its own list', async () => {
  const body = await search({ query: 'gannets' });
  expect(names(body).sort()).toEqual(['etudes/e1', 'notes/n1', 'reports/r1', 'reports/r3']);
  expect(body.total_count).toBe(4);
  const by = new Map(body.results.map((hit) => [hit.name, hit]));
  expect(by.get('r1')?.document).toMatchObject({ field: 'paper', page: 2 });
  expect(by.get('e1')?.document).toMatchObject({ field: 'fichier', page: 2 });
  expect(by.get('e1')?.document?.highlight).toMatch(/<em>gannets<\/em>/i);
  expect([by.get('n1')?.document, by.get('n1')?.['@document_score']]).toEqual([undefined, undefined]);
  for (const list of ['reports', 'etudes', 'notes']) {
    for (const hit of (await asked(`/search/default/${list}/1`, { query: 'gannets' })).results) {
      const inGroup = by.get(hit.name);
      expect([inGroup?.['@document_score'], inGroup?.['@text_score'], inGroup?.document]).toEqual([
        hit['@document_score'],
        hit['@text_score'],
        hit.document,
      ]);
    }
  }
});

it('Paging through a group with skip gives the same hits as one answer', async () => {
  const all = names(await search({ query: 'gannets spring', size: 20 }));
  expect(all.length).toBeGreaterThan(4);
  for (const size of [1, 2, 3]) {
    const pages: string[] = [];
    for (let skip = 0; skip < all.length; skip += size)
      pages.push(...names(await search({ query: 'gannets spring', skip, size })));
    expect(pages).toEqual(all);
  }
});

it('Hits of a group are sorted, filtered and counted alike, whether fields or pages match', async () => {
  const sorted = ['reports/r3', 'etudes/e1', 'reports/r1', 'notes/n1'];
  expect(names(await search({ query: 'gannets', order_by: 'year asc' }))).toEqual(sorted);
  expect(names(await search({ query: 'gannets', order_by: 'year desc', skip: 1, size: 2 }))).toEqual([
    'reports/r1',
    'etudes/e1',
  ]);
  const { facets, total_count: total } = await search({ query: 'gannets', filter: 'year > 1990', facets: ['year'] });
  expect(total).toBe(3);
  expect(facets?.['year']?.map(({ value, count }) => [value, count]).sort()).toEqual([
    [1995, 1],
    [2001, 1],
    [2010, 1],
  ]);
});

it('A search of a group keeps to the minimum scores, synonyms, query rules and languages of each list', async () => {
  const { client } = service;
  const floor = await search({ query: 'gannets', minimum_document_score: 1 });
  expect(names(floor).filter((name) => !['notes/n1', 'reports/r3'].includes(name)).length).toBeLessThanOrEqual(2);
  // A French word that is in one page only.
  expect(names(await search({ query: 'cheval', typo_tolerance: false }))).toEqual(['etudes/e1']);
  await client.put('/list/synonyms/default/reports', {
    rules: [{ kind: 'equivalent', terms: ['scanner', 'tomograph'] }],
  });
  const synonyms = () => search({ query: 'scanner', typo_tolerance: false }).then((body) => names(body).sort());
  await expect.poll(synonyms).toEqual(['etudes/e2', 'reports/r2']);
  await client.put('/list/synonyms/default/reports', { rules: [] });
  await expect.poll(synonyms).toEqual(['etudes/e2']);
  const rule = { name: 'year', pattern: String.raw`\b(\d{4})\b`, filter: 'year = $1' };
  expect((await client.put('/list/default/reports', { query_rules: [rule] })).status).toBe(200);
  const ruled = names(await search({ query: 'gannets 2001', match: 'all' }));
  expect(ruled).toEqual(['reports/r1']);
  await client.put('/list/default/reports', { query_rules: [] });
});
