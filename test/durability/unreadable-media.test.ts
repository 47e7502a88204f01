/**
 * Tests a disk that reports errors under the contents of media stores: what was not accepted is refused, what is in
 * force is not reported as failed, and readers get an answer instead of a broken connection.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMountFaulty, FaultyFileSystem, type FaultyCall } from '../support/faulty-file-system.js';
import { TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

const STORE = '/media/default/default';
const LARGE_BYTES = 1_000_000;

let root: string;
let disk: FaultyFileSystem;
let service: TestService;

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function send(method: string, path: string, body?: string): Promise<Answered> {
  const headers = { 'x-api-key': key, 'content-type': 'text/plain' };
  const answer = await fetch(`${service.address}${STORE}/${path}`, { method, headers, body: body ?? null });
  return { status: answer.status, text: await answer.text() };
}
const put = (path: string, body: string) => send('PUT', path, body);
const get = (path: string) => send('GET', path);
const remove = (path: string) => send('DELETE', path);
const told = (code: string) => expect.stringContaining(`"code":"${code}"`);
const contents = () => readdirSync(join(root, 'under', 'media', 'default', 'default', 'blobs'));

let key: string;

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a media store on a disk that reports errors',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-media-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      service = new TestService(join(root, 'on'), { dataDir: join(root, 'on') });
      await service.start();
      ({ key } = await service.createKey({ access: 'full' }));
      expect((await put('kept', 'as it was')).status).toBe(201);
    });
    afterEach(async () => {
      await service.stop('SIGKILL');
      await disk.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    const WHERE: readonly (readonly [call: FaultyCall, part: string])[] = [
      ['write', '/incoming/'],
      ['sync', '/incoming/'],
      ['folder-sync', '/incoming'],
    ];

    it.each(WHERE)(
      'refuses an upload with a sentence if its %s fails, and keeps the file that was there',
      async (call, part) => {
        await disk.fail([call], 'EIO', part);
        for (const path of ['kept', 'new'])
          expect(await put(path, 'other')).toMatchObject({ status: 507, text: told('storage-failed') });
        expect(await get('kept')).toEqual({ status: 200, text: 'as it was' });
        expect((await get('new')).status).toBe(404);
        await disk.heal();
        expect((await put('kept', 'other')).status).toBe(200);
        expect(await get('kept')).toEqual({ status: 200, text: 'other' });
      },
    );

    it('answers changes in force as done if contents cannot be moved or deleted, and cleans up at the next start', async () => {
      await disk.fail(['change'], 'EIO', '/blobs/');
      expect((await put('new', 'new')).status).toBe(201);
      expect((await put('kept', 'other')).status).toBe(200);
      expect((await remove('new')).status).toBe(204);
      expect(await get('kept')).toEqual({ status: 200, text: 'other' });
      expect((await get('new')).status).toBe(404);
      await disk.heal();
      await service.stop();
      await service.start();
      expect(await get('kept')).toEqual({ status: 200, text: 'other' });
      expect((await put('last', 'last')).status).toBe(201);
      expect(contents()).toHaveLength(2);
    });

    it('refuses with an answer to read what cannot be read', async () => {
      expect((await put('large', 'x'.repeat(LARGE_BYTES))).status).toBe(201);
      for (const call of ['read', 'open'] as const) {
        await disk.fail([call], 'EIO', '/blobs/');
        await disk.forget();
        for (const path of ['kept', 'large'])
          expect(await get(path)).toMatchObject({ status: 503, text: told('storage-damaged') });
        await disk.heal();
        expect(await get('kept')).toEqual({ status: 200, text: 'as it was' });
        expect((await get('large')).text).toHaveLength(LARGE_BYTES);
      }
    });
  },
);
