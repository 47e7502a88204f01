/**
 * Tests a disk that reports errors under a backup or under the data directory: the error names which, nothing is left
 * behind, and the next backup is complete.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { canMountFaulty, FaultyFileSystem, type FaultyCall } from '../support/faulty-file-system.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

let root: string;
let data: FaultyFileSystem;
let target: FaultyFileSystem;
let service: TestService;
let folder: string;

const backUp = () => service.control().post('/backup', { folder });
const backups = () => readdirSync(join(root, 'backups', 'of'));

/** Checks that the refusal has this in its sentence. */
async function expectRefused(told: string): Promise<void> {
  expect(await backUp()).toMatchObject({
    status: expect.toBeOneOf([422, 503, 507]),
    body: { detail: expect.stringContaining(told) },
  });
}

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a backup on a disk that reports errors',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-backup-'));
      data = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      target = await FaultyFileSystem.mount(join(root, 'backups'), join(root, 'target'));
      folder = join(root, 'target', 'of');
      service = new TestService(join(root, 'on'), { dataDir: join(root, 'on') });
      await service.start();
      expect((await service.client.post('/list/default', { name: 'films' })).status).toBe(201);
      expect((await service.client.bulk('default', 'films', [{ name: 'a' }])).status).toBe(200);
      expect((await backUp()).status).toBe(201);
    });
    afterEach(async () => {
      await service.stop('SIGKILL');
      for (const disk of [data, target]) await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    const CALLS: readonly FaultyCall[] = ['write', 'sync', 'folder-sync', 'change', 'open', 'read', 'look'];

    it.each(CALLS)('names the folder if a %s there fails, and keeps the backup before it', async (call) => {
      await target.fail([call], 'EIO', '/of');
      // For an open file, the system names no path.
      await expectRefused(call === 'read' ? 'reports an error' : folder);
      await target.heal();
      expect((await backUp()).status).toBe(201);
      expect(backups()).toHaveLength(2);
      expect((await service.control().get('/backup/check', { folder })).body).toMatchObject({
        backups: [{ problem_count: 0 }, { problem_count: 0 }],
      });
    });

    it('works again when the catalogue can be read again', async () => {
      await data.fail(['read'], 'EIO', '/system/data.mdb');
      await data.forget();
      // The second one is refused for the same reason, and not because the first one were still under way.
      for (let attempt = 0; attempt < 2; attempt += 1) {
        expect(await backUp()).toMatchObject({ status: 503, body: { code: 'storage-damaged' } });
      }
      await data.heal();
      await eventually(backUp, ({ status }) => status === 201);
      expect(backups()).toHaveLength(2);
    });

    it('names what cannot be read in the data directory', async () => {
      const made = await service.client.post('/webhook', { url: 'https://example.com/', events: ['list.created'] });
      expect(made.status, made.text).toBe(201);
      for (const part of ['/store/data.mdb', '/secret-keys']) {
        await data.fail(['open'], 'EIO', part);
        await expectRefused(`${part} cannot be read, and belongs into the backup`);
        await data.heal();
      }
      expect(backups()).toHaveLength(1);
    });
  },
);
