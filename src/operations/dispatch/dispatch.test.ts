import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAccess, RateLimiter, type Caller, type NewKey } from '../../access/index.js';
import { openCatalog } from '../../catalog/index.js';
import { openEnvironment, ServiceError, systemClock, type LmdbEnvironment } from '../../platform/index.js';
import { createDispatcher, type Dispatcher } from './dispatch.js';
import { defineOperation, type Operation, type OperationTarget } from './operation.js';
import type { Services } from './services.js';

const LIST = {
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
};

const ANYBODY = ['key', 'console', 'cli'] as const;
function operation(target: OperationTarget, more: Partial<Operation> = {}): Operation {
  return {
    ...defineOperation({
      name: 'test.test',
      summary: '',
      method: 'GET',
      path: '/',
      permission: 'list:read',
      callers: ANYBODY,
      target,
      params: Type.Object({}),
      responses: {},
      handle: () => ({ status: 200 }),
    }),
    ...more,
  };
}

let environment: LmdbEnvironment;
let dispatcher: Dispatcher;
const keys = new Map<string, string>();

beforeAll(async () => {
  environment = openEnvironment(join(mkdtempSync(join(tmpdir(), 'gannet-dispatch-')), 'system'), { kind: 'system' });
  const catalog = await openCatalog(environment, systemClock);
  const access = await openAccess(environment, systemClock);
  const member = (list: string) => ({ list, list_id: catalog.list('mine', list)?.id ?? null, pinned_version: 1 });
  for (const account of ['mine', 'other']) await catalog.createAccount(account, 'eu');
  for (const name of ['books', 'films', 'songs']) await catalog.createList({ ...LIST, account: 'mine', name });
  await catalog.createList({ ...LIST, account: 'other', name: 'books' });
  await catalog.createGroup('mine', 'shop', { lists: [member('books'), member('films')], reranker: null });
  await catalog.createGroup('mine', 'music', { lists: [member('songs')], reranker: null });
  const make = async (name: string, key: Partial<NewKey>) => {
    const full: NewKey = {
      account: 'mine',
      name,
      scope: 'account',
      scope_target: null,
      region: 'eu',
      permissions: [],
      expires_at: null,
      ...key,
    };
    keys.set(name, (await access.createKey(full)).secret);
  };
  await make('account', {});
  await make('list', { scope: 'list', scope_target: 'books' });
  await make('gone list', { scope: 'list', scope_target: 'lost' });
  await make('near a list', { scope: 'list', scope_target: 'boks' });
  await make('group', { scope: 'group', scope_target: 'shop' });
  await make('gone group', { scope: 'group', scope_target: 'lost' });
  await make('search only', { permissions: ['search-result:read'] });
  await make('expired', { expires_at: '2020-01-01T00:00:00.000Z' });
  const searchLimiter = new RateLimiter({ limit: 2, windowMs: 60_000 }, systemClock);
  dispatcher = createDispatcher({ catalog, access, searchLimiter } as unknown as Services);
});

const keyless: Caller = { kind: 'console', account: 'mine', key: undefined, can: () => true };

afterAll(() => environment.close());

