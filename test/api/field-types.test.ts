/**
 * Tests what happens to values when a field becomes a facet of another type: in searches, records, exports, writes
 * and other versions.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

interface Version {
  readonly version: number;
  readonly state: string;
  readonly unfit?: Readonly<Record<string, number>>;
}
interface ListBody {
  readonly current_version: number;
  readonly versions: readonly Version[];
}
interface Found {
  readonly total_count: number;
  readonly results: readonly {
    readonly id: string;
    readonly name: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[];
  readonly facets?: Readonly<Record<string, readonly { readonly value: unknown; readonly count: number }[]>>;
}

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const RECORDS = [
  { name: 'number', price: 5, tags: ['a', 'b'] },
  { name: 'text', price: '12.5', tags: ['a'] },
  { name: 'word', price: 'dear', tags: ['a'] },
  { name: 'code', price: '007', tags: ['b'] },
  { name: 'none', tags: [] },
];

async function settled(list: string): Promise<ListBody> {
  return eventually(
    async () => (await service.client.get(`/list/default/${list}`)).body as ListBody,
    ({ versions }) => versions.every(({ state }) => state === 'ready'),
  );
}

const currentOf = ({ versions, current_version }: ListBody) =>
  versions.find(({ version }) => version === current_version) as Version;

async function search(list: string, options: Record<string, unknown>): Promise<Found> {
  const { current_version } = await settled(list);
  const { status, body, text } = await service.client.post(`/search/default/${list}/${current_version}`, options);
  expect(status, text).toBe(200);
  return body as Found;
}

const namesOf = ({ results }: Found) => results.map(({ name }) => name);

/** Creates a list with `price` undefined and `tags` as a Many facet. */
async function makeList(list: string): Promise<void> {
  await service.client.post('/list/default', {
    name: list,
    facets: [{ name: 'tags', type: 'string', cardinality: 'Many' }],
  });
  const { body } = await service.client.bulk('default', list, RECORDS);
  expect(body).toMatchObject({ created: RECORDS.length, failed: 0 });
}

describe('a field that becomes a number facet', () => {
  beforeAll(async () => {
    await makeList('prices');
    await service.client.post('/facet/default/prices', { name: 'price', type: 'number' });
  });

  it('has the numbers that its texts contain, and the list counts the records whose values do not fit', async () => {
    expect(currentOf(await settled('prices')).unfit).toEqual({ price: 2 });
    const found = await search('prices', { filter: 'price > 1', order_by: 'price', facets: ['price'] });
    expect(namesOf(found)).toEqual(['number', 'text']);
    expect(found.results[1]?.fields['price']).toEqual([12.5]);
    expect(found.facets?.['price']).toHaveLength(2);
    // A value that filters do not see is no value to them; the record still shows it, as an array like any other.
    const unseen = await search('prices', { filter: 'price = null', order_by: 'name' });
    expect(unseen.results.map(({ fields }) => fields['price'])).toEqual([['007'], undefined, ['dear']]);
    expect(namesOf(await search('prices', { order_by: 'price desc, name' }))).toEqual([
      ...['text', 'number', 'code', 'none', 'word'],
    ]);
  });

  it('keeps that count after a restart, in a copy, and if the list is saved as it was read', async () => {
    await service.stop();
    await service.start();
    const told = (await service.client.get('/list/default/prices')).body as ListBody;
    expect(currentOf(told).unfit).toEqual({ price: 2 });
    expect((await service.client.put('/list/default/prices', told)).status).toBe(200);
    await service.client.post('/list/default/prices/clone', { name: 'copy' });
    expect(currentOf(await settled('copy')).unfit).toEqual({ price: 2 });
    expect(namesOf(await search('copy', { filter: 'price > 1', order_by: 'price' }))).toEqual(['number', 'text']);
  });

  it('can be left alone when other fields of a record change, and is named if the whole record is sent', async () => {
    const [record] = (await search('prices', { query: '', filter: 'price = null', order_by: 'name desc' })).results;
    expect(record?.name).toBe('word');
    const path = `/search-result/default/prices/${record?.id}`;
    const patched = await service.client.patch(path, { tags: ['c'] });
    expect(patched).toMatchObject({ status: 200, body: { fields: { price: ['dear'], tags: ['c'] } } });
    expect(await service.client.put(path, { fields: record?.fields })).toMatchObject({
      status: 400,
      body: { code: 'invalid-record', detail: expect.stringContaining("'price'") as string },
    });
    expect((await service.client.patch(path, { price: 9 })).body).toMatchObject({ fields: { price: [9] } });
    expect(namesOf(await search('prices', { filter: 'price = 9' }))).toEqual(['word']);
  });

  it('has all of its values back if it becomes a text facet again', async () => {
    await service.client.put('/facet/default/copy/price', { type: 'string' });
    expect(currentOf(await settled('copy')).unfit).toBeUndefined();
    const found = await search('copy', { filter: 'price != null', order_by: 'price' });
    expect(found.results.map(({ fields }) => fields['price'])).toEqual([['007'], ['12.5'], ['5'], ['dear']]);
  });
});

it('A Single facet counts the records with several values, and sorts them alike in a group and in the list', async () => {
  await makeList('tagged');
  await service.client.put('/facet/default/tagged/tags', { cardinality: 'Single' });
  expect(currentOf(await settled('tagged')).unfit).toEqual({ tags: 1 });
  const order = { order_by: 'tags desc, name' };
  const expected = ['code', 'text', 'word', 'none', 'number'];
  expect(namesOf(await search('tagged', order))).toEqual(expected);
  await service.client.post('/list/default', { name: 'empty', facets: [{ name: 'tags', type: 'string' }] });
  await service.client.post('/list-group/default', { name: 'both', lists: [{ list: 'tagged' }, { list: 'empty' }] });
  const { body } = await service.client.post('/search/group/default/both/latest', order);
  expect(namesOf(body as Found)).toEqual(expected);
});
