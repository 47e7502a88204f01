/**
 * What the service keeps of earlier searches — what passes a filter, what a word may stand for, which words are
 * neighbours, plans, forms of suggested words — is of a list as it is, whatever has been done to it and to lists of its
 * name. After each operation, searches that were asked before give what they give in a new list with the same records.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

/** More than the kernel keeps nothing for. Each has a word of its own, so that terms are kept as well. */
const RECORDS = 8500;
const BRANDS = ['sea', 'wind', 'moss', 'cliff'];
const TEXTS = [
  'bathroom tiles',
  'a bath room',
  'node.js',
  'nodejs book',
  'résumé',
  'gannets dive',
  'one gannet',
  'wifi',
];
const DEFINITION = {
  searchable_fields: [{ name: 'text' }],
  facets: [
    { name: 'brand', type: 'string' },
    { name: 'price', type: 'number' },
  ],
  location_field: 'location',
};
/** The columns of the facets are in another order, and the brand is not searched for. */
const TURNED = { ...DEFINITION, facets: DEFINITION.facets.toReversed() };

type ListRecord = Readonly<Record<string, unknown>> & { readonly name: string };
/** `turn` makes other records of the same names. */
function recordsOf(turn = 0, count = RECORDS): ListRecord[] {
  return Array.from({ length: count }, (_, number) => ({
    name: `r${String(number).padStart(5, '0')}`,
    text: `${TEXTS[(number + turn) % TEXTS.length] ?? ''} w${number}`,
    brand: BRANDS[(number * (turn + 1) + turn) % BRANDS.length],
    price: (number + turn) % 7,
    location: { latitude: (number + turn) % 5, longitude: (number * 3 + turn) % 5 },
  }));
}

const FILTERS = [
  "brand = 'sea'",
  "brand in ('sea', 'moss')",
  "brand in ('wind')",
  'price > 3',
  'price >= 3',
  'price = 1',
  "price < 5 and not brand = 'cliff'",
];
const QUERIES = ['bathroom', 'bath room', 'nodejs', 'gannet', 'gannets', 'resume', 'wi fi', 'gannte', 'room bath'];
const QUESTIONS: readonly object[] = [
  ...FILTERS.map((filter) => ({ filter })),
  ...['0,0,1,1', '0,0,1,4', '0,0,4,1', '1,1,4,4'].map((box) => ({ box })),
  ...['1,1,150000', '1,1,300000', '1,2,150000'].map((radius) => ({ radius })),
  ...QUERIES.map((query) => ({ query, match: 'all' })),
  { query: 'bath room', match: 'phrase' },
  { query: 'gannet', filter: "brand = 'sea'", distinct: 'price' },
];
const TYPED = ['ba', 'res', 'gan', 'node'];

interface List {
  readonly name: string;
  readonly definition: object;
  /** By name. */
  readonly records: ReadonlyMap<string, ListRecord>;
}

let service: TestService;
let fresh = 0;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

async function write({ name, definition, records }: List, written: readonly ListRecord[]): Promise<List> {
  const { status, body } = await service.client.bulk('default', name, written);
  expect({ status, body }).toMatchObject({ status: 200, body: { failed: 0 } });
  return { name, definition, records: new Map([...records, ...written.map((each) => [each.name, each] as const)]) };
}

async function listOf(name: string, written: readonly ListRecord[], definition: object = DEFINITION): Promise<List> {
  const { status, text } = await service.client.post('/list/default', { name, language: 'en', ...definition });
  expect(status, text).toBe(201);
  return write({ name, definition, records: new Map() }, written);
}

/** Returns the version that is searched, when no other is being built. */
async function version(name: string): Promise<number> {
  const { current_version: current } = await eventually(
    async () =>
      (await service.client.get(`/list/default/${name}`)).body as {
        readonly current_version: number;
        readonly versions: readonly { readonly state: string }[];
      },
    ({ versions }) => versions.every(({ state }) => state === 'ready'),
  );
  return current;
}

/** Returns what is found for each question, and the words that are suggested. */
async function answers(name: string): Promise<unknown[]> {
  const current = await version(name);
  const found: unknown[] = [];
  for (const question of QUESTIONS) {
    // Suggestions would learn from what was searched for, which a new list has not.
    const asked = {
      facets: ['brand', 'price'],
      facet_size: 10,
      order_by: 'name',
      size: 5,
      analytics: false,
      ...question,
    };
    const { status, text, body } = await service.client.post(`/search/default/${name}/${current}`, asked);
    expect(status, text).toBe(200);
    const {
      total_count: total,
      results,
      facets,
    } = body as {
      readonly total_count: number;
      readonly results: readonly { readonly name: string }[];
      readonly facets: object;
    };
    found.push({ question, total, names: results.map((hit) => hit.name), facets });
  }
  for (const query of TYPED) {
    const { body } = await service.client.get(`/suggest/default/${name}/${current}`, { query });
    const { suggestions } = body as {
      readonly suggestions: readonly { readonly text: string; readonly kind: string }[];
    };
    found.push({ query, texts: suggestions.flatMap(({ text, kind }) => (kind === 'query' ? [text] : [])).toSorted() });
  }
  return found;
}

