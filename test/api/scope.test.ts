/**
 * Tests API keys with every operation of the OpenAPI document, so that new operations are covered as well: what a key
 * may not do is answered 403, what is missing within its scope 404, and no answer tells whether a name out of scope
 * exists.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribedOperation } from '../support/answer-checker.js';
import type { Answer, ServiceClient } from '../support/client.js';
import { startTestService, type TestService } from '../support/service.js';

const READ = ['list:read', 'list-group:read', 'search-result:read'];
/** Values for parameters of a path that are no names of lists or groups. */
const OTHER_PARAMETERS: Readonly<Record<string, string>> = {
  version: '1',
  id: '01900000-0000-7000-8000-000000000000',
  name: 'title',
};

interface Place {
  readonly account: string;
  readonly list: string;
  readonly group: string;
}
/** The answers to a request without a body, here without an OpenID provider. */
const SIGNING_IN: Readonly<Record<string, number>> = { '/session': 400, '/session/openid': 404 };
const OWN: Place = { account: 'default', list: 'mine', group: 'ours' };

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  for (const name of ['mine', 'theirs']) {
    await service.client.post('/list/default', { name, searchable_fields: [{ name: 'title' }], model: 'own' });
  }
  await service.client.post('/list-group/default', { name: 'ours', lists: [{ list: 'mine' }] });
  await service.client.post('/list-group/default', { name: 'others', lists: [{ list: 'theirs' }] });
});
afterAll(() => service.close());

function keyed(): readonly DescribedOperation[] {
  return service.checker.operations.filter(({ description }) => description.security.length > 0);
}

/** Calls the operation for this place without a body: permissions are checked before the body. */
function attempt(client: ServiceClient, operation: DescribedOperation, place: Place): Promise<Answer> {
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent((place as unknown as Record<string, string>)[name] ?? OTHER_PARAMETERS[name] ?? 'x'),
  );
  return client.send(operation.method, path);
}

function forCallers(operation: DescribedOperation): boolean {
  return operation.description['x-callers'].includes('key');
}

/** Returns what the path names: `group` before `list` before `account`. */
function reachOf({ path }: DescribedOperation): 'group' | 'list' | 'account' | 'none' {
  if (path.includes('{group}')) return 'group';
  if (path.includes('{list}')) return 'list';
  return path.includes('{account}') ? 'account' : 'none';
}

function outcome({ status, body }: Answer): string {
  return `${status} ${(body as { code?: string } | undefined)?.code ?? ''}`.trim();
}

describe('an API key that reads one list', () => {
  let client: ServiceClient;
  beforeAll(async () => {
    client = await service.clientFor({ permissions: READ, scope: 'list', scope_target: 'mine' });
  });

  it('is refused everything that it has no permission for, whatever the request names', async () => {
    const places = [OWN, { ...OWN, list: 'theirs', group: 'others' }, { ...OWN, list: 'missing', group: 'missing' }];
    let count = 0;
    for (const operation of keyed()) {
      const permission = operation.description['x-permission'];
      if (permission === undefined || (forCallers(operation) && READ.includes(permission))) continue;
      for (const place of places) {
        const answer = await attempt(client, operation, place);
        const wanted = forCallers(operation) ? '403 missing-permission' : '403 console-only';
        expect(outcome(answer), `${operation.method} ${operation.path}`).toBe(wanted);
        if (forCallers(operation)) expect(answer.text).toContain(permission);
        count++;
      }
    }
    expect(count).toBeGreaterThan(50);
  });

  it('is refused other lists, groups, the account and other accounts, whether they exist or not', async () => {
    const places: Place[] = [
      { ...OWN, list: 'theirs', group: 'ours' },
      { ...OWN, list: 'missing', group: 'missing' },
      { ...OWN, list: 'NO NAME', group: 'NO NAME' },
      { account: 'other', list: 'mine', group: 'ours' },
      { account: 'nobody', list: 'mine', group: 'ours' },
    ];
    for (const operation of keyed()) {
      const permission = operation.description['x-permission'];
      if (!forCallers(operation) || permission === undefined || !READ.includes(permission)) continue;
      if (reachOf(operation) === 'none') continue;
      const answers = await Promise.all(places.map((place) => attempt(client, operation, place)));
      const where = `${operation.method} ${operation.path}`;
      expect(answers.map(outcome), where).toEqual(places.map(() => '403 out-of-scope'));
      // The refusals are the same, so that nothing can be told apart by them: one for the account, and one for
      // others, which repeats their name.
      const told = (isOwn: boolean) =>
        answers.flatMap(({ text }, at) => {
          const account = places[at]?.account ?? '';
          return (account === OWN.account) === isOwn ? [text.replaceAll(`'${account}'`, 'it')] : [];
        });
      expect([new Set(told(true)).size, new Set(told(false)).size], where).toEqual([1, 1]);
    }
  });

  it('may call its operations on its own list', async () => {
    for (const operation of keyed()) {
      const permission = operation.description['x-permission'];
      if (!forCallers(operation) || operation.method !== 'GET' || reachOf(operation) !== 'list') continue;
      if (permission === undefined || !READ.includes(permission)) continue;
      const { status } = await attempt(client, operation, OWN);
      expect([200, 404], `${operation.method} ${operation.path}`).toContain(status);
    }
    expect((await client.get('/account')).status).toBe(200);
  });
});

