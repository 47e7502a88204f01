/** The folder that the service was started in is removed while it runs: nothing of it is there. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestService } from '../support/service.js';

it('is not missed by threads that start later: those of writes, and of analytics', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-start-'));
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-test-'));
  const service = new TestService(dataDir, { dataDir, workingFolder: folder });
  try {
    await service.start();
    rmSync(folder, { recursive: true });
    const { client } = service;
    expect((await client.post('/list/default', { name: 'birds' })).status).toBe(201);
    const record = { name: 'gannet', fields: { title: 'Northern gannet' } };
    expect((await client.post('/search-result/default/birds', record)).status).toBe(201);
    expect((await client.get('/search/default/birds/1?query=gannet')).body).toMatchObject({ total_count: 1 });
    const report = () => client.get('/analytics/list/default/birds');
    await expect.poll(async () => (await report()).body).toMatchObject({ total_searches: 1 });
    expect(await service.stop()).toBe(0);
  } finally {
    await service.stop('SIGKILL');
    for (const each of [folder, dataDir]) rmSync(each, { recursive: true, force: true });
  }
});

it('counts for relative paths of the settings as long as it is there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-start-'));
  const service = new TestService(join(folder, 'here'), { env: { GANNET_DATA_DIR: 'here' }, workingFolder: folder });
  try {
    await service.start();
    expect((await service.client.post('/list/default', { name: 'birds' })).status).toBe(201);
    expect(existsSync(join(folder, 'here', 'system', 'data.mdb'))).toBe(true);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.stop('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
