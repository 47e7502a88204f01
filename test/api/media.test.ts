/** Tests media stores over HTTP: uploads and downloads, limits of size, permissions, and damaged files. */
import { randomBytes, createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const BYTES_MAX = 700 * 1000;
const outside = mkdtempSync(join(tmpdir(), 'gannet-media-outside-'));
const root = join(outside, 'root');
let service: TestService;
beforeAll(async () => {
  mkdirSync(join(root, 'files'), { recursive: true });
  service = await startTestService({
    env: { GANNET_MEDIA_DEFAULT_STORE_BYTES_MAX: String(BYTES_MAX), GANNET_MEDIA_FOLDERS: root },
  });
});
afterAll(async () => {
  manyConnections.destroy();
  await service.close();
  rmSync(outside, { recursive: true, force: true });
});

const put = (path: string, bytes: string | Uint8Array, headers: Record<string, string> = {}) =>
  service.client.send('PUT', `/media/default/${path}`, { bytes, headers });
const get = (path: string, headers: Record<string, string> = {}) =>
  service.client.send('GET', `/media/default/${path}`, { headers });
const store = async (name = 'default') =>
  (await service.client.get(`/media-store/default/${name}`)).body as { bytes_used: number; file_count: number };
const incoming = () => {
  const folder = join(service.dataDir, 'media', 'default', 'default', 'incoming');
  return existsSync(folder) ? readdirSync(folder) : [];
};
/** Uploads on a connection of its own. */
const manyConnections = new Agent({ maxSockets: Infinity });
function putAtOnce(path: string, bytes: Uint8Array): Promise<{ status: number; body: unknown }> {
  const { hostname, port } = new URL(service.address);
  return new Promise((resolve, reject) => {
    const headers = { 'x-api-key': service.client.key };
    const asked = request({
      hostname,
      port,
      agent: manyConnections,
      method: 'PUT',
      path: `/media/default/${path}`,
      headers,
    });
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as unknown }));
    });
    asked.on('error', reject).end(bytes);
  });
}
async function empty(): Promise<void> {
  for (;;) {
    const { files } = (await service.client.get('/media/default/default', { size: 1000 })).body as {
      files: { path: string }[];
    };
    if (files.length === 0) return;
    await Promise.all(
      files.map(({ path }) => service.client.delete(`/media/default/default/${encodeURIComponent(path)}`)),
    );
  }
}

