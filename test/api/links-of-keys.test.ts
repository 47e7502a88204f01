/**
 * Files can be read through links to them, so an API key that does not reach the files of an account cannot write
 * links to them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

const SECRET = 'media:default/papers/secret.pdf';
const WRITES = ['search-result:read', 'search-result:create', 'search-result:update', 'media:read'];
const REFUSED = { status: 403, body: { code: 'out-of-scope' } };

let service: TestService;
let linked: string;
const clients = new Map<string, ServiceClient>();
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', {
    name: 'mine',
    searchable_fields: [{ name: 'title' }],
    resources: [{ name: 'paper', kind: 'document' }],
  });
  await service.client.post('/list-group/default', { name: 'ours', lists: [{ list: 'mine' }] });
  const made = await service.client.post('/search-result/default/mine', {
    name: 'linked',
    fields: { title: 'One', paper: 'media:default/papers/open.pdf' },
  });
  linked = (made.body as { id: string }).id;
  const scoped = { permissions: WRITES, scope_target: 'mine' };
  clients.set('of a list', await service.clientFor({ ...scoped, scope: 'list' }));
  clients.set('of a group', await service.clientFor({ ...scoped, scope: 'group', scope_target: 'ours' }));
  const withoutFiles = WRITES.filter((permission) => permission !== 'media:read');
  clients.set('without media:read', await service.clientFor({ permissions: withoutFiles, scope: 'account' }));
});
afterAll(() => service.close());

describe.each(['of a list', 'of a group', 'without media:read'])('an API key %s', (kind) => {
  const client = () => clients.get(kind) as ServiceClient;

  it('cannot link to a file of a media store, in any field and by any write', async () => {
    const path = '/search-result/default/mine';
    for (const fields of [
      { paper: SECRET },
      { note: SECRET },
      { note: [SECRET] },
      { note: ['a', SECRET.toUpperCase()] },
    ]) {
      expect(await client().post(path, { name: 'spy', fields }), JSON.stringify(fields)).toMatchObject(REFUSED);
      expect(await client().post(path, { name: 'linked', fields })).toMatchObject(REFUSED);
      expect(await client().put(`${path}/${linked}`, { fields })).toMatchObject(REFUSED);
      expect(await client().patch(`${path}/${linked}`, { fields })).toMatchObject(REFUSED);
    }
    // A field with such a name is no link, and does not help either.
    const named = { [SECRET]: 'x', title: 'One', paper: 'media:default/papers/open.pdf' };
    expect((await client().put(`${path}/${linked}`, { fields: named })).status).toBe(200);
    expect(await client().put(`${path}/${linked}`, { fields: { paper: SECRET } })).toMatchObject(REFUSED);
    const lines = [`{"name": "spy", "paper": "${SECRET}"}`, '{"name": "fine", "title": "Media: what they are"}'];
    const bulk = await client().bulk('default', 'mine', lines.join('\n'));
    expect(bulk.body).toMatchObject({
      failed: 1,
      errors: [{ line: 1, detail: expect.stringContaining(SECRET) as string }],
    });
    const csv = await client().bulk('default', 'mine', `name,paper\nspy,${SECRET}\n`, 'text/csv');
    expect(csv.body).toMatchObject({ created: 0, failed: 1 });
    const { results } = (await service.client.get(path)).body as { results: { name: string }[] };
    expect(results.map(({ name }) => name)).not.toContain('spy');
  });

  it('can keep the links that a record has, and link to the web', async () => {
    const path = '/search-result/default/mine';
    const fields = { title: 'Two', paper: 'media:default/papers/open.pdf' };
    expect((await client().put(`${path}/${linked}`, { fields })).status).toBe(200);
    expect((await client().post(path, { name: 'linked', fields })).status).toBe(200);
    expect((await client().patch(`${path}/${linked}`, { fields: { title: 'Three' } })).status).toBe(200);
    const web = { paper: 'https://example.com/paper.pdf' };
    expect((await client().post(path, { name: 'web', fields: web })).status).toBeLessThan(300);
  });
});

it('An API key that reaches the account and its files can link to them', async () => {
  const client = await service.clientFor({ permissions: WRITES, scope: 'account' });
  const made = await client.post('/search-result/default/mine', { name: 'own', fields: { paper: SECRET } });
  expect(made.status).toBe(201);
});

it('An API key without media:read cannot have a list import a file of a media store, and so read it', async () => {
  const file = '/media/default/default/private%2Fpeople.csv';
  expect((await service.client.send('PUT', file, { bytes: 'name,title\nana,secret\n' })).status).toBe(201);
  await service.client.post('/list/default', { name: 'spied', searchable_fields: [{ name: 'title' }] });
  const permissions = ['list:update', 'search-result:read'];
  const without = await service.clientFor({ permissions, scope: 'account' });
  const path = '/list/default/spied/source';
  const source = { path: 'private/people.csv' };
  expect((await without.get(file)).status).toBe(403);
  expect(await without.post(path, source)).toMatchObject({ status: 403, body: { code: 'missing-permission' } });
  const reader = await service.clientFor({ permissions: [...permissions, 'media:read'], scope: 'account' });
  expect((await reader.post(path, source)).status).toBe(201);
});
