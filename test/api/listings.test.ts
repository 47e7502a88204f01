/**
 * Tests that listings are read page by page: lists, groups, API keys, webhooks and media stores, also if entries are
 * deleted between two pages.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const COUNT = 7;
const LISTED = [
  { path: '/list/default', member: 'lists', make: (name: string) => ({ name }) },
  { path: '/list-group/default', member: 'groups', make: (name: string) => ({ name, lists: [] }) },
  { path: '/api-key/default', member: 'keys', make: (name: string) => ({ name }) },
  {
    path: '/webhook/default',
    member: 'webhooks',
    at: '/webhook',
    make: (name: string) => ({ url: `https://example.com/${name}`, events: ['list.created'], account: 'default' }),
  },
  {
    path: '/contributor/default',
    member: 'contributors',
    make: (name: string) => ({ email: `${name}@example.com`, role: 'viewer' }),
  },
  {
    path: '/media-store/default',
    member: 'media_stores',
    make: (name: string) => ({
      name,
      kind: 's3',
      endpoint: 'https://s3.example.com',
      bucket: 'bucket',
      access_key_id: 'id',
      secret_access_key: 'secret',
    }),
  },
  { path: '/account/all', at: '/account', member: 'accounts', make: (name: string) => ({ name }) },
];

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const { path, at = path, make } of LISTED)
    for (let number = COUNT; number > 0; number -= 1) {
      const { status, text } = await service.control().post(at, make(`entry-${number}`));
      expect(status, text).toBe(201);
    }
});
afterAll(() => service.close());

interface Listing {
  readonly next?: string;
  readonly [member: string]: unknown;
}

async function page(path: string, query: Readonly<Record<string, string | number>> = {}): Promise<Listing> {
  const { status, body, text } = await service.control().get(path, query);
  expect(status, text).toBe(200);
  return body as Listing;
}

describe.each(LISTED)('GET $path', ({ path, member }) => {
  it('returns all in one page if they fit, and the same entries in small pages', async () => {
    const whole = await page(path);
    const all = whole[member] as unknown[];
    expect(all.length).toBeGreaterThanOrEqual(COUNT);
    expect(whole).not.toHaveProperty('next');
    for (const size of [1, 3, all.length]) {
      const read: unknown[] = [];
      let next: string | undefined;
      do {
        const part = await page(path, { size, ...(next === undefined ? {} : { after: next }) });
        const entries = part[member] as unknown[];
        expect(entries.length).toBe(Math.min(size, all.length - read.length));
        read.push(...entries);
        ({ next } = part);
      } while (next !== undefined);
      expect(read).toEqual(all);
    }
  });

  it('refuses unknown sizes and options', async () => {
    for (const query of [{ size: 0 }, { size: 1001 }, { size: 'x' }, { after: '' }, { skip: 1 }])
      expect((await service.control().get(path, query)).status).toBe(400);
    expect(await page(path, { after: '\uffff' })).toEqual({ [member]: [] });
  });
});

it('A list deleted between two pages hides no other from the listing', async () => {
  const first = await page('/list/default', { size: 2 });
  await service.client.delete(`/list/default/${String(first.next)}`);
  const second = await page('/list/default', { size: 2, after: String(first.next) });
  expect((second['lists'] as { name: string }[]).map(({ name }) => name)).toEqual(['entry-3', 'entry-4']);
});

it('Long URLs of files that could not be read do not keep lists from being listed', async () => {
  const lists = ['links-1', 'links-2', 'links-3', 'links-4'];
  const url = (record: number) => `https://127.0.0.1/${record}/${'a'.repeat(190_000)}`;
  for (const list of lists) {
    const resources = [{ name: 'paper', kind: 'document' }];
    await service.client.post('/list/default', {
      name: list,
      model: 'own',
      searchable_fields: [{ name: 't' }],
      resources,
    });
    const records = Array.from({ length: 20 }, (_, record) => ({ name: `r${record}`, t: 'x', paper: url(record) }));
    expect((await service.client.bulk('default', list, records)).status).toBe(200);
    await expect
      .poll(async () => (await service.client.get(`/list/default/${list}`)).body)
      .toMatchObject({ resources_state: { failed: 20, pending: 0 } });
  }
  const listed = await service.control().get('/list/default', { rules: 'false', size: 200 });
  expect(listed.status, listed.text.slice(0, 200)).toBe(200);
  expect(listed.text.length).toBeLessThan(lists.length * 20 * 3500);
  expect(listed.body).toMatchObject({
    lists: expect.arrayContaining(lists.map((name) => expect.objectContaining({ name }) as unknown)) as unknown,
  });
});
