/**
 * Tests a folder store on a disk that does not answer, as of a server that is gone: its calls cannot be interrupted,
 * and no other request waits for them. A library preloaded into the service delays these calls; it needs a C
 * compiler, as the kernel does.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { itWhere } from '../support/skip.js';
import { startTestService, type TestService } from '../support/service.js';

const SOURCE = fileURLToPath(new URL('../support/silent-disk.c', import.meta.url));
/** More than there are threads that read and write. */
const READERS = 12;
/** Stores on the same disk. */
const SILENT = ['one', 'two'];
/** One of these is on another disk than temporary files, wherever those are. */
const PLACES = ['/dev/shm', '/var/tmp', '/tmp'];

const root = mkdtempSync(join(tmpdir(), 'gannet-silent-'));
const otherDisk = PLACES.find((place) => existsSync(place) && statSync(place).dev !== statSync(root).dev);
const elsewhere = mkdtempSync(join(otherDisk ?? tmpdir(), 'gannet-answers-'));
const isSilent = join(root, 'is-silent');
let service: TestService;
beforeAll(async () => {
  const library = join(root, 'silent-disk.so');
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, SOURCE, '-ldl']);
  for (const name of SILENT) {
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, 'silent'), 'here');
  }
  mkdirSync(join(elsewhere, 'other'));
  writeFileSync(join(elsewhere, 'other', 'a'), 'a');
  service = await startTestService({
    env: { LD_PRELOAD: library, SILENT_DISK: isSilent, GANNET_MEDIA_FOLDERS: `${root},${elsewhere}` },
  });
  for (const name of [...SILENT, 'other']) {
    const body = { name, kind: 'folder', folder: join(name === 'other' ? elsewhere : root, name) };
    expect(await service.control().post('/media-store/default', body)).toMatchObject({ status: 201 });
  }
});
afterAll(async () => {
  rmSync(isSilent, { force: true });
  await service.close();
  rmSync(root, { recursive: true });
  rmSync(elsewhere, { recursive: true });
});

const read = (path: string) => service.client.send('GET', `/media/default/${path}`, {});

itWhere(otherDisk !== undefined, `${PLACES.join(', ')} and temporary files are on one disk`)(
  'A media store that does not answer delays no store on another disk and no write, and works when it answers again',
  async () => {
    expect(await read('one/silent')).toMatchObject({ status: 200, text: 'here' });
    writeFileSync(isSilent, '');
    const waiting = SILENT.flatMap((name) => Array.from({ length: READERS }, () => read(`${name}/silent`)));
    // The service's own files, its environments and host names are handled by the same threads.
    const put = await service.client.send('PUT', '/media/default/default/file', { bytes: 'mine' });
    expect(put.status).toBe(201);
    expect(await read('default/file')).toMatchObject({ status: 200, text: 'mine' });
    expect(await read('other/a')).toMatchObject({ status: 200, text: 'a' });
    expect(await service.client.post('/list/default', { name: 'films' })).toMatchObject({ status: 201 });
    rmSync(isSilent);
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    // On a slow machine, some were refused meanwhile.
    expect(statuses.every((status) => status === 200 || status === 503)).toBe(true);
    await expect.poll(async () => (await read('one/silent')).status).toBe(200);
  },
);

itWhere(otherDisk !== undefined, `${PLACES.join(', ')} and temporary files are on one disk`)(
  'A folder of backups that does not answer does not delay listing the backups on another disk',
  async () => {
    const [silent, other] = [join(elsewhere, 'kept', 'silent'), join(root, 'kept')];
    for (const folder of [silent, other]) mkdirSync(folder, { recursive: true });
    writeFileSync(isSilent, '');
    const waiting = Array.from({ length: READERS }, () => service.control().get('/backup', { folder: silent }));
    const told = await service.control().get('/backup', { folder: other });
    expect([told.status, told.text]).toEqual([200, expect.stringContaining('backups')]);
    rmSync(isSilent);
    for (const { status } of await Promise.all(waiting)) expect([200, 503]).toContain(status);
  },
);

it('A silent folder for a backup delays no other request, and gets the backup when it answers', async () => {
  const folder = join(elsewhere, 'backups', 'silent');
  mkdirSync(folder, { recursive: true });
  writeFileSync(isSilent, '');
  const asked = Array.from({ length: READERS }, () => service.control().post('/backup', { folder }));
  expect(await service.client.post('/list/default', { name: 'plays' })).toMatchObject({ status: 201 });
  const written = await service.client.post('/search-result/default/plays', { name: 'a', title: 'one' });
  expect(written.status).toBe(201);
  expect(await service.client.get('/search/default/plays/1', { query: 'one' })).toMatchObject({ status: 200 });
  rmSync(isSilent);
  // Only one is made at a time; on a slow machine, some were told that the disk does not answer.
  for (const { status } of await Promise.all(asked)) expect([201, 409, 503]).toContain(status);
  await expect.poll(async () => (await service.control().post('/backup', { folder })).status).toBe(201);
});
