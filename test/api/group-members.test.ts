/**
 * Tests API keys of a group with every operation of the OpenAPI document, after a list was removed from the group and
 * after a new list took the name of a deleted member: such a key cannot reach either list in any way.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribedOperation } from '../support/answer-checker.js';
import type { Answer, ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

/** Part of all names that the key must not see. */
const MARK = 'zebra';
const WORD = 'gannet';
const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  id: '01900000-0000-7000-8000-000000000000',
  name: 'title',
  record: `${MARK}-record`,
};
/** Bodies that an operation may need before it answers. */
const BODIES = [{}, { query: WORD }, { query_id: 'x', result_id: 'y', list_name: `${MARK}-former` }];

let service: TestService;
let key: ServiceClient;
beforeAll(async () => {
  service = await startTestService();
  const { client } = service;
  await list('present');
  await list(`${MARK}-former`);
  await list(`${MARK}-renewed`);
  const lists = ['present', `${MARK}-former`, `${MARK}-renewed`].map((name) => ({ list: name }));
  expect((await client.post('/list-group/default', { name: 'ours', lists })).status).toBe(201);
  key = await service.clientFor({ access: 'full', scope: 'group', scope_target: 'ours' });
  // One list is removed from the group, another is deleted and a new list takes its name.
  await client.put('/list-group/default/ours', { lists: [{ list: 'present' }, { list: `${MARK}-renewed` }] });
  await client.delete(`/list/default/${MARK}-renewed`);
  await list(`${MARK}-renewed`);
});
afterAll(() => service.close());

async function list(name: string): Promise<void> {
  await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] });
  const record = name === 'present' ? 'present-record' : `${MARK}-record`;
  await service.client.bulk('default', name, [{ name: record, title: `${WORD} ${record}` }]);
}

function forKeys(part: '{group}' | '{list}'): readonly DescribedOperation[] {
  return service.checker.operations.filter(
    ({ path, description }) => path.includes(part) && description['x-callers'].includes('key'),
  );
}

function pathOf({ path }: DescribedOperation, named: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent({ account: 'default', version: '1', ...OTHER_PARAMETERS, ...named }[name] ?? 'x'),
  );
}

function outcome({ status, body }: Answer): string {
  return `${status} ${(body as { code?: string } | undefined)?.code ?? ''}`.trim();
}

describe('an API key of a group', () => {
  it.each([`${MARK}-former`, `${MARK}-renewed`])('is refused the list %s by every operation', async (name) => {
    const operations = forKeys('{list}');
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const answer = await key.send(operation.method, pathOf(operation, { list: name }));
      expect(outcome(answer), `${operation.method} ${operation.path}`).toBe('403 out-of-scope');
    }
  });

  it('learns nothing of former members from any operation on its group, in any version', async () => {
    const operations = forKeys('{group}').filter(({ method }) => method !== 'DELETE');
    expect(operations.length).toBeGreaterThan(6);
    const versions = (await service.client.get('/list-group/default/ours')).body as { current_version: number };
    expect(versions.current_version).toBe(3);
    for (const operation of operations) {
      for (const version of ['1', '2', '3', 'latest']) {
        const path = pathOf(operation, { group: 'ours', version });
        const answers =
          operation.method === 'GET'
            ? [await key.get(path), await key.get(path, { query: WORD })]
            : await Promise.all(BODIES.map((json) => key.send(operation.method, path, { json })));
        for (const { text, status } of answers) {
          const where = `${operation.method} ${path}: ${status} ${text}`;
          // A name that was in the request gives nothing away.
          expect(text.replaceAll(`no list '${MARK}-former'`, ''), where).not.toContain(MARK);
          expect(status, where).toBeLessThan(500);
        }
      }
    }
  });

  it('still searches present members, in old versions too, also after the same search by another caller', async () => {
    const search = (client: ServiceClient) => client.get('/search/group/default/ours/1', { query: WORD });
    for (let time = 0; time < 2; ++time) {
      // One list of the first version is deleted, which callers that reach the whole account are told.
      expect(outcome(await search(service.client))).toBe('404 version-not-found');
      expect((await search(key)).body).toMatchObject({ total_count: 1, results: [{ list_name: 'present' }] });
    }
  });

  it('reaches nothing after another group took the name of its group', async () => {
    const { client } = service;
    await client.post('/list-group/default', { name: 'short', lists: [{ list: 'present' }] });
    const lost = await service.clientFor({ access: 'full', scope: 'group', scope_target: 'short' });
    await client.delete('/list-group/default/short');
    await client.post('/list-group/default', { name: 'short', lists: [{ list: `${MARK}-former` }] });
    expect((await lost.get('/list-group/default/short')).status).toBe(401);
  });
});

describe('an API key of the account', () => {
  it('reaches every version as it was, and no new list in the place of a deleted one', async () => {
    const { client } = service;
    await client.post('/list-group/default', {
      name: 'both',
      lists: [{ list: 'present' }, { list: `${MARK}-former` }],
    });
    await client.put('/list-group/default/both', { lists: [{ list: 'present' }] });
    const found = await client.get('/search/group/default/both/1', { query: WORD });
    expect(found.body).toMatchObject({ total_count: 2 });
    // This shows that the tests above can fail: a key of the group gets another answer to the same search.
    const own = await service.clientFor({ access: 'search-and-read', scope: 'group', scope_target: 'both' });
    expect((await own.get('/search/group/default/both/1', { query: WORD })).body).toMatchObject({ total_count: 1 });
    expect((await client.get('/list-group/default/both')).text).toContain(MARK);
    expect((await client.get('/search/group/default/both/1', { query: WORD })).body).toMatchObject({ total_count: 2 });
  });
});
