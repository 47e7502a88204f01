import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ServiceClient } from '../support/client.js';
import { gannet } from '../support/cli.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ env: { GANNET_KEYS_READ_ONLY_PER_HOUR: '1000' } });
  for (const name of ['films', 'books', 'games']) await service.client.post('/list/default', { name });
  await service.client.post('/list-group/default', { name: 'media', lists: [{ list: 'films' }, { list: 'books' }] });
});
afterAll(() => service.close());

function readOnly(client: ServiceClient, body: Record<string, unknown> = {}): Promise<Answer> {
  return client.post('/api-key/read-only', {
    account_name: 'default',
    api_key_name: 'child',
    permissions: ['search-result:read'],
    ...body,
  });
}

describe('POST /api-key/read-only', () => {
  it('creates a key that works and shows its secret once', async () => {
    const { status, body } = await readOnly(service.client);
    expect(status).toBe(201);
    const created = body as { key: string };
    expect(created).toEqual({
      id: expect.any(String) as string,
      name: 'child',
      key: expect.stringMatching(/^gnt_eu_[A-Za-z0-9_-]{43}$/) as string,
      scope: 'account',
      scope_target: null,
      region: 'eu',
      permissions: ['search-result:read'],
      expires_at: null,
    });
    const child = service.clientWith(created.key);
    expect((await child.get('/search-result/default/films')).status).toBe(200);
    expect(await child.get('/list/default')).toMatchObject({ status: 403, body: { code: 'missing-permission' } });
    expect(await readOnly(child)).toMatchObject({ status: 403, body: { code: 'missing-permission' } });
  });

  it('drops permissions that write, and refuses a request if none is left', async () => {
    const mixed = await readOnly(service.client, {
      permissions: [
        'search-result:read',
        'list:delete',
        'search-result:*',
        'service:view',
        '*',
        'list:read',
        'list:read',
      ],
    });
    expect(mixed.body).toMatchObject({ permissions: ['search-result:read', 'service:view', 'list:read'] });
    for (const permissions of [[], ['list:delete'], ['*'], ['list:*']]) {
      const answer = await readOnly(service.client, { permissions });
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/permissions' }] } });
    }
  });

  it('suggests the permission that was probably meant', async () => {
    const answer = await readOnly(service.client, { permissions: ['search-results:read'] });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('search-result:read');
  });

  it("creates keys with the same or a narrower scope than the caller's, never a wider one", async () => {
    const permissions = ['api-key:create-read-only'];
    const ofAccount = await service.clientFor({ permissions });
    const ofGroup = await service.clientFor({ permissions, scope: 'group', scope_target: 'media' });
    const ofList = await service.clientFor({ permissions, scope: 'list', scope_target: 'films' });
    const toList = (scope_target: string) => ({ scope: 'list', scope_target });
    const toGroup = { scope: 'group', scope_target: 'media' };
    const statuses = async (client: ServiceClient) =>
      Promise.all(
        [{}, toGroup, toList('films'), toList('books'), toList('games'), toList('missing')].map(
          async (scope) => (await readOnly(client, scope)).status,
        ),
      );
    expect(await statuses(ofAccount)).toEqual([201, 201, 201, 201, 201, 404]);
    expect(await statuses(ofGroup)).toEqual([403, 201, 201, 201, 403, 403]);
    expect(await statuses(ofList)).toEqual([403, 403, 201, 403, 403, 403]);
  });

  it("creates keys that expire no later than the caller's", async () => {
    const client = await service.clientFor({ permissions: ['api-key:create-read-only'], expires_at: '2090-06-30' });
    const expiry = '2090-06-30T23:59:59.999Z';
    expect((await readOnly(client)).body).toMatchObject({ expires_at: expiry });
    expect((await readOnly(client, { expires_at: '2080-01-01' })).body).toMatchObject({
      expires_at: '2080-01-01T23:59:59.999Z',
    });
    expect((await readOnly(client, { expires_at: '2020-01-01' })).status).toBe(422);
    expect(await readOnly(client, { expires_at: '2091-01-01' })).toMatchObject({
      status: 403,
      body: { code: 'wider-than-caller' },
    });
  });

  it('refuses a scope and a target that do not fit, other accounts, and callers without the permission', async () => {
    const faulty = [
      { scope: 'list' },
      { scope: 'group' },
      { scope_target: 'films' },
      { scope: 'lists' },
      { name: 'x' },
    ];
    for (const body of faulty) expect((await readOnly(service.client, body)).status).toBe(400);
    expect((await readOnly(service.client, { account_name: 'other' })).status).toBe(403);
    expect(await readOnly(await service.clientFor({ access: 'read-all' }))).toMatchObject({
      status: 403,
      body: { code: 'missing-permission', detail: expect.stringContaining('api-key:create-read-only') as string },
    });
  });
});

describe('the limit on creating read-only keys', () => {
  it('holds for all keys of an account together and says when to retry', async () => {
    const limited = await startTestService();
    try {
      const clients = [limited.client, await limited.clientFor({ access: 'full' })];
      const answers: Answer[] = [];
      for (let call = 0; call < 12; call++) answers.push(await readOnly(clients[call % 2] as ServiceClient));
      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(201), 429, 429]);
      const last = answers.at(-1) as Answer;
      const seconds = Number(last.headers['retry-after']);
      expect(seconds).toBeGreaterThan(3500);
      expect(seconds).toBeLessThanOrEqual(3600);
      expect(last.body).toMatchObject({ code: 'rate-limited', retry_after_seconds: seconds });
      // A request that is refused for another reason does not use up the limit, and gets its own error.
      expect((await readOnly(limited.client, { permissions: [] })).status).toBe(400);
    } finally {
      await limited.close();
    }
  });
});