/** Returns the code of the refusal, or `ok`. */
function admit(
  key: string,
  target: OperationTarget,
  params: Record<string, string>,
  more: Partial<Operation> = {},
): string {
  const credential =
    key === 'cli' ? ({ kind: 'cli' } as const) : ({ kind: 'key', header: keys.get(key) ?? key } as const);
  try {
    dispatcher.admit(operation(target, more), params, credential);
    return 'ok';
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

describe('scope and existence', () => {
  const rows: [key: string, target: OperationTarget, account: string, name: string, answer: string][] = [
    ['account', 'account', 'mine', '', 'ok'],
    ['account', 'list', 'mine', 'books', 'ok'],
    ['account', 'list', 'mine', 'lost', 'list-not-found'],
    ['account', 'list', 'mine', 'No Name', 'invalid-name'],
    ['account', 'group', 'mine', 'shop', 'ok'],
    ['account', 'group', 'mine', 'lost', 'group-not-found'],
    ['account', 'account', 'other', '', 'out-of-scope'],
    ['account', 'account', 'nobody', '', 'out-of-scope'],
    ['account', 'list', 'other', 'books', 'out-of-scope'],
    ['account', 'list', 'other', 'lost', 'out-of-scope'],
    ['list', 'list', 'mine', 'books', 'ok'],
    ['list', 'list', 'mine', 'films', 'out-of-scope'],
    ['list', 'list', 'mine', 'lost', 'out-of-scope'],
    ['list', 'list', 'mine', 'No Name', 'out-of-scope'],
    ['list', 'list', 'other', 'books', 'out-of-scope'],
    ['list', 'group', 'mine', 'shop', 'out-of-scope'],
    ['list', 'group', 'mine', 'lost', 'out-of-scope'],
    ['list', 'group', 'mine', 'books', 'out-of-scope'],
    ['list', 'account', 'mine', '', 'out-of-scope'],
    ['list', 'none', '', '', 'ok'],
    ['gone list', 'list', 'mine', 'lost', 'list-not-found'],
    ['group', 'group', 'mine', 'shop', 'ok'],
    ['group', 'group', 'mine', 'music', 'out-of-scope'],
    ['group', 'group', 'mine', 'lost', 'out-of-scope'],
    ['group', 'list', 'mine', 'books', 'ok'],
    ['group', 'list', 'mine', 'films', 'ok'],
    ['group', 'list', 'mine', 'songs', 'out-of-scope'],
    ['group', 'list', 'mine', 'lost', 'out-of-scope'],
    ['group', 'list', 'mine', 'shop', 'out-of-scope'],
    ['group', 'account', 'mine', '', 'out-of-scope'],
    // By the service document, a missing group is 404 for account-wide keys only.
    ['gone group', 'group', 'mine', 'lost', 'out-of-scope'],
    ['cli', 'list', 'mine', 'books', 'ok'],
    ['cli', 'list', 'mine', 'lost', 'list-not-found'],
    ['cli', 'list', 'nobody', 'books', 'account-not-found'],
    ['cli', 'account', 'nobody', '', 'account-not-found'],
    ['cli', 'group', 'mine', 'lost', 'group-not-found'],
  ];

  it.each(rows)('%s key on %s %s/%s: %s', (key, target, account, name, answer) => {
    expect(admit(key, target, { account, [target]: target === 'account' ? account : name })).toBe(answer);
  });

  const problemOf = (key: string, target: 'list' | 'group', name: string, more: Partial<Operation> = {}) => {
    try {
      const credential = { kind: 'key', header: keys.get(key) } as const;
      dispatcher.admit(operation(target, more), { account: 'mine', [target]: name }, credential);
    } catch (error) {
      return (error as ServiceError).toProblem();
    }
    return undefined;
  };

  it('answers a key alike for any list outside its scope, whether it exists or not', () => {
    expect(problemOf('list', 'list', 'films')).toEqual(problemOf('list', 'list', 'lost'));
  });

  it('names another account as the mistake, not a missing permission', () => {
    const detailOf = (account: string) => {
      const call = () =>
        dispatcher.admit(operation('list'), { account, list: 'books' }, { kind: 'key', header: keys.get('account') });
      return expect(call);
    };
    detailOf('mien').toThrow(
      /^This key reaches only the account 'mine', and the request names the account 'mien'\. Did you mean 'mine'\?$/,
    );
    detailOf('other').toThrow(
      /^This key reaches only the account 'mine', and the request names the account 'other'\.$/,
    );
  });

  it('suggests a similar name only to callers that may see all names', () => {
    expect(problemOf('account', 'list', 'flims')?.detail).toBe("There is no list 'flims'. Did you mean 'films'?");
    expect(problemOf('account', 'list', 'nothing-like-it')?.detail).toBe("There is no list 'nothing-like-it'.");
    const account = () => dispatcher.admit(operation('account'), { account: 'mien' }, { kind: 'cli' });
    expect(account).toThrow("There is no account 'mien'. Did you mean 'mine'?");
    expect(problemOf('account', 'group', 'shpo')?.detail).toBe("There is no group 'shpo'. Did you mean 'shop'?");
    const searches = { permission: 'search-result:read' };
    expect(problemOf('search only', 'list', 'flims', searches)?.detail).toBe("There is no list 'flims'.");
    expect(problemOf('search only', 'group', 'shpo', searches)?.detail).toBe("There is no group 'shpo'.");
    expect(problemOf('near a list', 'list', 'boks')?.detail).toBe("There is no list 'boks'.");
  });
});

describe('keys and permissions', () => {
  const books = { account: 'mine', list: 'books' };

  it('answers every key that does not work alike', () => {
    for (const key of ['', 'gnt_eu_nothing', 'expired']) expect(admit(key, 'list', books)).toBe('invalid-key');
  });

  it('reports a missing permission before scope and existence', () => {
    expect(admit('search only', 'list', books)).toBe('missing-permission');
    expect(admit('search only', 'list', { account: 'mine', list: 'lost' })).toBe('missing-permission');
    expect(admit('search only', 'list', books, { permission: 'search-result:read' })).toBe('ok');
    expect(admit('search only', 'none', {}, { permission: null })).toBe('ok');
  });

  it('refuses keys at operations for the console, and admits the command line', () => {
    const callers = ['console', 'cli'] as const;
    expect(admit('account', 'list', books, { callers })).toBe('console-only');
    expect(admit('cli', 'list', books, { callers })).toBe('ok');
  });

  it('needs no key for public operations', () => {
    expect(admit('no key at all', 'none', {}, { permission: 'public' })).toBe('ok');
  });

  it('admits no caller to an account that is deleted', () => {
    const session = Object.freeze({ ...keyless, account: 'gone' });
    const target = operation('account', { callers: ['console'] });
    expect(() => dispatcher.admit(target, { account: 'gone' }, { kind: 'caller', caller: session })).toThrow(
      "There is no account 'gone'.",
    );
  });

  it('counts searches by account, whatever the key, but not those of the command line', () => {
    const search = { rateLimit: 'search' } as const;
    expect(admit('list', 'list', { account: 'mine', list: 'films' }, search)).toBe('out-of-scope');
    expect(admit('list', 'list', books, search)).toBe('ok');
    expect(admit('account', 'list', books, search)).toBe('ok');
    expect(admit('group', 'list', books, search)).toBe('rate-limited');
    expect(admit('cli', 'list', books, search)).toBe('ok');
  });
});
