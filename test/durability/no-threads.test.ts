/**
 * Tests a service that may start no more threads and processes while it runs (`TasksMax` of systemd, `pids.max` of a
 * container): it works with those that it has.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { jpegOf } from '../support/pictures.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const SOURCE = fileURLToPath(new URL('../support/refused-threads.c', import.meta.url));
const CAN_COMPILE = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;
const REFUSED = { status: 503, body: { code: 'resources-exhausted' } };
const LISTS = ['films', 'books', 'songs'];
/** Writes to each list. */
const WRITES = 2;
const RECORDS = 3000;

describeWhere(CAN_COMPILE, 'a C compiler, and a loader that takes libraries before others')(
  'a service that is refused threads',
  () => {
    let folder: string;
    let refused: string;
    let service: TestService;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'gannet-no-threads-'));
      refused = join(folder, 'refused');
      execFileSync('cc', ['-shared', '-fPIC', '-o', join(folder, 'refused.so'), SOURCE, '-ldl', '-lpthread']);
    });
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });
    beforeEach(async () => {
      service = await startTestService({
        limits: `export LD_PRELOAD=${join(folder, 'refused.so')}`,
        env: { REFUSED_THREADS: refused, GANNET_INGEST_THREADS: '2' },
      });
      for (const name of LISTS) {
        const list = { name, image_model: 'built-in', searchable_fields: [{ name: 'title' }] };
        expect((await service.client.post('/list/default', list)).status).toBe(201);
      }
    });
    afterEach(async () => {
      rmSync(refused, { force: true });
      await service.close();
    });

    /** Enough records that this is no small write, whose thread already runs. */
    const write = (list: string, name: string) =>
      service.client.bulk(
        'default',
        list,
        Array.from({ length: RECORDS }, (_, number) => ({ name: `${name} ${number}`, title: 'word' })),
      );
    const count = async (list: string) =>
      ((await service.client.get(`/search/default/${list}/1`, { query: 'word' })).body as { total_count?: number })
        .total_count;

    it('writes with the only thread that it has', async () => {
      expect((await write('films', 'first')).status).toBe(200);
      writeFileSync(refused, '');
      const answers = await Promise.all(
        LISTS.flatMap((list) => Array.from({ length: WRITES }, (_, number) => write(list, `one ${number}`))),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect((await service.client.get('/ready')).status).toBe(200);
      for (const list of LISTS) expect(await count(list)).toBe(RECORDS * (WRITES + (list === 'films' ? 1 : 0)));
      rmSync(refused);
      expect((await write('books', 'last')).status).toBe(200);
      expect(await service.stop()).toBe(0);
    });

    it('refuses without any effect what needs a first thread, and does it when threads are allowed', async () => {
      // Threads for writes are started by the first write.
      await service.stop();
      await service.start();
      writeFileSync(refused, '');
      expect(await Promise.all(LISTS.map((list) => write(list, 'early')))).toMatchObject(LISTS.map(() => REFUSED));
      const bytes = await jpegOf(1);
      const look = () =>
        service.client.send('POST', '/search/image/default/films/1', {
          headers: { 'content-type': 'image/jpeg' },
          bytes,
        });
      expect(await look()).toMatchObject(REFUSED);
      for (const list of LISTS) expect(await count(list)).toBe(0);
      rmSync(refused);
      for (const list of LISTS) {
        await eventually(
          () => write(list, 'late'),
          ({ status }) => status === 200,
        );
        expect(await count(list)).toBe(RECORDS);
      }
      await eventually(look, ({ status }) => status === 200);
      expect(await service.stop()).toBe(0);
    });
  },
);
