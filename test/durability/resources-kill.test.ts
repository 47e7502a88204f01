/**
 * Tests the reading of linked documents with crashes and a full disk: nothing is missing in the end, and what was
 * read before is not read again. `GANNET_RESOURCE_KILLS` kills (default 3), from `GANNET_RESOURCE_SEED`.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pdfOf } from '../support/pdf.js';
import { SeededRandom } from '../support/random.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

const KILLS = Number(process.env['GANNET_RESOURCE_KILLS'] ?? 3);
const SEED = Number(process.env['GANNET_RESOURCE_SEED'] ?? 1);
const KILL_MS_MAX = 240_000;
const POLL = { interval: 5 };
const RECORDS_A_ROUND = 30;
/** Documents that are read at the same time, whose outcome is unknown after a crash. */
const PARALLEL = 3;
const FIELDS = {
  model: 'own',
  searchable_fields: [{ name: 'title' }],
  resources: [{ name: 'report', kind: 'document' }],
};

let dataDir: string;
let service: TestService;
let server: ScriptedServer;
let disk: SmallFileSystem | undefined;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-resources-kill-'));
  server = await ScriptedServer.start();
  server.script = ({ path }, response) => response.end(pdfOf([{ lines: [`The text of ${path}`] }]));
  const env = {
    GANNET_LOG_LEVEL: 'fatal',
    GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
    GANNET_RESOURCES_PARALLEL_PER_LIST: String(PARALLEL),
    GANNET_RESOURCES_CONNECTIONS_PER_HOST: String(PARALLEL),
  };
  service = new TestService(dataDir, { dataDir, env });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  await server.close();
  disk?.unmount();
  disk = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const state = async () =>
  ((await service.client.get('/list/default/papers')).body as { resources_state: Record<string, unknown> })
    .resources_state;
const pathOf = (number: number) => `/${number % 100 === 7 ? 0 : number}.pdf`;
const bulk = (begin: number, count: number) =>
  service.client.bulk(
    'default',
    'papers',
    Array.from({ length: count }, (_, place) => ({
      name: `r${begin + place}`,
      title: `Report ${begin + place}`,
      report: server.url(pathOf(begin + place)),
    })),
  );
const textOf = async (number: number) => {
  const { body } = await service.client.get(`/search-result/document-text/default/papers/r${number}`);
  return (body as { documents: { pages: { text: string }[] }[] }).documents[0]?.pages[0]?.text;
};
const problems = async () => (await service.control().post('/list/default/papers/check', undefined)).body;

it(
  `After ${KILLS} kills during reading, every document is there, and only those being read are read again`,
  async () => {
    const random = new SeededRandom(SEED);
    await service.start();
    expect((await service.client.post('/list/default', { name: 'papers', ...FIELDS })).status).toBe(201);
    let records = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const asked = server.asked.length;
      const { status } = await bulk(records, RECORDS_A_ROUND);
      expect(status).toBe(200);
      records += RECORDS_A_ROUND;
      const wanted = asked + 1 + random.below(RECORDS_A_ROUND - PARALLEL);
      await expect.poll(() => server.asked.length, POLL).toBeGreaterThanOrEqual(wanted);
      await service.stop('SIGKILL');
      await service.start();
    }
    const files = new Set(Array.from({ length: records }, (_, number) => pathOf(number))).size;
    // A kill leaves about half of its records for the end.
    const all = { ...POLL, timeout: KILL_MS_MAX * (1 + KILLS / 10) };
    await expect.poll(state, all).toEqual({ read: files, pending: 0, failed: 0, errors: [] });
    for (let number = 0; number < records; number += 1)
      expect(await textOf(number)).toBe(`The text of ${pathOf(number)}`);
    expect(server.asked.length).toBeLessThanOrEqual(files + KILLS * PARALLEL);
    expect(await problems()).toMatchObject({ ok: true, problems: [] });
  },
  KILL_MS_MAX * (KILLS + 1),
);

itWhere(canMount('a full disk under a list that is read for'), 'it needs the right to mount')(
  'Files that were read while the disk was full are written when there is room, without being read again',
  async () => {
    disk = SmallFileSystem.mount(join(dataDir, 'lists'));
    await service.start();
    expect((await service.client.post('/list/default', { name: 'papers', ...FIELDS })).status).toBe(201);
    const open: (() => void)[] = [];
    const script = server.script;
    server.script = (asked, response) => void open.push(() => script(asked, response));
    await bulk(0, 3);
    await expect.poll(() => open.length, POLL).toBe(3);
    disk.shrink();
    for (const answer of open) answer();
    await expect.poll(() => service.metric('gannet_resource_pages_total'), POLL).toBe(3);
    expect(await state()).toMatchObject({ read: 0, pending: 3 });
    disk.grow();
    await expect.poll(state, POLL).toMatchObject({ read: 3, pending: 0, failed: 0 });
    expect(server.asked).toHaveLength(3);
    expect(await textOf(2)).toBe('The text of /2.pdf');
  },
);
