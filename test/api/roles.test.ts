/**
 * Tests who may call each operation of the registry, for each kind of caller: nobody gets more than their role
 * allows.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOperations } from '../../src/main.js';
import type { Operation } from '../../src/operations/index.js';
import type { Answer } from '../support/client.js';
import { Person } from '../support/person.js';
import { startTestService, type TestService } from '../support/service.js';

const PASSWORD = 'correct horse battery';
const ROLES = ['owner', 'editor', 'viewer'] as const;
type Role = (typeof ROLES)[number];

/** Permissions and the service itself are for owners. */
const OWNERS_AREAS = new Set(['account', 'api-key', 'contributor', 'service']);
/** These would end the session of the tests, or never end themselves. */
const NOT_CALLED_WHERE_ALLOWED = new Set(['session.end', 'progress.watch']);

const operations = (await allOperations()).filter(({ permission }) => permission !== 'public');

let service: TestService;
let people: Record<Role, Person>;
/** An owner of another account. */
let stranger: Person;

beforeAll(async () => {
  service = await startTestService({ env: { GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1' } });
  expect((await service.control().post('/account', { name: 'other' })).status).toBe(201);
  const [owner, editor, viewer] = await Promise.all(ROLES.map((role) => personWith('default', role)));
  people = { owner, editor, viewer } as Record<Role, Person>;
  stranger = await personWith('other', 'owner');
});
afterAll(() => service.close());

async function personWith(account: string, role: Role): Promise<Person> {
  const email = `${role}@${account}.example`;
  const { body, text } = await service.control().post(`/contributor/${account}/link`, { email, role });
  const person = new Person(service);
  const { link } = body as { link?: string };
  expect(link, text).toBeDefined();
  const answer = await person.signIn({ link: link?.slice(link.indexOf('=') + 1), password: PASSWORD });
  expect(answer.status, answer.text).toBe(201);
  return person;
}

/** Fills in names of things that do not exist. */
const pathOf = ({ path }: Operation): string =>
  path.replaceAll('{account}', 'default').replaceAll(/\{[A-Za-z_-]+\}/g, 'none');

function call(caller: Person, operation: Operation, headers: Record<string, string> = {}): Promise<Answer> {
  const json = operation.body === undefined ? {} : { json: {} };
  return caller.send(operation.method, pathOf(operation), { ...json, headers });
}

const codeOf = ({ status, body }: Answer) => [status, (body as { code?: string } | undefined)?.code];

function allows(role: Role, permission: string | null): boolean {
  if (permission === null || role === 'owner' || /:(?:read|view)$/.test(permission)) return true;
  return role === 'editor' && !OWNERS_AREAS.has(permission.split(':', 1)[0] ?? '');
}

describe.each(operations.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const { callers, permission } = operation;
  const isForConsole = callers.includes('console');

  it('refuses callers without key and session', async () => {
    const answer = await call(new Person(service), operation);
    expect(codeOf(answer)).toEqual([401, 'invalid-key']);
  });

  it.each(ROLES)('allows a %s what the role allows', async (role) => {
    if (!isForConsole) expect(codeOf(await call(people[role], operation))).toEqual([403, 'console-only']);
    else if (!allows(role, permission))
      expect(codeOf(await call(people[role], operation))).toEqual([403, 'missing-permission']);
    else if (!NOT_CALLED_WHERE_ALLOWED.has(name))
      expect([401, 403]).not.toContain((await call(people[role], operation)).status);
  });

  it('refuses an owner of another account, whichever account their page names', async () => {
    if (!operation.path.includes('{account}')) return;
    const expected = [403, isForConsole ? 'out-of-scope' : 'console-only'];
    for (const account of ['other', 'default']) {
      const answer = await call(stranger, operation, { 'X-Account': account });
      // A person who is not a contributor of an account has no session in it, and is told nothing more.
      expect([expected, [403, 'out-of-scope']]).toContainEqual(codeOf(answer));
    }
  });

  it('refuses changes without the CSRF token of the page', async () => {
    if (operation.method === 'GET' || !isForConsole) return;
    const answer = await call(people.owner, operation, { 'X-CSRF-Token': '' });
    expect(codeOf(answer)).toEqual([403, 'csrf-token']);
  });
});

it('An owner of another account cannot create a webhook of this one', async () => {
  const json = { account: 'default', url: 'https://example.com/', events: ['list.created'] };
  for (const headers of [{}, { 'X-Account': 'default' }]) {
    expect((await stranger.send('POST', '/webhook', { json, headers })).status).toBe(403);
  }
  const { body } = await service.control().get('/webhook/default');
  expect(body).toMatchObject({ webhooks: [] });
});

it('Only owners can raise a role, even their own', async () => {
  const { contributors } = (await people.owner.get('/contributor/default')).body as {
    contributors: { id: string; email: string; role: string }[];
  };
  for (const role of ['editor', 'viewer'] as const) {
    const own = contributors.find(({ email }) => email === `${role}@default.example`);
    const raise = await people[role].send('PUT', `/contributor/default/${own?.id}`, { json: { role: 'owner' } });
    expect(codeOf(raise)).toEqual([403, 'missing-permission']);
    const invite = { email: `friend-of-${role}@example.com`, role: 'owner' };
    expect(codeOf(await people[role].send('POST', '/contributor/default', { json: invite }))).toEqual([
      403,
      'missing-permission',
    ]);
  }
});

it('Owners see the settings with their origin, and no secret values', async () => {
  const secret = Buffer.alloc(32, 7).toString('base64');
  const other = await startTestService({ env: { GANNET_SECRETS_KEYS: secret, GANNET_SEARCH_DEADLINE_MS: '4321' } });
  try {
    const { body, text, status } = await other.control().get('/service/settings/default');
    expect(status, text).toBe(200);
    const { settings } = body as { settings: { name: string }[] };
    const known = new Map(settings.map((setting) => [setting.name, setting]));
    expect(known.get('search.deadline_ms')).toMatchObject({ value: 4321, origin: 'environment', is_automatic: false });
    expect(known.get('memory.mib')).toMatchObject({ origin: 'default', is_automatic: true });
    expect(known.get('secrets.keys')).toMatchObject({ value: null, is_secret: true, is_set: true });
    expect(known.get('openid.client_secret')).toMatchObject({ value: null, is_secret: true, is_set: false });
    expect(text).not.toContain(secret);
    expect(codeOf(await other.client.get('/service/settings/default'))).toEqual([403, 'console-only']);
  } finally {
    await other.close();
  }
});