/** Asks everything as often as it takes until answers are kept, and compares each with those of a new list. */
async function expectAsFresh(list: List): Promise<unknown[]> {
  const other = await listOf(`fresh-${(fresh += 1)}`, [...list.records.values()], list.definition);
  const expected = await answers(other.name);
  for (let time = 0; time < 3; time += 1) expect(await answers(list.name)).toEqual(expected);
  expect((await service.client.delete(`/list/default/${other.name}`)).status).toBe(204);
  return expected;
}

it('Searches find what they find in a new list after writes, also if the list is killed between them', async () => {
  let list = await listOf('written', recordsOf());
  const first = await expectAsFresh(list);
  list = await write(list, recordsOf(3, 4000));
  const second = await expectAsFresh(list);
  expect(second).not.toEqual(first);
  list = await write(list, recordsOf(1, 200));
  await service.stop('SIGKILL');
  await service.start();
  await expectAsFresh(list);
  // Killed amid a write: each record is as before or as after it.
  const unanswered = service.client.bulk('default', list.name, recordsOf(2, 1000)).catch(() => undefined);
  await service.stop('SIGKILL');
  await unanswered;
  await service.start();
  list = await write(list, recordsOf(2, 1000));
  await expectAsFresh(list);
});

it('A copy and the list that it was made of do not find what was written to the other', async () => {
  let list = await listOf('original', recordsOf());
  await expectAsFresh(list);
  expect((await service.client.post('/list/default/original/clone', { name: 'copy' })).status).toBe(201);
  let copy: List = { ...list, name: 'copy' };
  await expectAsFresh(copy);
  copy = await write(copy, recordsOf(1, 3000));
  list = await write(list, recordsOf(2, 3000));
  expect(await expectAsFresh(copy)).not.toEqual(await expectAsFresh(list));
  await service.stop('SIGKILL');
  await service.start();
  expect(await expectAsFresh(copy)).not.toEqual(await expectAsFresh(list));
});

it('A list of the name of a deleted one finds its own records, by its own fields', async () => {
  const list = await listOf('again', recordsOf());
  const before = await expectAsFresh(list);
  for (const [turn, definition] of [TURNED, DEFINITION, TURNED].entries()) {
    expect((await service.client.delete('/list/default/again')).status).toBe(204);
    if (turn === 2) {
      await service.stop('SIGKILL');
      await service.start();
    }
    expect(await expectAsFresh(await listOf('again', recordsOf(turn + 1), definition))).not.toEqual(before);
  }
  // As if it were renamed: the copy has the name of the list, and the list is gone.
  expect((await service.client.post('/list/default/again/clone', { name: 'renamed' })).status).toBe(201);
  expect((await service.client.delete('/list/default/again')).status).toBe(204);
  await expectAsFresh({ name: 'renamed', definition: TURNED, records: byName(recordsOf(3)) });
});

it('A field that is renamed, and one that gets the name of another, is found by its own values', async () => {
  const list = await listOf('fields', recordsOf());
  const before = await expectAsFresh(list);
  const rename = async (from: string, name: string) => {
    expect(await service.client.put(`/facet/default/fields/${from}`, { name })).toMatchObject({ status: 200 });
    await version('fields');
  };
  await rename('brand', 'maker');
  await rename('maker', 'brand');
  expect(await expectAsFresh(list)).toEqual(before);
  // The prices are now texts of another field, and the brands are gone from the facets.
  expect((await service.client.delete('/facet/default/fields/brand')).status).toBe(204);
  await version('fields');
  expect((await service.client.post('/facet/default/fields', { name: 'brand', type: 'string' })).status).toBe(201);
  expect(await expectAsFresh({ ...list, definition: TURNED })).toEqual(before);
  await service.stop('SIGKILL');
  await service.start();
  expect(await expectAsFresh({ ...list, definition: TURNED })).toEqual(before);
});

function byName(records: readonly ListRecord[]): ReadonlyMap<string, ListRecord> {
  return new Map(records.map((each) => [each.name, each]));
}