describe('API keys managed from the command line', () => {
  it('are created, listed and deleted, which no API key may do', async () => {
    const control = service.control();
    const created = await control.post('/api-key/default', { name: 'made', access: 'read-all' });
    expect(created.status).toBe(201);
    const { id, key } = created.body as { id: string; key: string };
    const listed = await control.get('/api-key/default');
    const keys = (listed.body as { keys: { id: string; last_four: string }[] }).keys;
    expect(keys.find((each) => each.id === id)?.last_four).toBe(key.slice(-4));
    expect(listed.text).not.toContain(key.slice(7));
    const consoleOnly = { status: 403, body: { code: 'console-only' } };
    expect(await service.client.get('/api-key/default')).toMatchObject(consoleOnly);
    expect(await service.client.post('/api-key/default', { name: 'x' })).toMatchObject(consoleOnly);
    expect(await service.client.delete(`/api-key/default/${id}`)).toMatchObject(consoleOnly);
    expect((await control.delete(`/api-key/default/${id}`)).status).toBe(204);
    expect(await control.delete(`/api-key/default/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'key-not-found' },
    });
    expect((await service.clientWith(key).get('/account')).status).toBe(401);
  });

  it('show the hour of the last request with each key, also after a restart', async () => {
    const own = await startTestService();
    const lastUses = async () => {
      const { keys } = (await own.control().get('/api-key/default')).body as {
        keys: { name: string; last_used_utc: string | null; use_known_since_utc: string; created_utc: string }[];
      };
      return keys.map(({ name, last_used_utc: used, use_known_since_utc: since, created_utc }) => [
        name,
        used,
        since >= created_utc,
      ]);
    };
    try {
      const { key } = (await own.control().post('/api-key/default', { name: 'used' })).body as { key: string };
      await own.control().post('/api-key/default', { name: 'unused' });
      expect((await own.clientWith(key).get('/account')).status).not.toBe(401);
      const told = await lastUses();
      expect(told).toEqual([
        ['tests', null, true],
        ['used', expect.stringMatching(/T\d\d:00:00\.000Z$/), true],
        ['unused', null, true],
      ]);
      await own.stop();
      await own.start({ withoutKey: true });
      expect(await lastUses()).toEqual(told);
      const { output: stdout } = await gannet(own.dataDir, 'key', 'list');
      expect(stdout).toMatch(/ used .* \d{4}-\d\d-\d\d \d\dh\n/);
      expect(stdout).toMatch(/ unused .* not since \d{4}-\d\d-\d\d \d\dh\n/);
    } finally {
      await own.close();
    }
  });

  it('have the region that was asked for if they reach the account, and otherwise that of their list or group', async () => {
    const control = service.control();
    const make = (body: Record<string, unknown>) => control.post('/api-key/default', { name: 'x', ...body });
    const films = { scope: 'list', scope_target: 'films' };
    expect((await make({})).body).toMatchObject({ region: 'eu' });
    expect((await make({ region: 'us' })).body).toMatchObject({
      region: 'us',
      key: expect.stringMatching(/^gnt_us_/) as string,
    });
    expect((await make(films)).body).toMatchObject({ region: 'eu' });
    expect((await make({ ...films, region: 'eu' })).body).toMatchObject({ region: 'eu' });
    expect(await make({ ...films, region: 'us' })).toMatchObject({
      status: 400,
      body: {
        detail: "A key of a list always has the region of the list, 'eu': leave out the region.",
        errors: [{ pointer: '/region' }],
      },
    });
  });

  it('need presets or permissions, a scope that exists, and an expiry in the future', async () => {
    const control = service.control();
    const make = (body: Record<string, unknown>) => control.post('/api-key/default', { name: 'x', ...body });
    expect((await make({ access: 'full' })).body).toMatchObject({ permissions: [] });
    expect((await make({ permissions: [] })).body).toMatchObject({ permissions: [] });
    expect((await make({ access: 'custom', permissions: ['list:*'] })).body).toMatchObject({ permissions: ['list:*'] });
    const faulty = [
      { access: 'custom' },
      { access: 'custom', permissions: [] },
      { access: 'full', permissions: ['list:read'] },
      { permissions: ['list:raed'] },
      { expires_at: 'soon' },
      { scope: 'list' },
      { scope_target: 'films' },
      { region: 'EU!' },
    ];
    for (const body of faulty) expect((await make(body)).status, JSON.stringify(body)).toBe(400);
    expect(await make({ scope: 'list', scope_target: 'missing' })).toMatchObject({ status: 404 });
    expect(await make({ scope: 'group', scope_target: 'missing' })).toMatchObject({ status: 404 });
    expect(await make({ expires_at: '2020-01-01' })).toMatchObject({
      status: 422,
      body: {
        detail: expect.stringContaining('2020-01-01T23:59:59.999Z is in the past') as string,
        errors: [{ pointer: '/expires_at' }],
      },
    });
    expect(await control.post('/api-key/nobody', { name: 'x' })).toMatchObject({
      status: 404,
      body: { code: 'account-not-found' },
    });
  });
});
