/** Tests changes of the catalogue on a slow disk: a library preloaded into the service delays a sync. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWhere } from '../support/skip.js';
import { startTestService, type TestService } from '../support/service.js';

const SOURCE = fileURLToPath(new URL('../support/silent-disk.c', import.meta.url));

const root = mkdtempSync(join(tmpdir(), 'gannet-slow-'));
const isSilent = join(root, 'is-silent');

describeWhere(process.platform === 'linux', 'only Linux can have a library in front of others')(
  'the catalogue on a slow disk',
  () => {
    let service: TestService;
    beforeAll(async () => {
      const library = join(root, 'silent-disk.so');
      execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
      const env = { LD_PRELOAD: library, SILENT_DISK: isSilent, SILENT_SYNC: '/system/data.mdb' };
      service = await startTestService({ env });
      expect(await service.client.post('/list/default', { name: 'films' })).toMatchObject({ status: 201 });
      const record = { name: 'a', fields: { title: 'one' } };
      expect(await service.client.post('/search-result/default/films', record)).toMatchObject({ status: 201 });
    });
    afterAll(async () => {
      rmSync(isSilent, { force: true });
      await service.close();
      rmSync(root, { recursive: true });
    });

    const changes = {
      'a new list': () => service.client.post('/list/default', { name: 'plays' }),
      'another setting': () =>
        service.client.send('PUT', '/list/default/films', { json: { suggestions: { require_click: true } } }),
      'a list that is deleted': () => service.client.send('DELETE', '/list/default/plays', {}),
    };
    for (const [name, change] of Object.entries(changes)) {
      it(`delays no search and no write for ${name}, which is answered when it is on disk`, async () => {
        rmSync(`${isSilent}.waiting`, { force: true });
        writeFileSync(isSilent, '');
        let isChanged = false;
        const changed = change().then((answer) => {
          isChanged = true;
          return answer;
        });
        await expect.poll(() => existsSync(`${isSilent}.waiting`)).toBe(true);
        expect(await service.client.get('/search/default/films/1', { query: 'one' })).toMatchObject({ status: 200 });
        const record = { name: 'b', fields: { title: 'two' } };
        expect((await service.client.post('/search-result/default/films', record)).status).toBeLessThan(300);
        expect(isChanged).toBe(false);
        rmSync(isSilent);
        expect((await changed).status).toBeLessThan(300);
      });
    }
  },
);