describe('an API key with all permissions on one list', () => {
  it('is refused everything outside the list', async () => {
    const client = await service.clientFor({ access: 'full', scope: 'list', scope_target: 'mine' });
    const away: Place[] = [
      { ...OWN, list: 'theirs', group: 'ours' },
      { ...OWN, list: 'missing', group: 'missing' },
      { account: 'other', list: 'mine', group: 'ours' },
    ];
    for (const operation of keyed()) {
      if (!forCallers(operation) || reachOf(operation) === 'none') continue;
      for (const place of away) {
        const where = `${operation.method} ${operation.path} ${JSON.stringify(place)}`;
        expect(outcome(await attempt(client, operation, place)), where).toBe('403 out-of-scope');
      }
    }
    for (const body of [{ name: 'new' }, { name: 'mine' }]) {
      expect(outcome(await client.post('/list/default', body))).toBe('403 out-of-scope');
      expect(outcome(await client.post('/list/default/mine/clone', body))).toBe('403 out-of-scope');
      expect(outcome(await client.post('/list-group/default', body))).toBe('403 out-of-scope');
    }
  });
});

describe('an API key of a group', () => {
  it('is refused other groups and lists outside the group, whether they exist or not', async () => {
    const client = await service.clientFor({ access: 'full', scope: 'group', scope_target: 'ours' });
    const away: Place[] = [
      { ...OWN, list: 'theirs', group: 'others' },
      { ...OWN, list: 'missing', group: 'missing' },
      { account: 'other', list: 'mine', group: 'ours' },
    ];
    for (const operation of keyed()) {
      if (!forCallers(operation) || reachOf(operation) === 'none') continue;
      for (const place of away) {
        const where = `${operation.method} ${operation.path} ${JSON.stringify(place)}`;
        expect(outcome(await attempt(client, operation, place)), where).toBe('403 out-of-scope');
      }
    }
  });
});

describe('an API key of the account', () => {
  it('is told which list or group does not exist', async () => {
    const missing: Place = { ...OWN, list: 'missing', group: 'missing' };
    for (const operation of keyed()) {
      const reach = reachOf(operation);
      if (!forCallers(operation) || (reach !== 'list' && reach !== 'group')) continue;
      // Copying needs the account as scope, and its body is checked before the list.
      if (operation.path.endsWith('/clone')) continue;
      // A click on something deleted is accepted, and records nothing.
      if (operation.path.startsWith('/search/analytics/click/')) continue;
      const where = `${operation.method} ${operation.path}`;
      expect(outcome(await attempt(service.client, operation, missing)), where).toBe(`404 ${reach}-not-found`);
    }
  });
});

describe('a request without an API key', () => {
  it('gets the same 401 from every operation that is not public', async () => {
    const texts = new Set<string>();
    for (const operation of service.checker.operations) {
      const answer = await attempt(service.clientWith(undefined), operation, OWN);
      const where = `${operation.method} ${operation.path}`;
      if (operation.description.security.length === 0) {
        expect(answer.status, where).toBe(SIGNING_IN[operation.path] ?? 200);
      } else {
        expect(outcome(answer), where).toBe('401 invalid-key');
        texts.add(answer.text);
      }
    }
    expect(texts.size).toBe(1);
  });
});
