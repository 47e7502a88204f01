/**
 * Tests a full disk under each folder of the data directory in turn, and under the log: what needs the disk is
 * refused with a clear answer, everything else works, memory agrees with the disk, and all works again when there is
 * room, without a restart.
 */
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import type { Answer, ServiceClient } from '../support/client.js';
import { TestService } from '../support/service.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { checkCopyOf } from './index-check.js';

const LIST = 'films';
const FULL = { status: 507, body: { code: 'storage-full' } };
/** More than enough to use up the room that a file already had. */
const CHANGES = 20;
const SETTINGS = {
  GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
  GANNET_WEBHOOKS_RETRY_SECONDS: '1',
  GANNET_WEBHOOKS_JITTER_PERCENT: '0',
  GANNET_LOG_LEVEL: 'fatal',
};

const mounting = canMount('disk full, folder by folder');
let dataDir: string;
let service: TestService;
let receiver: WebhookReceiver;
let disk: SmallFileSystem | undefined;
let client: ServiceClient;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-full-'));
  receiver = await WebhookReceiver.start();
  service = new TestService(dataDir, { dataDir, env: SETTINGS });
});

afterEach(async () => {
  await service.stop('SIGKILL');
  disk?.unmount();
  disk = undefined;
  await receiver.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Starts a service with a list, records, a group, synonyms and a webhook. */
async function startWithContent(): Promise<void> {
  await service.start();
  client = service.client;
  await made(client.post('/list/default', { name: LIST, searchable_fields: [{ name: 'title' }] }));
  await made(client.post('/list-group/default', { name: 'all', lists: [{ list: LIST }] }));
  await made(client.post('/webhook', { url: receiver.url(), events: ['searchresult.created', 'list.created'] }));
  expect((await client.bulk('default', LIST, records('first', 200))).status).toBe(200);
}

const records = (batch: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${batch}-${index}`, title: `${batch} film ${index}` }));

async function made(answer: Promise<Answer>): Promise<Answer> {
  const { status, text } = await answer;
  expect(status, text).toBeLessThan(300);
  return answer;
}

async function totalOf(query?: string): Promise<number> {
  const answer = await client.get(`/search/default/${LIST}/1`, { size: 1, ...(query === undefined ? {} : { query }) });
  expect(answer.status, answer.text).toBe(200);
  return (answer.body as { total_count: number }).total_count;
}

/**
 * Repeats a change until it is refused, at most `CHANGES` times; every answer is a success or says that the disk is
 * full.
 */
async function untilRefused(change: (index: number) => Promise<Answer>): Promise<{ done: number; refused: boolean }> {
  for (let index = 0; index < CHANGES; ++index) {
    const answer = await change(index);
    if (answer.status < 300) continue;
    expect(answer, answer.text).toMatchObject(FULL);
    return { done: index, refused: true };
  }
  return { done: CHANGES, refused: false };
}

/** Reads everything that the catalogue has, to compare memory with disk. */
async function catalogue(): Promise<unknown> {
  const paths = ['/list/default', '/list-group/default', '/webhook/default', '/api-key/default'];
  const answers = [];
  for (const path of [...paths, `/list/default/${LIST}`, `/list/synonyms/default/${LIST}`]) {
    const { status, body } = await service.control().get(path);
    answers.push([path, status, body]);
  }
  return answers;
}

/** Checks that the service says the same before and after a kill and a restart. */
async function memoryIsDisk(): Promise<void> {
  const before = await catalogue();
  const total = await totalOf();
  await service.stop('SIGKILL');
  await service.start();
  ({ client } = service);
  // Each start of a test service creates an API key.
  const withoutKeys = (answers: unknown) => (answers as [string][]).filter(([path]) => path !== '/api-key/default');
  expect(withoutKeys(await catalogue())).toEqual(withoutKeys(before));
  expect(await totalOf()).toBe(total);
}

const listOfTitles = (name: string) => ({ name, searchable_fields: [{ name: 'title' }] });

/** Changes of everything that is stored, each under its own name. */
const CHANGING: Record<string, (index: number) => Promise<Answer>> = {
  'a key': (index) => service.control().post('/api-key/default', { name: `key ${index}`, access: 'read-all' }),
  'a list': (index) => client.post('/list/default', listOfTitles(`list-${index}`)),
  'a group': (index) => client.post('/list-group/default', { name: `group-${index}`, lists: [{ list: LIST }] }),
  'the members of a group': (index) =>
    client.put('/list-group/default/all', { lists: index % 2 === 0 ? [] : [{ list: LIST }] }),
  'settings of a list': (index) =>
    client.put(`/list/default/${LIST}`, {
      synonym_rules: [{ kind: 'equivalent', terms: ['film', `picture${index}`] }],
    }),
  synonyms: (index) =>
    client.put(`/list/synonyms/default/${LIST}`, { rules: [{ kind: 'equivalent', terms: ['film', `movie${index}`] }] }),
  'a webhook': (index) => client.post('/webhook', { url: receiver.url(`/${index}`), events: ['list.deleted'] }),
  'a record': (index) =>
    client.post(`/search-result/default/${LIST}`, { name: `single-${index}`, fields: { title: `single ${index}` } }),
  'many records': (index) => client.bulk('default', LIST, records(`bulk-${index}`, 100)),
};

describe.skipIf(!mounting)(`a full disk${mounting ? '' : ' (left out: no file system can be mounted)'}`, () => {
  for (const folder of ['system', 'lists', 'analytics', 'queue', '.']) {
    it(`under data/${folder} refuses what needs it, still reads, and leaves nothing inconsistent`, async () => {
      disk = SmallFileSystem.mount(join(dataDir, folder));
      await startWithContent();
      disk.shrink();
      const outcomes: Record<string, { done: number; refused: boolean }> = {};
      for (const [what, change] of Object.entries(CHANGING)) {
        // A merge that ends meanwhile frees some space.
        outcomes[what] = await untilRefused((index) => {
          disk?.shrink();
          return change(index);
        });
        expect(await totalOf('first'), what).toBe(200);
      }
      const refused = Object.entries(outcomes).flatMap(([what, { refused: is }]) => (is ? [what] : []));
      if (folder === 'analytics' || folder === 'queue') expect(refused).toEqual([]);
      else expect(refused.length).toBeGreaterThan(0);
      if (folder === '.') expect(refused).toEqual(Object.keys(CHANGING));

      disk.grow();
      for (const [what, change] of Object.entries(CHANGING)) {
        const answer = await change(1000);
        expect(answer.status, `${what}: ${answer.text}`).toBeLessThan(300);
      }
      // What happened on the full disk was neither lost nor stuck: events are delivered, and searches counted.
      await eventually(
        () => Promise.resolve(receiver.at('/hook').filter(({ text }) => text.includes('single-1000'))),
        (found) => found.length > 0,
      );
      const searches = await eventually(
        () => client.get(`/analytics/list/default/${LIST}`),
        ({ status, body }) => status === 200 && (body as { total_searches: number }).total_searches > 0,
      );
      expect(searches.status).toBe(200);
      await memoryIsDisk();
      await service.stop('SIGKILL');
      expect(await checkCopyOf(dataDir)).toEqual([]);
    });
  }

  it('under one list does not affect other lists', async () => {
    await startWithContent();
    const [id = ''] = readdirSync(join(dataDir, 'lists'));
    await service.stop();
    const folder = join(dataDir, 'lists', id);
    const aside = join(dataDir, 'aside');
    renameSync(folder, aside);
    disk = SmallFileSystem.mount(folder);
    cpSync(aside, folder, { recursive: true });
    await service.start();
    ({ client } = service);
    disk.shrink();
    const before = await totalOf();
    const { done, refused } = await untilRefused((index) => {
      disk?.shrink();
      return client.bulk('default', LIST, records(`bulk-${index}`, 100));
    });
    expect(refused).toBe(true);
    await made(client.post('/list/default', listOfTitles('other')));
    await made(client.bulk('default', 'other', records('other', 100)));
    expect(await totalOf()).toBe(before + done * 100);
    disk.grow();
    await made(client.bulk('default', LIST, records('afterwards', 100)));
    await memoryIsDisk();
  });

  it('delays the creation of the webhook queue until there is room', async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'queue'));
    disk.shrink();
    await service.start();
    ({ client } = service);
    const webhook = await made(client.post('/webhook', { url: receiver.url(), events: ['list.created'] }));
    const ping = () => client.send('POST', `/webhook/default/${(webhook.body as { id: string }).id}/test`);
    expect(await ping()).toMatchObject(FULL);
    await made(client.post('/list/default', listOfTitles('told')));
    disk.grow();
    expect((await ping()).status).toBe(202);
    await eventually(
      () => Promise.resolve(receiver.received.map(({ headers }) => headers['x-service-event'])),
      (types) => types.includes('list.created') && types.includes('webhook.ping'),
    );
  });

  it('prevents a start with a clear sentence, and the start succeeds when there is room', async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'system'));
    disk.shrink();
    await expect(service.start()).rejects.toThrow(/The disk is full/);
    expect(service.output).not.toContain('    at ');
    disk.grow();
    await startWithContent();
    disk.shrink();
    await service.stop('SIGKILL');
    // Existing data is served from a full disk.
    await startWithoutKey();
    expect(await totalOf('first')).toBe(200);
    expect(await service.control().post('/api-key/default', { name: 'no room', access: 'full' })).toMatchObject(FULL);
  });

  it('without room for another file refuses what needs one, and still reads', async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'lists'));
    await startWithContent();
    disk.shrinkInodes();
    const before = await totalOf();
    const { done, refused } = await untilRefused((index) => {
      disk?.shrinkInodes();
      return client.bulk('default', LIST, records(`bulk-${index}`, 100));
    });
    expect(refused).toBe(true);
    disk.shrinkInodes();
    expect(await client.post('/list/default', listOfTitles('other'))).toMatchObject(FULL);
    expect(await totalOf()).toBe(before + done * 100);
    disk.grow();
    await made(client.bulk('default', LIST, records('afterwards', 100)));
    await memoryIsDisk();
  });

  it('delays the build of a new version of a list until there is room', async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'lists'));
    await startWithContent();
    for (let batch = 0; batch < 10; ++batch) await made(client.bulk('default', LIST, records(`more-${batch}`, 1000)));
    disk.shrinkTo(600_000);
    const changed = await client.put(`/list/default/${LIST}`, {
      searchable_fields: [{ name: 'title' }, { name: 'name' }],
    });
    if (changed.status >= 300) expect(changed).toMatchObject(FULL);
    expect(await totalOf('first')).toBe(200);
    disk.grow();
    if (changed.status >= 300)
      await made(client.put(`/list/default/${LIST}`, { searchable_fields: [{ name: 'name' }] }));
    await eventually(
      () => client.get(`/list/default/${LIST}`),
      ({ body }) => (body as { versions: { state: string }[] }).versions.every(({ state }) => state === 'ready'),
    );
    expect(await totalOf('first')).toBe(200);
  });

  it('under the log loses lines of the log and nothing else', async () => {
    const folder = join(dataDir, 'log');
    mkdirSync(folder);
    disk = SmallFileSystem.mount(folder);
    const file = openSync(join(folder, 'log'), 'a');
    try {
      service = new TestService(dataDir, {
        dataDir,
        env: { ...SETTINGS, GANNET_LOG_LEVEL: 'info' },
        standardError: file,
      });
      await startWithContent();
      disk.shrink();
      for (let search = 0; search < 200; ++search) expect(await totalOf('first')).toBe(200);
      await expect.poll(() => service.metric('gannet_log_lines_dropped_total')).toBeGreaterThan(0);
      disk.grow();
      expect(await totalOf('first')).toBe(200);
      await eventually(
        () => Promise.resolve(readFileSync(join(folder, 'log'), 'utf8')),
        (log) => log.includes('lines are missing before this one'),
      );
      disk.shrink();
      for (let search = 0; search < 50; ++search) expect(await totalOf('first')).toBe(200);
      expect(await service.stop()).toBe(0);
    } finally {
      closeSync(file);
    }
  });
});

/** Starts with the API key of the first start, as none can be created on a full disk. */
async function startWithoutKey(): Promise<void> {
  const { key } = client;
  await service.start({ withoutKey: true });
  client = service.clientWith(key);
}
