import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.client.post('/list/default', { name: 'films' });
});
afterAll(() => service.close());

describe('every answer', () => {
  it('carries the request id that was sent if it is valid, and otherwise a new one', async () => {
    const sent = await service.client.send('GET', '/account', { headers: { 'X-Request-Id': 'abc-1' } });
    expect(sent.headers['x-request-id']).toBe('abc-1');
    const made = await service.client.get('/account');
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    const hostile = await service.client.send('GET', '/account', { headers: { 'X-Request-Id': 'a b"' } });
    expect(hostile.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('to HEAD is that to GET without the body', async () => {
    for (const path of [
      '/account',
      '/list/default/films',
      '/search/default/films/1',
      '/health',
      '/list/default/missing',
    ]) {
      const [head, got] = [await service.client.send('HEAD', path), await service.client.get(path)];
      expect(head.status, path).toBe(got.status);
      expect(head.headers['content-type']).toBe(got.headers['content-type']);
      expect(head.text).toBe('');
    }
  });

  it('is kept by no shared cache, since it depends on the key, which those do not look at', async () => {
    const nobody = service.clientWith(undefined);
    const paths = ['/account', '/list/default/films', '/search/default/films/1', '/list/default/missing', '/nothing'];
    for (const [client, path] of [
      ...paths.map((each) => [service.client, each] as const),
      ...['/account', '/health', '/ready', '/metrics', '/openapi.json'].map((each) => [nobody, each] as const),
    ]) {
      for (const method of ['GET', 'HEAD']) {
        expect((await client.send(method, path)).headers['cache-control'], `${method} ${path}`).toBe('no-store');
      }
    }
    const refused = [
      await service.client.send('PATCH', '/account'),
      await service.client.send('OPTIONS', '/account'),
      await service.client.post('/list/default', { name: 'films' }),
    ];
    expect(refused.map(({ status, headers }) => [status, headers['cache-control']])).toEqual([
      [405, 'no-store'],
      [204, 'no-store'],
      [409, 'no-store'],
    ]);
  });

  it('with a file may be kept by a browser, which asks whether it changed', async () => {
    const path = '/media/default/default/a.txt';
    const put = await service.client.send('PUT', path, { bytes: 'text', headers: { 'Content-Type': 'text/plain' } });
    expect([put.status, put.headers['cache-control']]).toEqual([201, 'no-store']);
    const read = await service.client.get(path);
    const etag = read.headers['etag'] ?? '';
    const again = await service.client.send('GET', path, { headers: { 'If-None-Match': etag } });
    const stale = await service.client.send('GET', path, { headers: { 'If-Match': '"other"' } });
    expect([read, again, stale].map(({ status, headers }) => [status, headers['cache-control']])).toEqual([
      [200, 'private, no-cache'],
      [304, 'private, no-cache'],
      [412, 'no-store'],
    ]);
  });

  it('for an unknown path or method is 404 or 405, as a problem document', async () => {
    expect(await service.client.get('/nothing')).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(await service.client.get('/list/default/films/more/and/more')).toMatchObject({ status: 404 });
    const wrong = await service.client.send('PATCH', '/list/default/films');
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method-not-allowed' } });
    expect(wrong.headers['allow']).toContain('PUT');
  });
});

describe('the body of a request', () => {
  it('must be JSON in UTF-8 with a known content type and known members', async () => {
    const send = (bytes: string | Uint8Array, type = 'application/json') =>
      service.client.send('POST', '/list/default', { bytes, headers: { 'Content-Type': type } });
    expect(await send('{"name":')).toMatchObject({ status: 400, body: { code: 'malformed-json' } });
    expect(await send('')).toMatchObject({ status: 400 });
    expect(await send(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({
      status: 400,
      body: { code: 'malformed-json' },
    });
    expect(await send('{"name":"a"}', 'text/plain')).toMatchObject({ status: 415 });
    expect(await send('{"name":"a"}', 'application/json; charset=latin1')).toMatchObject({ status: 415 });
    expect(await send('null')).toMatchObject({ status: 400 });
    const named = await send('{"namme":"a","name":"b"}');
    expect(named).toMatchObject({ status: 400, body: { errors: [{ pointer: '/namme' }] } });
    expect(named.text).toContain("'name'");
    const twice = await send('{"name":"a","colour":1,"language":7}');
    expect((twice.body as { errors: unknown[] }).errors).toHaveLength(2);
  });
});

describe('a 400', () => {
  it('points at what is wrong, and at the whole body if that is wrong', async () => {
    const json = { 'Content-Type': 'application/json' };
    const send = (path: string, bytes: string | Uint8Array) =>
      service.client.send('POST', path, { bytes, headers: json });
    const whole = { status: 400, body: { errors: [{ pointer: '' }] } };
    expect(await send('/list/default', '{"name":')).toMatchObject(whole);
    expect(await send('/list/default', Buffer.from([0x22, 0xff, 0x22]))).toMatchObject(whole);
    expect(await send('/search-result/default/films/bulk', '[{"name":"a"}')).toMatchObject(whole);
    expect(await send('/list/default', '')).toMatchObject(whole);
    const at = (place: object) => ({ status: 400, body: { errors: [place] } });
    expect(await service.client.get('/list/default/No')).toMatchObject(at({ parameter: 'list' }));
    expect(await service.client.get('/list-group/default/No')).toMatchObject(at({ parameter: 'group' }));
    expect(await service.client.get('/media/default/No')).toMatchObject(at({ parameter: 'store' }));
    const reserved = await service.control().post('/account', { name: 'bulk' });
    expect(reserved).toMatchObject(at({ pointer: '/name' }));
  });
});

describe('names', () => {
  it('of lists and groups follow one rule', async () => {
    for (const name of ['A', '-a', '_a', 'a b', 'é', 'a'.repeat(65), '', 'a/b', '.']) {
      expect((await service.client.post('/list/default', { name })).status, name).toBe(400);
      expect((await service.client.post('/list-group/default', { name })).status, name).toBe(400);
    }
    for (const name of ['a', '0', 'a-b_c', 'a'.repeat(64), 'group', 'bulk', 'latest']) {
      expect((await service.client.post('/list/default', { name })).status, name).toBe(201);
      expect((await service.client.post('/list-group/default', { name })).status, name).toBe(201);
    }
  });
});

describe('names of fields', () => {
  it('have no half of a surrogate pair, which would be stored as another name', async () => {
    const name = 'a\ud800';
    const answer = await service.client.post('/list/default', {
      name: 'broken-names',
      searchable_fields: [{ name }],
      facets: [
        { name: 'whole 😀', type: 'string' },
        { name, type: 'string' },
      ],
      location_field: '\udc00b',
    });
    const places = ['/searchable_fields/0/name', '/facets/1/name', '/location_field'];
    expect(answer).toMatchObject({ status: 400, body: { errors: places.map((pointer) => ({ pointer })) } });
  });
});

describe('texts of query rules', () => {
  it('have no half of a surrogate pair, which would be stored as another text', async () => {
    const rule = { name: 'smile 😀', pattern: '(😀)', filter: "genre = '😀'" };
    const query_rules = [
      rule,
      { ...rule, name: 'a\ud800' },
      { ...rule, pattern: '(\ud83d)' },
      { ...rule, filter: "genre = '\ude00'" },
    ];
    const facets = [{ name: 'genre', type: 'string' }];
    const made = await service.client.post('/list/default', { name: 'ruled', facets, query_rules: [rule] });
    expect(made.status, made.text).toBe(201);
    const answer = await service.client.put('/list/default/ruled', { query_rules });
    const places = ['/query_rules/1/name', '/query_rules/2/pattern', '/query_rules/3/filter'];
    expect(answer).toMatchObject({ status: 400, body: { errors: places.map((pointer) => ({ pointer })) } });
  });
});

describe('another account', () => {
  it('is answered with the same refusal whether it exists or not', async () => {
    for (const path of ['/list/other', '/list/group', '/list/OTHER', '/search/other/films/1', '/list-group/other/x']) {
      expect(await service.client.get(path), path).toMatchObject({ status: 403, body: { code: 'out-of-scope' } });
    }
  });
});

describe('bytes that are not HTTP', () => {
  it('close their connection, and the service keeps running', async () => {
    const { hostname, port } = new URL(service.address);
    const pieces = [
      '\u0000\u0001\u0002\r\n\r\n',
      'GET\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    ];
    for (const piece of pieces) {
      await new Promise<void>((resolve) => {
        const socket = createConnection(Number(port), hostname, () => socket.write(piece));
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.setTimeout(1000, () => socket.destroy());
        socket.resume();
      });
    }
    expect((await service.client.get('/health')).status).toBe(200);
  });
});

describe('the log', () => {
  it('says who deleted which list, and never names a record', async () => {
    const { key, id } = await service.createKey({ name: 'cleaner', access: 'full' });
    const client = service.clientWith(key);
    await client.post('/list/default', { name: 'doomed' });
    await client.post('/search-result/default/doomed', { name: 'private-record', fields: { title: 'A' } });
    await client.get('/related/default/doomed/1/private-record');
    await client.delete('/list/default/doomed');
    await expect.poll(() => service.output).toMatch(/"operation":"list.delete"/);
    const lines = service.output.split('\n').filter((line) => line.startsWith('{'));
    const line = lines.find((each) => each.includes('"operation":"list.delete"')) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      key: 'cleaner',
      keyId: id,
      account: 'default',
      list: 'doomed',
      status: 204,
    });
    expect(service.output).not.toContain('private-record');
  });

  it('has a line for each request, and no key in it', async () => {
    const { key } = await service.createKey({ name: 'logged key' });
    await service.clientWith(key).get('/account');
    await service.clientWith('gnt_eu_wrong_secret').get('/account');
    // The lines are written after the answers.
    await expect.poll(() => service.output).toMatch(/"key":"logged key".*"operation":"account.read"/);
    await expect.poll(() => service.output).toMatch(/"operation":"account.read","status":401/);
    for (const secret of [key, key.slice(8), 'wrong_secret', service.client.key ?? '?']) {
      expect(service.output.includes(secret), 'a secret is in the log').toBe(false);
    }
  });
});
