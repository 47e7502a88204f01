import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ clock: 'jumping', env: { GANNET_REGION: 'us' } });
  await service.client.post('/list/default', { name: 'films' });
});
afterAll(() => service.close());

describe('GET /account', () => {
  it("answers any valid key with the account, its region and the key's own scope and permissions", async () => {
    const client = await service.clientFor({
      name: 'website',
      scope: 'list',
      scope_target: 'films',
      expires_at: '2099-01-01',
    });
    expect(client.key).toMatch(/^gnt_us_/);
    const { status, body } = await client.get('/account');
    expect(status).toBe(200);
    expect(body).toEqual({
      account: 'default',
      region: 'us',
      key: {
        name: 'website',
        scope: 'list',
        scope_target: 'films',
        permissions: ['list:read', 'list-group:read', 'search-result:read'],
        expires_at: '2099-01-01T23:59:59.999Z',
      },
    });
  });

  it('answers the same 401 whether the key is missing, unknown, expired or revoked', async () => {
    const expired = await service.createKey({ expires_at: inHours(12) });
    const revoked = await service.createKey({});
    expect((await service.clientWith(revoked.key).get('/account')).status).toBe(200);
    expect((await service.control().delete(`/api-key/default/${revoked.id}`)).status).toBe(204);
    service.jumpADay();
    await eventually(
      async () => (await service.clientWith(expired.key).get('/account')).status,
      (status) => status === 401,
    );
    const keys = [undefined, 'gnt_us_x', 'x'.repeat(5000), expired.key, revoked.key, `${service.client.key ?? ''}x`];
    const answers = await Promise.all(keys.map((key) => service.clientWith(key).get('/account')));
    for (const { status, body, headers } of answers) {
      expect(status).toBe(401);
      expect(body).toEqual(answers[0]?.body);
      expect(headers['content-type']).toBe('application/problem+json');
    }
    expect(answers[0]?.body).toMatchObject({ code: 'invalid-key', type: '/problems/invalid-key', status: 401 });
  });

  it('refuses a key from the moment it expires', async () => {
    // The test before this one has moved the service's clock a day ahead.
    const client = await service.clientFor({ expires_at: inHours(36) });
    expect((await client.get('/account')).status).toBe(200);
    service.jumpADay();
    await eventually(
      async () => (await client.get('/account')).status,
      (status) => status === 401,
    );
  });
});

function inHours(hours: number): string {
  return new Date(Date.now() + hours * 3_600_000).toISOString();
}
