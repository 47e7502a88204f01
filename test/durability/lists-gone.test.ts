/** A disk with the lists that goes away while the service runs: nobody is told to delete what is there again as soon as the disk is. */
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TestService } from '../support/service.js';

/** As few as may be open at a time, and more lists than that. */
const OPEN_MAX = 4;
const LISTS = Array.from({ length: 2 * OPEN_MAX }, (_, index) => `list-${index}`);
const SENTENCE = expect.stringMatching(/^The folder of all lists cannot be reached, .* bring it back/u) as string;

let dataDir: string;
let service: TestService;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gannet-gone-'));
  service = new TestService(dataDir, {
    dataDir,
    env: { GANNET_LISTS_OPEN_MAX: String(OPEN_MAX), GANNET_LOG_LEVEL: 'fatal' },
  });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  rmSync(dataDir, { recursive: true, force: true });
});

const listOf = (name: string) => ({ name, searchable_fields: [{ name: 'title' }] });

it('lists whose folder is gone are told of so, no other is made, and all are there when it is back', async () => {
  await service.start();
  const { client } = service;
  for (const name of LISTS) {
    expect((await client.post('/list/default', listOf(name))).status).toBe(201);
    expect((await client.bulk('default', name, [{ name: 'one', title: 'red' }])).status).toBe(200);
  }
  // Those that were used the longest ago are closed for it.
  await service.stop();
  await service.start();
  const [lists, away] = [join(dataDir, 'lists'), join(dataDir, 'away')];
  renameSync(lists, away);
  const answers = await Promise.all(
    LISTS.map((name) => service.client.get(`/search/default/${name}/1`, { query: 'red' })),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.length).toBeGreaterThan(0);
  for (const { status, body } of refused)
    expect({ status, body }).toMatchObject({ status: 503, body: { code: 'list-missing', detail: SENTENCE } });
  expect(await service.client.post('/list/default', listOf('another'))).toMatchObject({
    status: 507,
    body: { code: 'storage-failed', detail: SENTENCE },
  });
  renameSync(away, lists);
  await service.stop();
  await service.start();
  for (const name of LISTS)
    expect((await service.client.get(`/search/default/${name}/1`, { query: 'red' })).body).toMatchObject({
      total_count: 1,
    });
  expect((await service.client.post('/list/default', listOf('another'))).status).toBe(201);
});
