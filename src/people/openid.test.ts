/**
 * What an OpenID provider describes about itself: it is cached while valid, and requested again if it does not work.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OpenIdProvider } from '../../test/support/openid-provider.js';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import { OpenId } from './openid.js';

const MS = 100_000;
const UNAVAILABLE = { code: 'provider-unavailable' };

let provider: OpenIdProvider;
let client: OutboundClient;
let openId: OpenId;
let nowMs = Date.now();
beforeEach(async () => {
  provider = await OpenIdProvider.start();
  client = new OutboundClient({
    rules: { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'tests',
    limits: { headersMs: MS, idleMs: MS, totalMs: MS, wireBytesMax: 1e6, bytesMax: 1e6 },
    connectMs: MS,
    keepAliveMs: 1000,
    connectionsPerHostMax: 8,
    connectionsMax: 8,
    waitingMax: 8,
  });
  openId = new OpenId({
    settings: {
      issuer: provider.issuer,
      client_id: 'gannet',
      client_secret: 'very secret',
      sign_up: false,
      name: 'Example',
      redirectUri: 'http://127.0.0.1:8400/console/openid',
    },
    outbound: () => client,
    clock: { nowMs: () => nowMs, nowIso: () => new Date(nowMs).toISOString() },
  });
});
afterEach(async () => {
  await client.close();
  await provider.close();
});

async function signIn() {
  const { url, flow } = await openId.begin();
  return openId.finish({ flow, ...provider.authorize(url) });
}

it.each([
  ['no place where people go', { authorization_endpoint: undefined }],
  ['a place that is a program', { authorization_endpoint: 'javascript:alert(1)' }],
  ['no place where codes are redeemed', { token_endpoint: 5 }],
  ['no keys', { jwks_uri: null }],
])('Sign-ins fail while the provider names %s, and work when it does', async (_, described) => {
  provider.described = described;
  await expect(openId.begin()).rejects.toMatchObject(UNAVAILABLE);
  expect(openId.trouble?.why).toMatch(/^The provider describes itself without a usable /);
  provider.described = {};
  expect(await signIn()).toMatchObject({ email: 'ann@example.com' });
  expect(openId.trouble).toBeUndefined();
});

it("The provider's description is requested again after a failed sign-in, and after an hour", async () => {
  provider.described = { token_endpoint: `${provider.issuer}/gone` };
  await expect(signIn()).rejects.toMatchObject({ code: 'sign-in-failed' });
  provider.described = {};
  expect(await signIn()).toMatchObject({ email: 'ann@example.com' });
  provider.described = { authorization_endpoint: `${provider.issuer}/moved` };
  expect(new URL((await openId.begin()).url).pathname).toBe('/authorize');
  nowMs += 3_600_000;
  expect(new URL((await openId.begin()).url).pathname).toBe('/moved');
});

it('The reason why sign-ins fail is reported until one succeeds, even if only codes cannot be redeemed', async () => {
  provider.described = { token_endpoint: 'http://10.0.0.1/token' };
  await expect(signIn()).rejects.toMatchObject(UNAVAILABLE);
  const { trouble } = openId;
  expect(trouble?.why).toMatch(/^The URL has to begin with https/);
  await openId.begin();
  expect(openId.trouble).toEqual(trouble);
  provider.described = {};
  nowMs += 3_600_001;
  expect(await signIn()).toMatchObject({ email: 'ann@example.com' });
  expect(openId.trouble).toBeUndefined();
});

const answered = (status: number, body: unknown) => (of: OpenIdProvider) => (of.redeemed = { status, body });
const claiming = (claims: Readonly<Record<string, unknown>>) => (of: OpenIdProvider) =>
  (of.claims = { ...of.claims, ...claims });
const WRONG_SECRET = { error: 'invalid_client', error_description: "'very secret' is none" };
const NO_PLACE = { error: 'invalid_request', error_description: 'redirect_uri mismatch' };

it.each([
  ['a wrong secret', answered(401, WRONG_SECRET), /^The provider refuses openid\.client_id or .*'\[secret\]' is none/],
  [
    'a redirect URI that is not registered',
    answered(400, NO_PLACE),
    /^The provider does not know the redirect URI http:/,
  ],
  ['a token that is over', claiming({ exp: 1 }), /^What the provider signed is not valid by the clock/],
  [
    'another issuer',
    claiming({ iss: 'https://x.example' }),
    /^The provider signs as https:\/\/x\.example, and openid\.issuer/,
  ],
  [
    'another client',
    claiming({ aud: 'else' }),
    /^The provider signs for the client else, and openid\.client_id is gannet/,
  ],
  ["somebody else's key", (of: OpenIdProvider) => (of.signedBy = 'other'), /^What the provider signed is not signed/],
  ['a server that fails', answered(500, {}), /^The provider answered 500 where codes are redeemed/],
])('The reason for a refused sign-in is reported to the operator: %s', async (_, spoil, why) => {
  spoil(provider);
  await expect(signIn()).rejects.toMatchObject({ code: 'sign-in-failed' });
  expect(openId.trouble?.why).toMatch(why);
  provider.redeemed = undefined;
  provider.signedBy = 'own';
  provider.claims = { email: 'ann@example.com', email_verified: true };
  await signIn();
  expect(openId.trouble).toBeUndefined();
});

it('A provider with another issuer than the setting is reported', async () => {
  provider.described = { issuer: 'https://x.example/' };
  await expect(openId.begin()).rejects.toMatchObject(UNAVAILABLE);
  expect(openId.trouble?.why).toMatch(/^The provider calls itself https:\/\/x\.example\/, and openid\.issuer is /);
});

it('A made-up code is not reported as trouble of the provider', async () => {
  const { flow, url } = await openId.begin();
  const { state } = provider.authorize(url);
  await expect(openId.finish({ flow, code: 'none', state })).rejects.toMatchObject({ code: 'sign-in-failed' });
  const other = await openId.begin();
  const back = { flow: other.flow, ...provider.authorize(other.url), state: 'none' };
  await expect(openId.finish(back)).rejects.toMatchObject({ code: 'sign-in-failed' });
  expect(openId.trouble).toBeUndefined();
});
