/**
 * Tests what `/ready` says about the disk of the data directory, so that a load balancer does not send changes where
 * they are refused.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMountExt4, Ext4Disk } from '../support/ext4-disk.js';
import { canMountFaulty, FaultyFileSystem } from '../support/faulty-file-system.js';
import { describeWhere, itWhere } from '../support/skip.js';
import { TestService } from '../support/service.js';

let root: string;
let dataDir: string;
let service: TestService;
let disk: Ext4Disk | undefined;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gannet-ready-'));
  dataDir = join(root, 'data');
  mkdirSync(dataDir);
  service = new TestService(dataDir, { dataDir });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  disk?.unmount();
  disk = undefined;
  rmSync(root, { recursive: true, force: true });
});

const ready = () => service.clientWith(undefined).get('/ready');

const hasExt4 = canMountExt4();
const NO_EXT4 = 'no ext4 over a loop device here (root)';

const refused = { status: 507, body: { code: 'storage-failed' } };

async function makeList(name: string): Promise<void> {
  const { client } = service;
  expect((await client.post('/list/default', { name, searchable_fields: [{ name: 'title' }] })).status).toBe(201);
  expect((await client.bulk('default', name, [{ name: 'a', title: 'one' }])).status).toBe(200);
}

const search = (list: string) => service.client.get(`/search/default/${list}/1`, { query: 'one' });

itWhere(hasExt4, NO_EXT4)(
  'GET /ready answers 200 on a read-only disk and says so, and searches are served while changes are refused',
  async () => {
    disk = Ext4Disk.mount(join(root, 'image'), dataDir);
    await service.start();
    const { client } = service;
    await makeList('films');
    expect(await search('films')).toMatchObject({ body: { total_count: 1 } });
    expect((await ready()).body).toEqual({ status: 'ready' });
    disk.meetError();
    expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', writes: 'refused' } });
    expect(await search('films')).toMatchObject({ body: { total_count: 1 } });
    expect(await client.post('/list/default', { name: 'plays' })).toMatchObject(refused);
    expect(await client.bulk('default', 'films', [{ name: 'b', title: 'two' }])).toMatchObject(refused);
    expect(await client.send('DELETE', '/list/default/films', {})).toMatchObject(refused);
    expect(await service.control().post('/api-key/default', { name: 'k', access: 'full' })).toMatchObject(refused);
    expect(await search('films')).toMatchObject({ body: { total_count: 1 } });
  },
);

itWhere(hasExt4, NO_EXT4)('A service on a read-only disk serves lists that no thread had opened before', async () => {
  disk = Ext4Disk.mount(join(root, 'image'), dataDir);
  await service.start();
  const lists = ['films', 'plays', 'songs'];
  for (const list of lists) await makeList(list);
  expect(await service.stop()).toBe(0);
  await service.start();
  disk.meetError();
  for (let turn = 0; turn < 4; ++turn) {
    for (const list of lists) {
      expect(await search(list)).toMatchObject({ status: 200, body: { total_count: 1 } });
      expect(await service.client.get(`/search-result/default/${list}`)).toMatchObject({ status: 200 });
      expect(await service.client.bulk('default', list, [{ name: 'b', title: 'two' }])).toMatchObject(refused);
    }
  }
  await service.stop('SIGKILL');
  await expect(service.start()).rejects.toThrow(
    /exit status 1[^]*The data directory .* cannot be used: cannot open the lock file .*: Read-only file system\.\n/,
  );
});

it('GET /ready answers 503 while the data directory is missing, and 200 when it is back', async () => {
  await service.start();
  renameSync(dataDir, `${dataDir}-gone`);
  expect(await ready()).toMatchObject({
    status: 503,
    body: { code: 'not-ready', detail: expect.stringMatching(/data directory cannot be reached: .*ENOENT/) },
  });
  expect((await service.clientWith(undefined).get('/health')).status).toBe(200);
  renameSync(`${dataDir}-gone`, dataDir);
  expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } });
});

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'on a disk that fails',
  () => {
    let faulty: FaultyFileSystem;
    beforeEach(async () => {
      faulty = await FaultyFileSystem.mount(join(root, 'under'), dataDir);
      await service.start();
    });
    afterEach(async () => {
      // A process that waits for the disk cannot be killed.
      await faulty.heal();
      await service.stop('SIGKILL');
      await faulty.unmount();
    });

    it('/ready is 503 while the disk does not answer and 200 when it does, and the process keeps running', async () => {
      await faulty.hold(['look'], '/system/data.mdb');
      const [first, second] = await Promise.all([ready(), ready()]);
      for (const answer of [first, second]) {
        expect(answer).toMatchObject({
          status: 503,
          body: { code: 'not-ready', detail: expect.stringContaining('has not answered for 5 s') },
        });
      }
      expect((await service.clientWith(undefined).get('/health')).status).toBe(200);
      await faulty.heal();
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } });
    });

    it('/ready is 200 while the disk does not list its folders, and no other request waits', async () => {
      await faulty.hold(['open'], '/');
      const asked = ready();
      expect((await service.clientWith(undefined).get('/health')).status).toBe(200);
      expect(await asked).toMatchObject({ status: 200, body: { status: 'ready' } });
      await faulty.heal();
    });

    it('/ready is 200 while the first upload waits for the disk to create the folders of its store', async () => {
      await faulty.hold(['change', 'folder-sync'], '/media');
      const put = service.client.send('PUT', '/media/default/default/file', { bytes: 'mine' });
      // Sent after the upload, so that the service has received the upload before.
      expect(await service.client.send('PUT', '/media/default/none/file', { bytes: 'mine' })).toMatchObject({
        status: 404,
      });
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready' } });
      await faulty.heal();
      expect((await put).status).toBe(201);
    });

    it('/ready is 200 if the disk is full or only writes fail, and 503 if the catalogue cannot be read', async () => {
      for (const code of ['ENOSPC', 'EDQUOT'] as const) {
        await faulty.fail(['times', 'write', 'change'], code, '/');
        expect((await ready()).body).toEqual({ status: 'ready' });
        const answer = await service.client.post('/list/default', { name: 'plays' });
        expect(answer).toMatchObject({ status: 507, body: { code: 'storage-full' } });
        await faulty.heal();
      }
      await faulty.fail(['times'], 'EIO', '/lock');
      expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', writes: 'refused' } });
      await faulty.heal();
      await faulty.fail(['look'], 'EIO', '/system/data.mdb');
      expect(await ready()).toMatchObject({ status: 503, body: { code: 'not-ready' } });
      await faulty.heal();
      await makeList('plays');
      expect(await search('plays')).toMatchObject({ status: 200, body: { total_count: 1 } });
    });
  },
);
