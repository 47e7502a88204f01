/** What `/ready` says of the disk under the data directory: whoever balances load should not send changes where they are refused. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { itWhere } from '../support/skip.js';
import { TestService } from '../support/service.js';

let root: string;
let dataDir: string;
let service: TestService;
let mounted: string | undefined;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gannet-ready-'));
  dataDir = join(root, 'data');
  mkdirSync(dataDir);
  service = new TestService(dataDir, { dataDir });
});
afterEach(async () => {
  await service.stop('SIGKILL');
  unmount();
  rmSync(root, { recursive: true, force: true });
});

const ready = () => service.clientWith(undefined).get('/ready');

function unmount(): void {
  if (mounted !== undefined) execFileSync('umount', ['-l', mounted], { stdio: 'ignore' });
  mounted = undefined;
}

/** Ext4 over a file, which can be told that it has met an error; returns how. Undefined where this machine has no such thing. */
function ext4At(path: string): (() => void) | undefined {
  const image = join(root, 'image');
  const file = openSync(image, 'w');
  ftruncateSync(file, 128 * 2 ** 20);
  closeSync(file);
  try {
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'ignore' });
    execFileSync('mount', ['-o', 'loop,errors=remount-ro', image, path], { stdio: 'ignore' });
    mounted = path;
    const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n');
    const device =
      mounts
        .find((line) => line.split(' ')[1] === path)
        ?.split(' ')[0]
        ?.replace('/dev/', '') ?? '';
    const trigger = `/sys/fs/ext4/${device}/trigger_fs_error`;
    readFileSync(`/sys/fs/ext4/${device}/errors_count`);
    return () => {
      writeFileSync(trigger, '1');
    };
  } catch {
    unmount();
    return undefined;
  }
}

function hasExt4(): boolean {
  root = mkdtempSync(join(tmpdir(), 'gannet-ready-'));
  mkdirSync(join(root, 'on'));
  try {
    return ext4At(join(root, 'on')) !== undefined;
  } finally {
    unmount();
    rmSync(root, { recursive: true, force: true });
  }
}

itWhere(hasExt4(), 'no ext4 over a loop device here (root)')(
  'is 200 on a disk that can only be read, says so, and searches are served while changes are refused',
  async () => {
    const meetError = ext4At(dataDir);
    await service.start();
    const { client } = service;
    expect((await client.post('/list/default', { name: 'films', searchable_fields: [{ name: 'title' }] })).status).toBe(
      201,
    );
    expect((await client.bulk('default', 'films', [{ name: 'a', title: 'one' }])).status).toBe(200);
    expect(await client.get('/search/default/films/1', { query: 'one' })).toMatchObject({ body: { total_count: 1 } });
    expect((await ready()).body).toEqual({ status: 'ready' });
    meetError?.();
    expect(await ready()).toMatchObject({ status: 200, body: { status: 'ready', writes: 'refused' } });
    expect(await client.get('/search/default/films/1', { query: 'one' })).toMatchObject({ body: { total_count: 1 } });
    const refused = { status: 507, body: { code: 'storage-failed' } };
    expect(await client.post('/list/default', { name: 'plays' })).toMatchObject(refused);
    expect(await client.bulk('default', 'films', [{ name: 'b', title: 'two' }])).toMatchObject(refused);
    expect(await client.send('DELETE', '/list/default/films', {})).toMatchObject(refused);
    expect(await service.control().post('/api-key/default', { name: 'k', access: 'full' })).toMatchObject(refused);
    expect(await client.get('/search/default/films/1', { query: 'one' })).toMatchObject({ body: { total_count: 1 } });
  },
);

it('is 503 while the data directory is not there, and 200 when it is back', async () => {
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
