/**
 * Tests the service with few descriptors and little address space: it never ends by a signal, and has more lists than
 * it could have open.
 */
import { createConnection, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it } from 'vitest';
import { gannet } from '../support/cli.js';
import { controlGroup } from '../support/control-group.js';
import { eventually } from '../support/eventually.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const DESCRIPTORS = 256;
const FEWER_DESCRIPTORS = 150;
/** In KiB, as the shell expects: enough for the program and a few dozen lists. */
const ADDRESS_KIB = 24 * 2 ** 20;
/** Of a control group; more than the service takes by itself with a quarter of it. */
const GROUP_BYTES = 2 ** 31;
/** Far more than could be open at a time. */
const LISTS = 45;
const CONNECTIONS = 400;
/** A process with many lists, only on request: it takes minutes. */
const MANY_LISTS = Number(process.env['GANNET_TEST_MANY_LISTS'] ?? 0);
/** The settings of the smallest machine, whatever this one has. */
const SMALL = { GANNET_SEARCH_THREADS: '1', GANNET_INGEST_THREADS: '1', GANNET_LOG_LEVEL: 'error' };

const nameOf = (list: number) => `list-${list}`;

/** Creates lists with one record each. */
async function fillWithLists({ client }: TestService, count: number): Promise<void> {
  for (let list = 0; list < count; ++list) {
    const made = await client.post('/list/default', { name: nameOf(list), searchable_fields: [{ name: 'title' }] });
    expect(made.status, made.text).toBe(201);
    const record = { name: 'one', title: `word${list} common` };
    const written = await client.post(`/search-result/default/${nameOf(list)}`, record);
    expect(written.status, written.text).toBe(201);
  }
}

async function searchAll({ client }: TestService, count: number): Promise<void> {
  for (let list = 0; list < count; ++list) {
    const found = await client.get(`/search/default/${nameOf(list)}/1`, { query: `word${list}` });
    expect(found.status, found.text).toBe(200);
    expect(found.body).toMatchObject({ total_count: 1 });
  }
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

  it('creates, writes and searches more lists than it could have open', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${DESCRIPTORS}` });
    await fillWithLists(service, LISTS);
    await searchAll(service, LISTS);
    expect(await service.stop()).toBe(0);
  });

  it.each([DESCRIPTORS, FEWER_DESCRIPTORS])(
    'has all of them after a start with %i descriptors',
    async (descriptors) => {
      service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${descriptors}` });
      await searchAll(service, LISTS);
      // The system tells doctor the limit of the service, whatever doctor's own is.
      const told = new RegExp(
        `Open files +limit ${descriptors} of the running service is too low: restart it with a higher limit`,
      );
      expect((await gannet(dataDir, 'doctor')).output).toMatch(told);
      expect(await service.stop()).toBe(0);
    },
  );

  it('answers again after clients that took all connections have disconnected', async () => {
    service = await startTestService({ dataDir, env: SMALL, limits: `ulimit -n ${DESCRIPTORS}` });
    const { port } = new URL(service.address);
    const kept = createConnection(Number(port), '127.0.0.1');
    await once(kept, 'connect');
    const crowd = Array.from({ length: CONNECTIONS }, () => createConnection(Number(port), '127.0.0.1'));
    for (const socket of crowd) socket.on('error', () => undefined);
    let isWhole = false;
    const whole = Promise.all(crowd.map((socket) => once(socket, 'connect').catch(() => undefined)));
    void whole.then(() => (isWhole = true));
    // A client that is connected already is served all the time: the service closes a connection over which nothing
    // comes for 10 s.
    do expect(await healthOver(kept)).toContain('HTTP/1.1 200');
    while (!isWhole);
    expect(await healthOver(kept)).toContain('HTTP/1.1 200');
    for (const socket of crowd) socket.destroy();
    const client = service.clientWith(undefined);
    const health = await eventually(
      () => client.get('/health'),
      ({ status }) => status === 200,
    );
    expect(health.status).toBe(200);
    kept.destroy();
    await searchAll(service, 3);
    expect(await service.stop()).toBe(0);
  });
});

async function healthOver(socket: Socket): Promise<string> {
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString();
}

describeWhere(process.platform === 'linux', 'limits of Linux')('a service with little address space', () => {
  it('creates and searches more lists than fit its address space, and has all after a start', async () => {
    const settings = { dataDir: newDataDir(), env: SMALL, limits: `ulimit -v ${ADDRESS_KIB}` };
    service = await startTestService(settings);
    await fillWithLists(service, LISTS);
    await searchAll(service, LISTS);
    expect(await service.stop()).toBe(0);
    service = await startTestService(settings);
    await searchAll(service, LISTS);
  });
});

const small = controlGroup('gannet-test', GROUP_BYTES);

describeWhere(small !== undefined, 'no control group can be made here')(
  'a service in a control group with little memory',
  () => {
    afterAll(() => small?.remove());

    it("takes its share of the group's memory, and not of the machine's", async () => {
      const dataDir = newDataDir();
      service = await startTestService({ dataDir, limits: small?.enter ?? '' });
      const { body } = await service.control().get('/service/settings/default');
      const { settings } = body as { readonly settings: readonly { readonly name: string; readonly value: unknown }[] };
      const valueOf = (name: string) => settings.find((each) => each.name === name)?.value;
      expect(valueOf('memory.mib')).toBe(GROUP_BYTES / 2 ** 20 / 4);
      expect(valueOf('memory.mapped_busy_mib')).toBe(GROUP_BYTES / 2 ** 20 / 8);
      await fillWithLists(service, 1);
      await searchAll(service, 1);
      expect(await service.stop()).toBe(0);
    });

    it("warns of a setting that exceeds the group's memory", async () => {
      const env = { GANNET_MEMORY_MIB: String(2 * (GROUP_BYTES / 2 ** 20)) };
      service = await startTestService({ dataDir: newDataDir(), env, limits: small?.enter ?? '' });
      await expect.poll(() => service?.output).toContain('memory.mib is more than this process may have');
      expect(await service.stop()).toBe(0);
    });
  },
);

describeWhere(MANY_LISTS > 0, 'GANNET_TEST_MANY_LISTS=2000 makes so many lists')('a service with many lists', () => {
  it('has room for all of them', { timeout: 3_600_000 }, async () => {
    const settings = { dataDir: newDataDir(), env: SMALL };
    service = await startTestService(settings);
    await fillWithLists(service, MANY_LISTS);
    await searchAll(service, MANY_LISTS);
    expect(await service.stop()).toBe(0);
  });
});