describe('a file in a media store', () => {
  it('is downloaded as uploaded, with type and ETag, in ranges, and only if it has changed', async () => {
    const content = 'x'.repeat(1000);
    const made = await put('default/a/b%20c.txt', content, { 'content-type': 'text/plain; charset=utf-8' });
    expect(made).toMatchObject({
      status: 201,
      body: { path: 'a/b c.txt', bytes: 1000, content_type: 'text/plain; charset=utf-8' },
    });
    const etag = made.headers.etag ?? '';
    const read = await get('default/a/b c.txt'.replace(' ', '%20'));
    expect(read).toMatchObject({ status: 200, text: content });
    expect(read.headers).toMatchObject({
      etag,
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    });
    expect(await get('default/a%2Fb%20c.txt', { range: 'bytes=-10' })).toMatchObject({
      status: 206,
      text: 'x'.repeat(10),
    });
    const wrong = await get('default/a/b%20c.txt', { range: 'bytes=1000-' });
    expect(wrong).toMatchObject({ status: 416, body: { code: 'range-not-satisfiable' } });
    expect(wrong.headers['content-range']).toBe('bytes */1000');
    expect((await get('default/a/b%20c.txt', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('default/a/b%20c.txt', { 'if-match': '"other"' })).status).toBe(412);
    const head = await service.client.send('HEAD', '/media/default/default/a/b%20c.txt', {});
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers).toMatchObject({ etag, 'content-length': '1000' });
    expect(await put('default/a/b%20c.txt', 'y', { 'if-none-match': '*' })).toMatchObject({ status: 412 });
    expect(await put('default/a/b%20c.txt', 'y', { 'if-match': '"other"' })).toMatchObject({ status: 412 });
    expect(await put('default/a/b%20c.txt', 'y', { 'if-match': etag })).toMatchObject({
      status: 200,
      body: { bytes: 1 },
    });
    expect(await store()).toMatchObject({ bytes_used: 1, file_count: 1 });
    expect((await service.client.delete('/media/default/default/a/b%20c.txt')).status).toBe(204);
    expect(await get('default/a/b%20c.txt')).toMatchObject({ status: 404, body: { code: 'file-not-found' } });
    expect(await store()).toMatchObject({ bytes_used: 0, file_count: 0 });
  });

  it('is replaced alongside many others without a warning in the log', async () => {
    const paths = Array.from({ length: 30 }, (_, number) => `default/at-once-${number}`);
    for (const content of ['first', 'second']) {
      const answers = await Promise.all(paths.map((path) => putAtOnce(path, Buffer.from(content))));
      for (const { status } of answers) expect([200, 201]).toContain(status);
    }
    await empty();
    expect(service.output).not.toContain('MaxListenersExceededWarning');
  });

  it('is downloaded completely by a slow reader', async () => {
    const content = randomBytes(600_000);
    await put('default/long', content);
    const digest = createHash('sha256');
    await new Promise<void>((resolve, reject) => {
      const { hostname, port } = new URL(service.address);
      const asked = request({
        hostname,
        port,
        path: '/media/default/default/long',
        headers: { 'x-api-key': service.client.key },
      });
      asked.on('response', (response) => {
        response.on('data', (piece: Buffer) => {
          digest.update(piece);
          response.pause();
          setImmediate(() => response.resume());
        });
        response.on('end', resolve);
      });
      asked.on('error', reject).end();
    });
    expect(digest.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
    await empty();
  });

  it('that a browser could run is offered as a download and never run', async () => {
    for (const [path, type] of [
      ['page.html', 'text/html'],
      ['picture.svg', 'image/svg+xml'],
      ['script.js', 'text/javascript'],
      ['page.xhtml', 'application/xhtml+xml'],
      ['data.xml', 'application/xml'],
      ['module.wasm', 'application/wasm'],
      ['trick.png', 'text/html; charset=utf-8'],
      ['trick2.txt', 'TEXT/HTML'],
    ] as const) {
      await put(`default/${path}`, '<script>alert(1)</script>', { 'content-type': type });
      const { headers } = await get(`default/${path}`);
      expect(headers['content-disposition']).toMatch(/^attachment;/);
      expect(headers['content-security-policy']).toBe("default-src 'none'; sandbox");
      expect(headers['x-content-type-options']).toBe('nosniff');
    }
    await put('default/name%22%3B%0A.png'.replace('%0A', 'x'), 'png', { 'content-type': 'image/png' });
    expect((await get('default/name%22%3Bx.png')).headers['content-disposition']).toBe(
      `inline; filename="name_;x.png"; filename*=UTF-8''name%22%3Bx.png`,
    );
    await empty();
  });

  it('whose content is damaged or missing on disk is refused, and never returned as if complete', async () => {
    await put('default/short', 'x'.repeat(1000));
    await put('default/turned', 'x'.repeat(200_000));
    await put('default/changed', 'x'.repeat(2000));
    await put('default/gone', 'x');
    const blobs = join(service.dataDir, 'media', 'default', 'default', 'blobs');
    for (const name of readdirSync(blobs)) {
      const path = join(blobs, name);
      const { size } = statSync(path);
      if (size === 1000) truncateSync(path, 999);
      if (size === 200_000 || size === 2000) writeFileSync(path, 'y'.repeat(size));
      if (size === 1) rmSync(path);
    }
    expect(await get('default/short')).toMatchObject({ status: 503, body: { code: 'storage-damaged' } });
    expect(await get('default/gone')).toMatchObject({ status: 503, body: { code: 'storage-damaged' } });
    await expect(get('default/turned')).rejects.toThrow();
    // A file of this size is read completely before its first byte is sent; the connection used to close without an
    // answer.
    expect(await get('default/changed')).toMatchObject({ status: 503, body: { code: 'storage-damaged' } });
    const check = await service.control().post('/media-store/default/default/check', undefined);
    expect((check.body as { problems: string[] }).problems).toHaveLength(4);
    // A new upload or a deletion repairs it.
    expect((await put('default/short', 'new')).status).toBe(200);
    await empty();
    expect(await service.control().post('/media-store/default/default/check', undefined)).toMatchObject({
      body: { problems: [] },
    });
  });
});

describe('the size limit of a store', () => {
  it('accepts exactly as many of a thousand simultaneous uploads as fit', async () => {
    const content = (number: number) => Buffer.alloc(1000, String(number).padStart(4, '0'));
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, number) => putAtOnce(`default/n/${number}`, content(number))),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(700);
    expect(statuses.filter((status) => status === 507)).toHaveLength(300);
    expect(answers.find(({ status }) => status === 507)?.body).toMatchObject({ code: 'store-full' });
    expect(await store()).toEqual(
      expect.objectContaining({ bytes_used: BYTES_MAX, bytes_max: BYTES_MAX, file_count: 700 }),
    );
    for (const [number, status] of statuses.entries()) {
      if (status === 201) expect((await get(`default/n/${number}`)).text).toBe(content(number).toString());
    }
    // Incoming files of refused uploads are deleted after the answers.
    await expect.poll(() => incoming()).toEqual([]);
    // A replacement may use the space of what it replaces.
    expect((await put(`default/n/${statuses.indexOf(201)}`, content(0))).status).toBe(200);
    expect((await put('default/more', 'x')).status).toBe(507);
    await empty();
    expect(await store()).toMatchObject({ bytes_used: 0, file_count: 0 });
  });

  it('refuses an upload that cannot fit before reading it, and one that turns out too long while reading', async () => {
    expect(await put('default/a', Buffer.alloc(BYTES_MAX + 1))).toMatchObject({ status: 507 });
    const { port } = new URL(service.address);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `PUT /media/default/default/b HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.client.key}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    let answer = '';
    socket.on('data', (piece) => (answer += piece.toString()));
    socket.on('error', () => undefined);
    const piece = `186a0\r\n${'x'.repeat(100_000)}\r\n`;
    for (let sent = 0; sent < 10 && answer === ''; ++sent) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => answer).toMatch(/^HTTP\/1\.1 507/);
    socket.destroy();
    await expect.poll(() => incoming()).toEqual([]);
    await expect.poll(() => store()).toMatchObject({ bytes_used: 0 });
  });

  it('frees the space of uploads whose clients disconnect, and leaves no file behind', async () => {
    const { port } = new URL(service.address);
    const sockets = Array.from({ length: 50 }, (_, number) => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      const head = `PUT /media/default/default/left/${number} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.client.key}\r\n`;
      socket.write(`${head}Content-Length: 10000\r\n\r\n${'x'.repeat(5000)}`);
      return socket;
    });
    await expect.poll(() => incoming()).toHaveLength(50);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => incoming()).toEqual([]);
    // Their space is free a moment after their files are deleted.
    await expect.poll(async () => (await put('default/whole', Buffer.alloc(BYTES_MAX))).status).toBe(201);
    await empty();
  });
});

describe('a path in a media store', () => {
  const ways = [
    '..',
    '.',
    '%2e%2e',
    '%2E.',
    '.%2e',
    '..%2f..',
    '..%2F',
    '%2e%2e%2f',
    '%2e%2e/',
    '%00',
    '%0a',
    '%7f',
    '%c2%85',
    '%ff',
    '%c0%ae%c0%ae',
    '%',
    '%2',
    '%zz',
    '',
    '%2f',
  ];
  const places = [
    '{}',
    'a/{}',
    '{}/a',
    'a/{}/b',
    '{}/{}',
    'a/b/{}/{}/{}/etc/passwd',
    '{}/{}/system/data.mdb',
    'a%2f{}',
    '{}%2fa',
    '{}/{}/{}/{}/{}/{}/root',
    './{}',
    '{}/.',
    'default/{}',
  ];
  const forms = ways.flatMap((way) => places.map((place) => place.replaceAll('{}', way)));
  const doubled = [
    '%252e%252e/a',
    '....//a',
    '..;/a',
    '\\..\\..\\a',
    '..\\a',
    'C:\\a',
    '~/a',
    'a?x',
    '/etc/passwd',
    '//etc/passwd',
    '/proc/self/environ',
  ];

  it.each(['default', 'folder'])(
    `never leaves the store, in any of ${forms.length * 2} forms that try to (store %s)`,
    async (name) => {
      if (name === 'folder') {
        const body = { name, kind: 'folder', folder: join(root, 'files') };
        expect((await service.client.post('/media-store/default', body)).status).toBe(201);
      }
      const before = readdirSync(outside);
      const secret = join(root, 'secret');
      writeFileSync(secret, 'secret');
      for (const form of [...forms, ...doubled]) {
        const path = `/media/default/${name}/${form}`;
        const written = await rawStatus('PUT', path);
        const read = await rawStatus('GET', path);
        // It is refused, no path at all, or an ordinary name.
        expect([200, 201, 400, 404, 405], form).toContain(written);
        expect(read, form).toBe(written < 300 ? 200 : read);
        expect([200, 400, 404], form).toContain(read);
      }
      expect(readdirSync(outside)).toEqual(before);
      expect(readdirSync(root).sort()).toEqual(['files', 'secret']);
      expect(readdirSync(service.dataDir)).not.toContain('a');
      const { files } = (await service.client.get(`/media/default/${name}`, { size: 1000 })).body as {
        files: { path: string }[];
      };
      for (const { path } of files) {
        expect(path.split('/')).not.toContain('..');
        await service.client.delete(`/media/default/${name}/${encodeURIComponent(path)}`);
      }
      rmSync(secret);
    },
  );

  it('follows no link out of a folder', async () => {
    mkdirSync(join(outside, 'private'));
    writeFileSync(join(outside, 'private', 'file'), 'private');
    symlinkSync(join(outside, 'private'), join(root, 'files', 'link'));
    symlinkSync(join(outside, 'private', 'file'), join(root, 'files', 'file-link'));
    for (const path of ['link/file', 'file-link', 'link']) {
      expect(await get(`folder/${path}`)).toMatchObject({ status: 404 });
      expect((await service.client.delete(`/media/default/folder/${path}`)).status).toBe(404);
    }
    expect((await put('folder/link/new', 'x')).status).toBe(409);
    expect(readdirSync(join(outside, 'private'))).toEqual(['file']);
    // A link at the end of the path is replaced, and the file that it led to stays.
    expect((await put('folder/file-link', 'mine')).status).toBe(201);
    expect((await get('folder/file-link')).text).toBe('mine');
    expect((await service.client.get('/media/default/folder')).body).toMatchObject({ files: [{ path: 'file-link' }] });
  });

  async function rawStatus(method: string, path: string): Promise<number> {
    const { hostname, port } = new URL(service.address);
    return new Promise((resolve, reject) => {
      const asked = request({ hostname, port, method, path, headers: { 'x-api-key': service.client.key } });
      asked.on('response', (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      asked.on('error', reject).end(method === 'PUT' ? 'x' : undefined);
    });
  }
});

describe('media stores', () => {
  it('are added, shown and removed, keep their files, and do not show secrets', async () => {
    const list = await service.client.get('/media-store/default');
    expect(list.body).toMatchObject({
      media_stores: [{ name: 'default', kind: 'built-in', bytes_max: BYTES_MAX }, { name: 'folder' }],
    });
    expect(
      await service.client.post('/media-store/default', { name: 'default', kind: 'folder', folder: root }),
    ).toMatchObject({ status: 409 });
    expect(
      await service.client.post('/media-store/default', { name: 'x', kind: 'folder', folder: '/etc' }),
    ).toMatchObject({ status: 400 });
    expect(
      await service.client.post('/media-store/default', { name: 'x', kind: 'folder', folder: outside }),
    ).toMatchObject({ status: 400 });
    const foreign = { name: 'x', kind: 'folder', folder: root, bucket: 'pictures' };
    expect((await service.client.post('/media-store/default', foreign)).body).toMatchObject({
      detail: "/bucket: A media store of the kind 'folder' does not take `bucket`; it takes `folder`.",
    });
    const s3 = {
      name: 'bucket',
      kind: 's3',
      endpoint: 'https://s3.example.com',
      bucket: 'files',
      access_key_id: 'A',
      secret_access_key: 'hunter2',
    };
    expect(await service.client.post('/media-store/default', s3)).toMatchObject({
      status: 403,
      body: { code: 'console-only' },
    });
    const made = await service.control().post('/media-store/default', s3);
    expect(made).toMatchObject({ status: 201, body: { kind: 's3', has_secret: true, bytes_used: null } });
    expect(made.text).not.toContain('hunter2');
    expect(await service.client.put('/media-store/default/bucket', { prefix: 'a' })).toMatchObject({ status: 403 });
    expect(await service.control().put('/media-store/default/bucket', { prefix: 'a' })).toMatchObject({
      body: { prefix: 'a/' },
    });
    expect((await service.client.delete('/media-store/default/bucket')).status).toBe(204);
    expect((await service.client.delete('/media-store/default/default')).status).toBe(422);
    expect((await service.client.delete('/media-store/default/folder')).status).toBe(204);
    expect(readdirSync(join(root, 'files'))).toContain('file-link');
    expect(await get('folder/file-link')).toMatchObject({ status: 404, body: { code: 'media-store-not-found' } });
  });

  it('need an API key of the account with the permission', async () => {
    const reader = await service.clientFor({ access: 'custom', permissions: ['media:read'] });
    expect((await reader.get('/media/default/default')).status).toBe(200);
    expect((await reader.send('PUT', '/media/default/default/a', { bytes: 'x' })).status).toBe(403);
    expect((await reader.get('/media-store/default')).status).toBe(403);
    expect((await reader.get('/media/other/default')).status).toBe(403);
  });

  it('are deleted with their account and its files, and a new account of the same name has none of them', async () => {
    const control = service.control();
    expect((await control.post('/account', { name: 'leaving' })).status).toBe(201);
    await control.send('PUT', '/media/leaving/default/a', { bytes: 'x' });
    expect(
      (await control.post('/media-store/leaving', { name: 'own', kind: 'folder', folder: join(root, 'files') })).status,
    ).toBe(201);
    expect((await control.delete('/account/leaving')).status).toBe(204);
    await expect.poll(() => existsSync(join(service.dataDir, 'media', 'leaving'))).toBe(false);
    await expect.poll(async () => (await control.post('/account', { name: 'leaving' })).status).toBe(201);
    const { body } = await control.get('/media-store/leaving');
    expect(body).toMatchObject({ media_stores: [{ name: 'default', bytes_used: 0, file_count: 0 }] });
    expect((body as { media_stores: unknown[] }).media_stores).toHaveLength(1);
  });

  it('keep their files readable for their owner only', async () => {
    await put('default/mine', 'x');
    const folder = join(service.dataDir, 'media', 'default', 'default');
    for (const path of [join(service.dataDir, 'media'), folder, join(folder, 'blobs')]) {
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
    for (const name of readdirSync(join(folder, 'blobs'))) {
      expect(statSync(join(folder, 'blobs', name)).mode & 0o777).toBe(0o600);
    }
    await empty();
  });
});
