/**
 * Tests people from outside: signing in and out, roles, invitations, and attacks from other sites or by guessing
 * passwords.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { newAddress, Person } from '../support/person.js';
import { rawExchange } from '../support/raw-http.js';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
/** The tests act as the proxy that reports the addresses of clients. */
const SETTINGS = { GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1' };
const PASSWORD = 'correct horse battery';

let service: TestService;
let nextPerson = 0;
beforeAll(async () => {
  service = await startTestService({ env: SETTINGS });
});
afterAll(async () => {
  await service.close();
});

/**
 * Returns the answers to a request with an X-Forwarded-For header for each address, which the usual client of these
 * tests cannot send.
 */
async function posted(path: string, body: string, addresses: readonly string[]): Promise<readonly string[]> {
  const { hostname, port } = new URL(service.address);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: gannet',
    ...addresses.map((address) => `X-Forwarded-For: ${address}`),
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const pieces = [`${head.join('\r\n')}\r\n\r\n${body}`];
  const { answers } = await rawExchange({ host: hostname, port: Number(port) }, { pieces, answers: 1, closed: false });
  return answers;
}

interface SignedIn {
  readonly person: { readonly id: string; readonly email: string | null };
  readonly csrf_token: string;
}

type Role = 'owner' | 'editor' | 'viewer';

async function linkFor(body: { email?: string; role?: Role }): Promise<string> {
  const answer = await service.control().post('/contributor/default/link', body);
  expect(answer.status, answer.text).toBe(201);
  return tokenOf((answer.body as { link: string }).link);
}

function tokenOf(link: string): string {
  const token = /\/console\/#link=([A-Za-z0-9_-]{43})$/.exec(link)?.[1];
  if (token === undefined) throw new Error(`This is no link to the console: ${link}`);
  return token;
}

/** Creates a contributor with a password, signed in. */
async function personWith(role: Role) {
  nextPerson += 1;
  const email = `person-${nextPerson}@example.com`;
  const person = new Person(service);
  const answer = await person.signIn({ link: await linkFor({ email, role }), password: PASSWORD });
  expect(answer.status, answer.text).toBe(201);
  return { person, email, id: (answer.body as SignedIn).person.id };
}

const codeOf = ({ status, body }: Answer) => [status, (body as { code: string }).code];

describe('signing in', () => {
  it('accepts the email in any case with its password, and the session has the permissions of the role', async () => {
    const { email, id } = await personWith('owner');
    const person = new Person(service);
    const answer = await person.signIn({ email: email.toUpperCase(), password: PASSWORD });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        person: { email, has_password: true },
        accounts: [{ name: 'default', role: 'owner', permissions: ['*'] }],
      },
    });
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^gannet_session=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const { expires_utc: _, ...who } = answer.body as { expires_utc: string };
    expect(await person.get('/session')).toMatchObject({ status: 200, body: who });
    expect(await person.get('/list/default')).toMatchObject({ status: 200 });
    expect(await person.get('/account')).toMatchObject({ status: 200, body: { account: 'default', key: null } });
    expect(await person.send('POST', '/list/default', { json: { name: 'by-hand' } })).toMatchObject({ status: 201 });
    expect(await person.send('DELETE', '/list/default/by-hand')).toMatchObject({ status: 204 });
    // Who deleted something must be found later in the log.
    const line = new RegExp(
      `"person":"${id}","account":"default","method":"DELETE","operation":"list.delete","list":"by-hand"`,
    );
    await expect.poll(() => service.output).toMatch(line);
    // An operation for the console that API keys cannot call.
    expect(await person.get('/api-key/default')).toMatchObject({ status: 200 });
  });

  it('gives the same refusal for a wrong password, an unknown email, and a person without a password', async () => {
    const { email } = await personWith('viewer');
    const invited = 'invited@example.com';
    await linkFor({ email: invited, role: 'viewer' });
    const answers = await Promise.all(
      [
        { email, password: 'not this one' },
        { email: 'nobody@example.com', password: PASSWORD },
        { email: invited, password: PASSWORD },
        { email: invited, password: '' },
      ].map((credentials) => new Person(service).signIn(credentials)),
    );
    const said = answers.map(({ body }) => body);
    expect(answers.map(codeOf)).toEqual(answers.map(() => [401, 'sign-in-failed']));
    expect(new Set(said.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  it('is refused after five wrong passwords for an address or email, even with the right password', async () => {
    const { email } = await personWith('viewer');
    const address = newAddress();
    for (let i = 0; i < 5; i += 1) {
      const wrong = { email: `guess-${i}@example.com`, password: 'wrong' };
      expect(codeOf(await new Person(service, address).signIn(wrong))).toEqual([401, 'sign-in-failed']);
    }
    const sixth = await new Person(service, address).signIn({ email, password: PASSWORD });
    expect(codeOf(sixth)).toEqual([429, 'rate-limited']);
    expect(Number(sixth.headers['retry-after'])).toBeGreaterThan(0);
    // Other people can still sign in.
    expect(await new Person(service).signIn({ email, password: PASSWORD })).toMatchObject({ status: 201 });

    for (let i = 0; i < 5; i += 1) await new Person(service).signIn({ email, password: 'wrong' });
    expect(codeOf(await new Person(service).signIn({ email, password: PASSWORD }))).toEqual([429, 'rate-limited']);
  });

  it('counts attempts by the last address that a proxy has added, over several headers', async () => {
    // As HAProxy writes them: its own header after that of the client.
    const statuses: string[] = [];
    const proxied = newAddress();
    for (let i = 0; i < 6; i += 1) {
      const body = JSON.stringify({ email: `made-up-${i}@example.com`, password: 'wrong' });
      statuses.push(...(await posted('/session', body, [newAddress(), proxied])));
    }
    expect(statuses).toEqual([...Array.from({ length: 5 }, () => '401 problem'), '429 problem']);
  });

  it('counts attempts from IPv6 by network, as one machine has more addresses than can be counted', async () => {
    const answers: Answer[] = [];
    for (let i = 0; i < 6; i += 1) {
      const person = new Person(service, `2001:db8:7:7:${i}::${i}`);
      answers.push(await person.signIn({ email: `one-of-many-${i}@example.com`, password: 'wrong' }));
    }
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
    const { email } = await personWith('viewer');
    const neighbour = new Person(service, '2001:db8:7:8::1');
    expect(await neighbour.signIn({ email, password: PASSWORD })).toMatchObject({ status: 201 });
  });

  it('keeps to the limit if many attempts arrive at once', async () => {
    const { email } = await personWith('viewer');
    const address = newAddress();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => new Person(service, address).signIn({ email, password: 'wrong' })),
    );
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(95);
  });

  it('never keeps a session cookie that was in the browser before', async () => {
    const { email } = await personWith('viewer');
    const person = new Person(service);
    person.cookie = `gannet_session=${'A'.repeat(43)}`;
    await person.signIn({ email, password: PASSWORD });
    expect(person.cookie).not.toContain('AAAA');
    expect(await person.get('/session')).toMatchObject({ status: 200 });
  });

  it('is refused for a page of another site', async () => {
    const { email } = await personWith('viewer');
    const options = { json: { email, password: PASSWORD }, headers: { 'Sec-Fetch-Site': 'cross-site' } };
    expect(codeOf(await new Person(service).send('POST', '/session', options))).toEqual([403, 'csrf-token']);
  });

  it('says what is missing or too short', async () => {
    for (const json of [{}, { email: 'ann@example.com' }, { password: PASSWORD }, { link: 'short' }]) {
      expect(await new Person(service).signIn(json)).toMatchObject({
        status: 400,
        body: { code: 'invalid-parameter' },
      });
    }
    const link = await linkFor({ email: 'short@example.com', role: 'viewer' });
    const short = await new Person(service).signIn({ link, password: 'short' });
    expect(short).toMatchObject({ status: 400, body: { errors: [{ pointer: '/password' }] } });
    const none = await new Person(service).signIn({ link });
    expect(none).toMatchObject({ status: 400, body: { errors: [{ pointer: '/password' }] } });
  });
});

