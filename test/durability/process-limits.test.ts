/**
 * The service where the system allows it little: descriptors, address space. It never ends by a signal, what was made stays, and it says
 * which limit there is.
 */
import { createConnection, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const DESCRIPTORS = 256;
const FEWER_DESCRIPTORS = 150;
/** In KiB, as the shell has it: enough for the program and a few dozen lists. */
const ADDRESS_KIB = 24 * 2 ** 20;
const LISTS_MAX = 300;
const CONNECTIONS = 400;
/** A process with many lists, by request only: it takes minutes. */
const MANY_LISTS = Number(process.env['GANNET_TEST_MANY_LISTS'] ?? 0);
/** As on the smallest machine, whatever this one has. */
const SMALL = { GANNET_SEARCH_THREADS: '1', GANNET_INGEST_THREADS: '1', GANNET_LOG_LEVEL: 'error' };

const nameOf = (list: number) => `list-${list}`;

/** Makes lists of one record each until there is no room; resolves with how many there are, and the refusal. */
async function fillWithLists({ client }: TestService, listsMax: number) {
  for (let list = 0; list < listsMax; ++list) {
    const made = await client.post('/list/default', { name: nameOf(list), searchable_fields: [{ name: 'title' }] });
    if (made.status !== 201) return { count: list, refusal: made };
    const record = { name: 'one', title: `word${list} common` };
    const written = await client.post(`/search-result/default/${nameOf(list)}`, record);
    expect(written.status, written.text).toBe(201);
  }
  return { count: listsMax, refusal: undefined };
}

async function searchAll({ client }: TestService, count: number): Promise<number[]> {
  const statuses: number[] = [];
  for (let list = 0; list < count; ++list) {
    const found = await client.get(`/search/default/${nameOf(list)}/1`, { query: `word${list}` });
    statuses.push(found.status);
    if (found.status === 200) expect(found.body).toMatchObject({ total_count: 1 });
    else expect(found.body).toMatchObject({ code: 'resources-exhausted' });
  }
  return statuses;
}

let service: TestService | undefined;
const dataDirs: string[] = [];

function newDataDir(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-limits-'));
  dataDirs.push(dataDir);
  return dataDir;
}

afterEach(async () => {
  await service?.stop('SIGKILL');
  service = undefined;
});
afterAll(() => {
  for (const dataDir of dataDirs) rmSync(dataDir, { recursive: true, force: true });
});

describeWhere(process.platform === 'linux', 'limits of Linux')('a service with few descriptors', () => {
  const dataDir = newDataDir();
  let count = 0;

  it('says that there is no room for one list more, and which limit that is', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${DESCRIPTORS}` });
    const filled = await fillWithLists(service, LISTS_MAX);
    count = filled.count;
    expect(count).toBeGreaterThan(10);
    expect(filled.refusal?.status).toBe(507);
    expect(filled.refusal?.body).toMatchObject({ code: 'limit-reached', detail: expect.stringContaining('ulimit -n') });
    expect(new Set(await searchAll(service, count))).toEqual(new Set([200]));
    expect(await service.stop()).toBe(0);
  });

  it('has all of them again after a start under the same limit, and room again where one goes', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${DESCRIPTORS}` });
    expect(new Set(await searchAll(service, count))).toEqual(new Set([200]));
    expect((await service.client.delete(`/list/default/${nameOf(count - 1)}`)).status).toBe(204);
    count -= 1;
    expect(await service.stop()).toBe(0);
  });

  it('opens what there is room for under a lower limit, names the others, and says so when they are asked for', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${FEWER_DESCRIPTORS}` });
    const statuses = await searchAll(service, count);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    const closed = statuses.findIndex((status) => status === 503);
    expect(service.output).toContain(`"${nameOf(closed)}"`);
    expect(await service.stop()).toBe(0);
  });

  it('answers again when those who took all connections have left', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${DESCRIPTORS}` });
    const { port } = new URL(service.address);
    const kept = createConnection(Number(port), '127.0.0.1');
    await once(kept, 'connect');
    const crowd = Array.from({ length: CONNECTIONS }, () => createConnection(Number(port), '127.0.0.1'));
    for (const socket of crowd) socket.on('error', () => undefined);
    await Promise.all(crowd.map((socket) => once(socket, 'connect').catch(() => undefined)));
    // Whoever is connected already is served.
    expect(await healthOver(kept)).toContain('HTTP/1.1 200');
    for (const socket of crowd) socket.destroy();
    const client = service.clientWith(undefined);
    const health = await eventually(
      () => client.get('/health'),
      ({ status }) => status === 200,
    );
    expect(health.status).toBe(200);
    kept.destroy();
    expect(new Set(await searchAll(service, 3))).toEqual(new Set([200]));
    expect(await service.stop()).toBe(0);
  });
});

async function healthOver(socket: Socket): Promise<string> {
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

describeWhere(process.platform === 'linux', 'limits of Linux')('a service with little address space', () => {
  it('says so before a map fails, and has all lists again after a start', async () => {
    const settings = { dataDir: newDataDir(), env: SMALL, limits: `ulimit -v ${ADDRESS_KIB}` };
    service = await startTestService(settings);
    const { count, refusal } = await fillWithLists(service, LISTS_MAX);
    expect(count).toBeGreaterThan(5);
    expect(refusal?.body).toMatchObject({ code: 'limit-reached', detail: expect.stringContaining('ulimit -v') });
    expect(new Set(await searchAll(service, count))).toEqual(new Set([200]));
    expect(await service.stop()).toBe(0);
    service = await startTestService(settings);
    expect(new Set(await searchAll(service, count))).toEqual(new Set([200]));
  });
});

describeWhere(MANY_LISTS > 0, 'GANNET_TEST_MANY_LISTS=2000 makes so many lists')('a service with many lists', () => {
  it('has room for all of them', { timeout: 3_600_000 }, async () => {
    const settings = { dataDir: newDataDir(), env: SMALL };
    service = await startTestService(settings);
    const { count, refusal } = await fillWithLists(service, MANY_LISTS);
    expect(refusal?.text).toBeUndefined();
    expect(new Set(await searchAll(service, count))).toEqual(new Set([200]));
    expect(await service.stop()).toBe(0);
  });
});
