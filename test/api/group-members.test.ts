/**
 * Keys of a group against every operation of the OpenAPI document, after a list left the group and after another one took the
 * name of a list that was in it: what was a member once is out of reach, by whatever way, and so is what only bears its name.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribedOperation } from '../support/answer-checker.js';
import type { Answer, ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

/** In the names of everything that the key must not see. */
const MARK = 'zebra';
const WORD = 'gannet';
const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  id: '01900000-0000-7000-8000-000000000000',
  name: 'title',
  record: `${MARK}-record`,
};
/** Options that an operation may need before it answers. */
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
  // One leaves the group by a change of its members, one by being deleted; a new list has its name.
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

describe('a key of a group', () => {
  it.each([`${MARK}-former`, `${MARK}-renewed`])('is refused the list %s by every operation', async (name) => {
    const operations = forKeys('{list}');
    expect(operations.length).toBeGreaterThan(20);
    for (const operation of operations) {
      const answer = await key.send(operation.method, pathOf(operation, { list: name }));
      expect(outcome(answer), `${operation.method} ${operation.path}`).toBe('403 out-of-scope');
    }
  });

  it('learns nothing of them from any operation on its group, in any version', async () => {
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
          // A name that the request itself had is no news.
          expect(text.replaceAll(`no list '${MARK}-former'`, ''), where).not.toContain(MARK);
          expect(status, where).toBeLessThan(500);
        }
      }
    }
  });

  it('finds what is a member still, in old versions too, also after the same search of another caller', async () => {
    const search = (client: ServiceClient) => client.get('/search/group/default/ours/1', { query: WORD });
    for (let time = 0; time < 2; ++time) {
      // One list of the first version is gone, whoever asks who reaches the whole account.
      expect(outcome(await search(service.client))).toBe('404 version-not-found');
      expect((await search(key)).body).toMatchObject({ total_count: 1, results: [{ list_name: 'present' }] });
    }
  });

  it('is told nothing of the groups that took the name of its group', async () => {
    const { client } = service;
    await client.post('/list-group/default', { name: 'short', lists: [{ list: 'present' }] });
    const lost = await service.clientFor({ access: 'full', scope: 'group', scope_target: 'short' });
    await client.delete('/list-group/default/short');
    await client.post('/list-group/default', { name: 'short', lists: [{ list: `${MARK}-former` }] });
    expect((await lost.get('/list-group/default/short')).status).toBe(401);
  });
});

describe('a key of the account', () => {
  it('sees every version as it was, and no list in the place of another', async () => {
    const { client } = service;
    await client.post('/list-group/default', {
      name: 'both',
      lists: [{ list: 'present' }, { list: `${MARK}-former` }],
    });
    await client.put('/list-group/default/both', { lists: [{ list: 'present' }] });
    const found = await client.get('/search/group/default/both/1', { query: WORD });
    expect(found.body).toMatchObject({ total_count: 2 });
    // What the control of the tests above proves: a key of the group gets another answer to the same question.
    const own = await service.clientFor({ access: 'search-and-read', scope: 'group', scope_target: 'both' });
    expect((await own.get('/search/group/default/both/1', { query: WORD })).body).toMatchObject({ total_count: 1 });
    expect((await client.get('/list-group/default/both')).text).toContain(MARK);
    expect((await client.get('/search/group/default/both/1', { query: WORD })).body).toMatchObject({ total_count: 2 });
  });
});