describe('sign-in links', () => {
  it('work only once', async () => {
    const link = await linkFor({ email: 'once@example.com', role: 'viewer' });
    const both = await Promise.all([1, 2].map(() => new Person(service).signIn({ link, password: PASSWORD })));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect(codeOf(await new Person(service).signIn({ link, password: PASSWORD }))).toEqual([401, 'sign-in-failed']);
  });

  it('from the command line sign in the first owner, who sets email and password later', async () => {
    const env = { ...process.env, GANNET_DATA_DIR: service.dataDir };
    const gannet = async () =>
      JSON.parse((await run(process.execPath, ['bin/gannet.js', 'console', 'link', '--json'], { env })).stdout) as {
        link: string;
      };
    const [first, second] = [await gannet(), await gannet()];
    const person = new Person(service);
    const answer = await person.signIn({ link: tokenOf(first.link) });
    expect(answer.status, answer.text).toBe(201);
    const other = new Person(service);
    expect(await other.signIn({ link: tokenOf(second.link) })).toMatchObject({ status: 201 });
    const { id } = (answer.body as SignedIn).person;
    expect(((await other.get('/session')).body as SignedIn).person.id).toBe(id);
  });

  it('are printed only by the first start, with the address of the service, and sign in the first owner', async () => {
    const other = await startTestService();
    const printed = () => [...other.output.matchAll(/(http:\S+)\/console\/(#link=\S+)/g)];
    await expect.poll(() => printed().length).toBe(1);
    expect(printed()[0]?.[1]).toBe(other.address);
    const person = new Person(other);
    const answer = await person.signIn({ link: (printed()[0]?.[2] ?? '').slice('#link='.length) });
    expect([answer.status, (answer.body as { accounts: object[] }).accounts]).toMatchObject([201, [{ role: 'owner' }]]);
    await other.stop();
    await other.start();
    // Stopped, the second start has printed everything that it will.
    await other.stop();
    expect(printed()).toHaveLength(1);
    await other.close();
  });

  it('from the command line come with a warning if the service is not running', async () => {
    const other = await startTestService();
    const env = { ...process.env, GANNET_DATA_DIR: other.dataDir };
    const notes = async () =>
      (await run(process.execPath, ['bin/gannet.js', 'console', 'link', '--json'], { env })).stderr;
    expect(await notes()).toBe('');
    await other.stop();
    expect(await notes()).toContain('The service is not running');
    await other.close();
  });

  it('let a person who lost the password set a new one, which ends all other sessions', async () => {
    const { person, email } = await personWith('viewer');
    const link = await linkFor({ email });
    const again = new Person(service);
    expect(await again.signIn({ link, password: 'another password' })).toMatchObject({ status: 201 });
    expect(codeOf(await person.get('/session'))).toEqual([401, 'not-signed-in']);
    expect((await new Person(service).signIn({ email, password: PASSWORD })).status).toBe(401);
    expect((await new Person(service).signIn({ email, password: 'another password' })).status).toBe(201);
  });
});

describe('a session', () => {
  it('changes nothing without its CSRF token, or for a page of another site', async () => {
    const { person } = await personWith('owner');
    const other = await personWith('owner');
    const send = (headers: Record<string, string>) =>
      person.send('POST', '/list/default', { json: { name: 'forged' }, headers });
    const refused = [
      { 'X-CSRF-Token': '' },
      { 'X-CSRF-Token': 'wrong' },
      { 'X-CSRF-Token': other.person.csrfToken },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const headers of refused) expect(codeOf(await send(headers))).toEqual([403, 'csrf-token']);
    expect((await service.client.get('/list/default/forged')).status).toBe(404);
  });

  it('survives a kill of the service, and is listed and ended only by its person', async () => {
    const { person, email } = await personWith('editor');
    const second = new Person(service);
    await second.signIn({ email, password: PASSWORD });
    await service.stop('SIGKILL');
    await service.start({ withoutKey: true });
    const { sessions } = (await person.get('/session/all')).body as {
      sessions: { id: string; is_current: boolean; address: string }[];
    };
    expect(sessions).toHaveLength(2);
    expect(sessions.map(({ address }) => address).sort()).toEqual([person.address, second.address].sort());
    const other = sessions.find(({ is_current }) => !is_current);
    const stranger = await personWith('owner');
    expect(codeOf(await stranger.person.send('DELETE', `/session/${other?.id}`))).toEqual([404, 'session-not-found']);
    expect((await person.send('DELETE', `/session/${other?.id}`)).status).toBe(204);
    expect(codeOf(await second.get('/session'))).toEqual([401, 'not-signed-in']);
    const { cookie } = person;
    const out = await person.send('DELETE', '/session');
    expect(out.headers['set-cookie']?.[0]).toMatch(/^gannet_session=; .*Max-Age=0/);
    person.cookie = cookie;
    expect(codeOf(await person.get('/session'))).toEqual([401, 'not-signed-in']);
  });

  it('needs the old password to change it, which ends all other sessions', async () => {
    const { person, email } = await personWith('viewer');
    const second = new Person(service);
    await second.signIn({ email, password: PASSWORD });
    const put = (json: object) => person.send('PUT', '/session/password', { json });
    const wrong = { old_password: 'not it', new_password: 'a new password' };
    expect(codeOf(await put(wrong))).toEqual([401, 'sign-in-failed']);
    expect((await put({ old_password: PASSWORD, new_password: 'short' })).status).toBe(400);
    expect((await put({ old_password: PASSWORD, new_password: 'a new password' })).status).toBe(200);
    expect(codeOf(await second.get('/session'))).toEqual([401, 'not-signed-in']);
    expect((await person.get('/session')).status).toBe(200);
    // Setting an email that nobody has yet would get the invitations of its real owner.
    const taken = await put({ old_password: 'a new password', new_password: PASSWORD, email: 'not-mine@example.com' });
    expect([taken.status, taken.text]).toEqual([400, expect.stringContaining('have it invited') as string]);
    const same = { old_password: 'a new password', new_password: PASSWORD, email: email.toUpperCase() };
    expect((await put(same)).status).toBe(200);
  });

  it('ends 12 hours after its last use', async () => {
    const jumping = await startTestService({ env: SETTINGS, clock: 'jumping' });
    try {
      const made = await jumping.control().post('/contributor/default/link', {});
      const person = new Person(jumping);
      await person.signIn({ link: tokenOf((made.body as { link: string }).link) });
      expect((await person.get('/session')).status).toBe(200);
      jumping.jumpADay();
      let answer = await person.get('/session');
      // The signal arrives a moment later.
      while (answer.status === 200) answer = await person.get('/session');
      expect(codeOf(answer)).toEqual([401, 'not-signed-in']);
    } finally {
      await jumping.close();
    }
  });

  it('is refused if its cookie is malformed', async () => {
    const { person } = await personWith('viewer');
    const token = person.cookie.slice('gannet_session='.length);
    for (const cookie of ['gannet_session', 'gannet_session=', `other=${token}`, `gannet_session="${token}"`]) {
      expect(codeOf(await person.send('GET', '/session', { headers: { Cookie: cookie } }))).toEqual([
        401,
        'invalid-key',
      ]);
    }
    const twice = `a=b; gannet_session=${token}; gannet_session=x`;
    expect((await person.send('GET', '/session', { headers: { Cookie: twice } })).status).toBe(200);
  });
});

describe('contributors', () => {
  it('are invited by a link shown once, change roles and are removed, with effect at once', async () => {
    const { person: owner } = await personWith('owner');
    const invited = await owner.send('POST', '/contributor/default', {
      json: { email: 'New@Example.com', role: 'viewer' },
    });
    expect(invited).toMatchObject({
      status: 201,
      body: { email: 'new@example.com', role: 'viewer', state: 'invited' },
    });
    const { id, link } = invited.body as { id: string; link: string };
    const again = await owner.send('POST', '/contributor/default', {
      json: { email: 'new@example.com', role: 'owner' },
    });
    expect(codeOf(again)).toEqual([409, 'name-exists']);
    const person = new Person(service);
    await person.signIn({ link: tokenOf(link), password: PASSWORD });
    expect((await person.send('POST', '/list/default', { json: { name: 'x' } })).status).toBe(403);
    expect(await owner.send('PUT', `/contributor/default/${id}`, { json: { role: 'editor' } })).toMatchObject({
      status: 200,
      body: { role: 'editor', state: 'active' },
    });
    expect((await person.send('POST', '/list/default', { json: { name: 'by-new' } })).status).toBe(201);
    const { contributors } = (await owner.get('/contributor/default')).body as { contributors: { id: string }[] };
    expect(contributors.map((each) => each.id)).toContain(id);
    expect(JSON.stringify(contributors)).not.toMatch(/argon2|hash|link/);
    expect((await owner.send('DELETE', `/contributor/default/${id}`)).status).toBe(204);
    expect(codeOf(await person.get('/session'))).toEqual([401, 'not-signed-in']);
    expect((await new Person(service).signIn({ email: 'new@example.com', password: PASSWORD })).status).toBe(401);
  });

  it('always include an owner', async () => {
    const alone = await startTestService({ env: SETTINGS });
    try {
      const made = await alone.control().post('/contributor/default/link', { email: 'ann@example.com' });
      const owner = new Person(alone);
      const answer = await owner.signIn({ link: tokenOf((made.body as { link: string }).link), password: PASSWORD });
      const { id } = (answer.body as SignedIn).person;
      const path = `/contributor/default/${id}`;
      expect(codeOf(await owner.send('DELETE', path))).toEqual([409, 'conflict']);
      expect(codeOf(await owner.send('PUT', path, { json: { role: 'viewer' } }))).toEqual([409, 'conflict']);
    } finally {
      await alone.close();
    }
  });

  it('have events for webhooks', async () => {
    const { body } = await service.clientWith(undefined).get('/openapi.json');
    expect(JSON.stringify(body)).toContain('contributor.added');
    const events = (await (await personWith('viewer')).person.get('/webhook/events')).body as {
      events: { type: string; fires: boolean }[];
    };
    const fired = events.events.filter(({ type }) => type.startsWith('contributor.'));
    expect(fired.map(({ fires }) => fires)).toEqual([true, true]);
  });
});

describe('roles', () => {
  it('reach no other account', async () => {
    const { person } = await personWith('owner');
    expect(codeOf(await person.get('/list/other'))).toEqual([403, 'out-of-scope']);
    expect(codeOf(await person.send('GET', '/account', { headers: { 'X-Account': 'other' } }))).toEqual([
      403,
      'out-of-scope',
    ]);
  });
});

it('No password or session token is in a file, the log or an answer', async () => {
  const { person, email } = await personWith('owner');
  await new Person(service).signIn({ email, password: 'a wrong password' });
  const token = person.cookie.slice('gannet_session='.length);
  const secrets = [PASSWORD, 'a wrong password', token, person.csrfToken];
  for (const secret of secrets) expect(service.output).not.toContain(secret);
  await service.stop();
  const files = readdirSync(service.dataDir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    for (const secret of secrets) expect(bytes.includes(secret), name).toBe(false);
  }
  await service.start({ withoutKey: true });
});

it('Behind TLS that no setting tells of, the session cookie is for encrypted connections all the same', async () => {
  const { email } = await personWith('owner');
  const person = new Person(service);
  const headers = { Origin: 'https://search.example.com' };
  const answer = await person.send('POST', '/session', { json: { email, password: PASSWORD }, headers });
  expect(answer.headers['set-cookie']?.[0]).toMatch(
    /^__Host-gannet_session=.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect((await person.get('/session')).status).toBe(200);
  person.csrfToken = (answer.body as { csrf_token: string }).csrf_token;
  // A cookie from before is still there, and a page without TLS could have written one.
  const token = person.cookie;
  person.cookie = `gannet_session=${'x'.repeat(43)}; ${token}`;
  const ended = await person.send('DELETE', '/session', { headers });
  expect([ended.status, ended.headers['set-cookie']?.[0]]).toEqual([
    204,
    '__Host-gannet_session=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
  ]);
  person.cookie = token;
  expect((await person.get('/session')).status).toBe(401);
});

it('Behind TLS, the session cookie is only sent over encrypted connections', async () => {
  const behind = await startTestService({
    env: { ...SETTINGS, GANNET_CONSOLE_PUBLIC_URL: 'https://search.example.com' },
  });
  try {
    const { link } = (await behind.control().post('/contributor/default/link', {})).body as { link: string };
    expect(link).toMatch(/^https:\/\/search\.example\.com\/console\/#link=/);
    const answer = await new Person(behind).signIn({ link: tokenOf(link) });
    expect(answer.headers['set-cookie']?.[0]).toMatch(
      /^__Host-gannet_session=.*; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
  } finally {
    await behind.close();
  }
});
