/**
 * Tests a service that runs out of descriptors: a write for which no thread can be started is refused, and works
 * later.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { jpegOf } from '../support/pictures.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

/** This many descriptors more than are open: enough to begin a thread, and not to finish that. */
const LEFT = 3;
/** Room for connections, of which the service reserves some for everything else. */
const ROOM = 200;

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop('SIGKILL');
});

function mayOpen(pid: number, descriptors: number): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${descriptors}:`]);
}

/** Returns the lowest free descriptor: the limit is one on their numbers. */
function firstFree(pid: number): number {
  const taken = new Set(readdirSync(`/proc/${pid}/fd`));
  return (
    Array.from({ length: taken.size + 1 }, (_, number) => number).find((number) => !taken.has(String(number))) ?? 0
  );
}

/** Resolves with whether the service answers on a new connection, which stays open, or closes it without an answer. */
function ask(port: number): { readonly isAnswered: Promise<boolean>; readonly end: () => void } {
  const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n'));
  const isAnswered = new Promise<boolean>((resolve) => {
    socket.once('data', (data) => {
      resolve(data.toString().startsWith('HTTP/1.1 200'));
    });
    socket
      .on('error', () => undefined)
      .once('close', () => {
        resolve(false);
      });
  });
  return { isAnswered, end: () => socket.destroy() };
}

describeWhere(process.platform === 'linux', 'limits of Linux')('a service without free descriptors', () => {
  it('refuses a write without a thread for it, still searches, and writes when it has descriptors again', async () => {
    service = await startTestService();
    const { client, pid } = service;
    expect((await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] })).status).toBe(
      201,
    );
    const search = () => client.get('/search/default/films/1', { query: 'word' });
    expect((await search()).status).toBe(200);
    const write = (name: string) => client.bulk('default', 'films', [{ name, title: 'word' }]);
    mayOpen(pid, firstFree(pid) + LEFT);
    expect(await write('early')).toMatchObject({ status: 503, body: { code: 'resources-exhausted' } });
    expect(await search()).toMatchObject({ status: 200, body: { total_count: 0 } });
    mayOpen(pid, 4096);
    await eventually(
      () => write('late'),
      ({ status }) => status === 200,
    );
    await eventually(search, ({ body }) => (body as { total_count?: number }).total_count === 1);
  });

  it('names the cause if it has no descriptor left to check its limits or to load part of its program', async () => {
    service = await startTestService();
    const { client, pid, address } = service;
    expect((await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] })).status).toBe(
      201,
    );
    const write = (name: string) => client.bulk('default', 'films', [{ name, title: 'word' }]);
    expect((await write('first')).status).toBe(200);
    mayOpen(pid, firstFree(pid));
    const refused = { status: 503, body: { code: 'resources-exhausted' } };
    expect(await write('early')).toMatchObject(refused);
    // On a connection that exists already.
    expect((await client.get('/console/')).status).toBe(503);
    mayOpen(pid, 4096);
    await eventually(
      () => write('late'),
      ({ status }) => status === 200,
    );
    expect((await fetch(`${address}/console/`)).status).toBe(200);
    expect(await client.get('/search/default/films/1', { query: 'word' })).toMatchObject({ body: { total_count: 2 } });
  });

  it('refuses a search by picture at once if it cannot start a process for it, and answers later', async () => {
    service = await startTestService();
    const { client, pid } = service;
    expect((await client.post('/list/default', { name: 'photos', image_model: 'built-in' })).status).toBe(201);
    const picture = await jpegOf(1);
    const search = () =>
      client.send('POST', '/search/image/default/photos/1', {
        headers: { 'content-type': 'image/jpeg' },
        bytes: picture,
      });
    mayOpen(pid, firstFree(pid));
    expect(await search()).toMatchObject({ status: 503, body: { code: 'resources-exhausted' } });
    mayOpen(pid, 4096);
    await eventually(search, ({ status }) => status === 200);
  });

  it('closes connections that it has no room for at once, and answers the others', async () => {
    service = await startTestService();
    const { client, pid, address } = service;
    mayOpen(pid, firstFree(pid) + ROOM);
    const asked = Array.from({ length: 2 * ROOM }, () => ask(Number(new URL(address).port)));
    const answered = await Promise.all(asked.map(({ isAnswered }) => isAnswered));
    const count = answered.filter(Boolean).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(ROOM);
    for (const { end } of asked) end();
    await eventually(
      () => client.get('/metrics').catch(() => undefined),
      (answer) => Number(/^gannet_http_connections_refused_total (\d+)$/m.exec(answer?.text ?? '')?.[1]) >= ROOM,
    );
  });
});
