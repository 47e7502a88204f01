/**
 * Tests signing in with an OpenID provider: one that works as it should, and everything that it or somebody else may
 * send instead.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { OpenIdProvider, type Claims } from '../support/openid-provider.js';
import { Person } from '../support/person.js';
import { startTestService, type TestService } from '../support/service.js';

const ANN: Claims = { email: 'Ann@Example.com', email_verified: true };

let provider: OpenIdProvider;
let service: TestService;
beforeAll(async () => {
  provider = await OpenIdProvider.start();
  service = await startTestService({
    env: {
      GANNET_OPENID_ISSUER: provider.issuer,
      GANNET_OPENID_CLIENT_ID: 'gannet',
      GANNET_OPENID_CLIENT_SECRET: 'between us',
      GANNET_OPENID_NAME: 'Example',
      GANNET_CONSOLE_PUBLIC_URL: 'http://127.0.0.1:8400',
      GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  await service.control().post('/contributor/default/link', { email: 'ann@example.com', role: 'editor' });
});
afterAll(async () => {
  await service.close();
  await provider.close();
});
beforeEach(() => {
  provider.claims = ANN;
  provider.signedBy = 'own';
});

interface Begun {
  readonly url: string;
  readonly flow: string;
}

async function begin(person: Person): Promise<Begun> {
  const answer = await person.send('POST', '/session/openid');
  expect(answer.status, answer.text).toBe(201);
  return answer.body as Begun;
}

async function signIn(person = new Person(service)): Promise<Answer> {
  const { url, flow } = await begin(person);
  return person.signIn({ flow, ...provider.authorize(url) });
}

const codeOf = ({ status, body }: Answer) => [status, (body as { code?: string }).code];
const REFUSED = [401, 'sign-in-failed'];

describe('an invited person', () => {
  it('signs in with their account of the provider and gets their role', async () => {
    const person = new Person(service);
    const { url, flow } = await begin(person);
    const asked = new URL(url).searchParams;
    expect(asked.get('redirect_uri')).toBe('http://127.0.0.1:8400/console/openid');
    expect([asked.get('scope'), asked.get('code_challenge_method'), asked.get('response_type')]).toEqual([
      'openid email',
      'S256',
      'code',
    ]);
    const answer = await person.signIn({ flow, ...provider.authorize(url) });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toMatchObject({
      person: { email: 'ann@example.com' },
      accounts: [{ name: 'default', role: 'editor' }],
    });
    expect((await person.get('/list/default')).status).toBe(200);
    expect((await person.get('/session/ways')).body).toEqual({ openid: { name: 'Example', sign_up: false } });
  });

  it('signs in again only with that account of the provider', async () => {
    expect((await signIn()).status).toBe(201);
    provider.claims = { ...ANN, sub: 'subject-2' };
    expect(codeOf(await signIn())).toEqual(REFUSED);
  });
});

describe('a refused sign-in', () => {
  const now = Math.floor(Date.now() / 1000);
  it.each<[what: string, claims: Claims]>([
    ['who was not invited', { email: 'eve@example.com' }],
    ['with an email that is not verified', { email_verified: false }],
    ['with an email that is verified in words', { email_verified: 'true' }],
    ['with an email of which nothing is said', { email_verified: null }],
    ['without an email', { email: null }],
    ['by another issuer', { iss: 'https://evil.example' }],
    ['with a token for somebody else', { aud: 'another-client' }],
    ['with a token that is over', { exp: now - 3600, iat: now - 7200 }],
    ['with the nonce of another sign-in', { nonce: 'another' }],
    ['without a nonce', { nonce: null }],
  ])('%s', async (_what, claims) => {
    provider.claims = { ...ANN, ...claims };
    const person = new Person(service);
    expect(codeOf(await signIn(person))).toEqual(REFUSED);
    expect(person.cookie).toBe('');
  });

  it('with a token that the provider did not sign', async () => {
    provider.signedBy = 'other';
    expect(codeOf(await signIn())).toEqual(REFUSED);
  });

  it('with another state, a second time, or begun in another browser', async () => {
    const person = new Person(service);
    const first = await begin(person);
    const back = provider.authorize(first.url);
    expect(codeOf(await person.signIn({ flow: first.flow, ...back, state: 'another' }))).toEqual(REFUSED);
    expect(codeOf(await person.signIn({ flow: first.flow, ...back }))).toEqual(REFUSED);
    // An attacker sends their own finished sign-in to another person, who would then work in the attacker's account.
    const [own, others] = [await begin(new Person(service)), await begin(person)];
    expect(codeOf(await person.signIn({ flow: others.flow, ...provider.authorize(own.url) }))).toEqual(REFUSED);
    const again = await begin(person);
    const done = provider.authorize(again.url);
    expect((await person.signIn({ flow: again.flow, ...done })).status).toBe(201);
    expect(codeOf(await person.signIn({ flow: again.flow, ...done }))).toEqual(REFUSED);
  });

  it('from a page of another site, and after too many attempts', async () => {
    const person = new Person(service);
    const headers = { 'Sec-Fetch-Site': 'cross-site' };
    expect(codeOf(await person.send('POST', '/session/openid', { headers }))).toEqual([403, 'csrf-token']);
    const { url, flow } = await begin(person);
    const json = { flow, ...provider.authorize(url) };
    expect(codeOf(await person.send('POST', '/session', { json, headers }))).toEqual([403, 'csrf-token']);
    for (let i = 0; i < 5; i += 1) {
      expect(codeOf(await person.signIn({ flow: 'x'.repeat(43), code: 'a', state: 'b' }))).toEqual(REFUSED);
    }
    expect(codeOf(await person.signIn(json))).toEqual([429, 'rate-limited']);
  });
});

describe('with sign-up allowed', () => {
  let open: TestService;
  beforeAll(async () => {
    open = await startTestService({
      env: {
        GANNET_OPENID_ISSUER: provider.issuer,
        GANNET_OPENID_CLIENT_ID: 'gannet',
        GANNET_OPENID_CLIENT_SECRET: 'between us',
        GANNET_OPENID_SIGN_UP: 'true',
        GANNET_PLANS_OFFERED: 'trial lists=2',
        GANNET_PLANS_SIGN_UP: 'trial',
        GANNET_OPENID_NAME: 'Example',
        GANNET_CONSOLE_PUBLIC_URL: 'http://127.0.0.1:8400',
        GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
        GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1',
      },
    });
  });
  afterAll(async () => {
    await open.close();
  });

  interface SignedIn {
    readonly person: { readonly id: string };
    readonly accounts: readonly { readonly name: string; readonly role: string; readonly permissions: string[] }[];
  }
  const comes = async (claims: Claims): Promise<{ person: Person; answer: Answer; body: SignedIn }> => {
    provider.claims = { ...ANN, ...claims };
    const person = new Person(open);
    const answer = await signIn(person);
    return { person, answer, body: answer.body as SignedIn };
  };

  it('whoever the provider knows gets an account of their own, and the same one at the next sign-in', async () => {
    const first = await comes({ email: 'Zoë.Lee+shop@example.com', sub: 'zoe' });
    expect(first.answer.status, first.answer.text).toBe(201);
    expect(first.body.accounts).toMatchObject([{ name: 'zoe-lee-shop', role: 'owner' }]);
    const again = await comes({ email: 'zoë.lee+shop@example.com', sub: 'zoe' });
    expect([again.body.person.id, again.body.accounts]).toEqual([first.body.person.id, first.body.accounts]);
    const other = await comes({ email: 'zoe.lee.shop@other.example', sub: 'other' });
    expect(other.body.accounts).toMatchObject([{ name: 'zoe-lee-shop-2', role: 'owner' }]);
    const { person } = first;
    const made = await person.send('POST', '/list/zoe-lee-shop', { json: { name: 'goods' } });
    expect(made.status, made.text).toBe(201);
    expect((await person.get('/list/zoe-lee-shop-2')).status).toBe(403);
    expect((await person.get('/list/default')).status).toBe(403);
    expect((await person.get('/session/ways')).body).toEqual({ openid: { name: 'Example', sign_up: true } });
    expect((await person.get('/plan/zoe-lee-shop')).body).toMatchObject({ plan: 'trial' });
    expect((await person.get('/plan')).body).toMatchObject({ sign_up: 'trial' });
    expect((await open.control().get('/plan/default')).body).toMatchObject({ plan: 'default' });
  });

  it('a new owner sees no settings of the service, and cannot take over another email', async () => {
    const { person, body } = await comes({ email: 'kim@example.com', sub: 'kim' });
    expect(body.accounts[0]?.permissions).not.toContain('*');
    expect(body.accounts[0]?.permissions).not.toContain('service:settings');
    expect(body.accounts[0]?.permissions).toContain('list:delete');
    expect(codeOf(await person.get('/service/settings/kim'))).toEqual([403, 'missing-permission']);
    const taken = { new_password: 'correct horse battery', email: 'boss@example.com' };
    expect(codeOf(await person.send('PUT', '/session/password', { json: taken }))).toEqual([400, 'invalid-parameter']);
    expect((await person.send('PUT', '/session/password', { json: { new_password: taken.new_password } })).status).toBe(
      200,
    );
  });

  it('two simultaneous sign-ins of one person create one account', async () => {
    provider.claims = { ...ANN, email: 'twin@example.com', sub: 'twin' };
    const answers = await Promise.all([signIn(new Person(open)), signIn(new Person(open))]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const [one, other] = answers.map(({ body }) => (body as SignedIn).accounts.map(({ name }) => name));
    expect([one, other]).toEqual([['twin'], ['twin']]);
  });

  it('only five accounts a minute are created from one address', async () => {
    const statuses: number[] = [];
    const person = new Person(open);
    for (let number = 0; number < 6; number += 1) {
      provider.claims = { ...ANN, email: `many-${number}@example.com`, sub: `many-${number}` };
      statuses.push((await signIn(person)).status);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429]);
  });

  it('accounts survive a kill, and an unverified email gets no account', async () => {
    const made = await comes({ email: 'stays@example.com', sub: 'stays' });
    expect(made.answer.status).toBe(201);
    await open.stop('SIGKILL');
    await open.start();
    const again = await comes({ email: 'stays@example.com', sub: 'stays' });
    expect(again.body.accounts).toMatchObject([{ name: 'stays', role: 'owner' }]);
    expect(codeOf((await comes({ email: 'eve@example.com', email_verified: false, sub: 'eve' })).answer)).toEqual(
      REFUSED,
    );
    const { body } = await open.control().get('/account/all');
    expect((body as { accounts: { name: string }[] }).accounts.map(({ name }) => name)).not.toContain('eve');
  });
});

describe('an OpenID provider that cannot be reached', () => {
  it('is reported, and passwords still work', async () => {
    const gone = await OpenIdProvider.start();
    const { issuer } = gone;
    await gone.close();
    const alone = await startTestService({
      env: {
        GANNET_OPENID_ISSUER: issuer,
        GANNET_OPENID_CLIENT_ID: 'gannet',
        GANNET_CONSOLE_PUBLIC_URL: 'http://127.0.0.1:8400',
        GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
      },
    });
    try {
      const person = new Person(alone);
      expect(codeOf(await person.send('POST', '/session/openid'))).toEqual([503, 'provider-unavailable']);
      const { link } = (await alone.control().post('/contributor/default/link', {})).body as { link: string };
      expect((await person.signIn({ link: link.slice(link.indexOf('=') + 1) })).status).toBe(201);
      // The person who signs in is told nothing about the network, and the operator is told the cause.
      const { body } = await alone.control().get('/service/state/default');
      const detail = 'The server refuses connections there (ECONNREFUSED).';
      expect(body).toMatchObject({ troubles: [{ kind: 'sign-in', account: '', name: 'OpenID', detail }] });
    } finally {
      await alone.close();
    }
  });

  it('is not offered without settings for it, and wrong settings stop the start', async () => {
    const without = await startTestService();
    try {
      const person = new Person(without);
      expect((await person.get('/session/ways')).body).toEqual({ openid: null });
      expect(codeOf(await person.send('POST', '/session/openid'))).toEqual([404, 'no-provider']);
      expect(codeOf(await person.signIn({ flow: 'x'.repeat(43), code: 'a', state: 'b' }))).toEqual([
        404,
        'no-provider',
      ]);
    } finally {
      await without.close();
    }
    const start = startTestService({
      env: { GANNET_OPENID_ISSUER: 'http://login.example.com', GANNET_OPENID_CLIENT_ID: 'a' },
    });
    await expect(start).rejects.toThrow(/does not begin with https/);
  });
});
