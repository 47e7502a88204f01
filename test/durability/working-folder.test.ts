/** Tests that the service works if the folder that it was started in is deleted while it runs. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestService } from '../support/service.js';

it('Threads that start after the working directory was deleted work, for writes and analytics', async () => {
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

it('Relative paths in the settings refer to the working directory', async () => {
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
