/**
 * Tests that another local user can do nothing with a data directory, even if an earlier release or a copy left it
 * open.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { closeEntries, openEntries, OperatorError } from '../../src/platform/index.js';
import { gannet, gannetWith } from '../support/cli.js';
import { startTestService, type TestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
if (!isRoot) process.stdout.write('Skipped: trying files as another user, which takes root.\n');

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function folderOf(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function filled(dataDir: string): Promise<TestService> {
  const service = await startTestService({ dataDir });
  closing.push(() => service.close());
  await service.client.post('/list/default', { name: 'secret', searchable_fields: [{ name: 'title' }] });
  await service.client.bulk('default', 'secret', [{ name: 'a', title: 'words' }]);
  await service.client.get('/search/default/secret/1', { query: 'words' });
  return service;
}

/** A running service deletes files between one look and the other. */
const statsOf = (path: string) => lstatSync(path, { throwIfNoEntry: false });

function everything(path: string): string[] {
  if (statsOf(path)?.isDirectory() !== true) return [path];
  return [path, ...namesIn(path).flatMap((name) => everything(join(path, name)))];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function modes(path: string): Set<string> {
  return new Set(
    everything(path).flatMap((each) => {
      const stats = statsOf(each);
      if (stats === undefined) return [];
      return `${stats.isDirectory() ? 'folder' : stats.isSocket() ? 'socket' : 'file'} ${(stats.mode & 0o7777).toString(8)}`;
    }),
  );
}

/** Returns what a program of another user prints; it gets paths as arguments. */
function asNobody(script: string, ...paths: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script, ...paths], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    encoding: 'utf8',
  });
  return stdout + stderr;
}

const OPEN_EACH = `
const { openSync } = require('node:fs');
for (const path of process.argv.slice(1)) {
  try { openSync(path, 'r'); console.log('opened ' + path); } catch (error) { if (error.code !== 'EACCES') console.log(String(error)); }
}`;
const CONNECT = `
require('node:net').connect(process.argv[1]).on('connect', () => { console.log('connected'); process.exit(); })
  .on('error', (error) => console.log(error.code));`;

describe('the data directory', () => {
  it('is created with access for its owner only, and so is everything in it', async () => {
    const dataDir = join(folderOf('gannet-modes-'), 'data');
    await filled(dataDir);
    expect([...modes(dataDir)].sort()).toEqual(['file 600', 'folder 700', 'socket 600']);
    const { output } = await gannet(dataDir, 'export', '--list', 'secret', '-o', join(dataDir, '..', 'export.ndjson'));
    expect(output).toBe('');
    expect(lstatSync(join(dataDir, '..', 'export.ndjson')).mode & 0o777).toBe(0o600);
  });

  it('is restricted at the start if it was open, which doctor reports before and the log afterwards', async () => {
    const dataDir = folderOf('gannet-modes-');
    const service = await filled(dataDir);
    await service.stop();
    for (const folder of ['feeds', '.before-restore-x', '.backup-staging']) {
      mkdirSync(join(dataDir, folder));
      writeFileSync(join(dataDir, folder, 'kept'), 'of somebody');
    }
    writeFileSync(join(dataDir, 'lists-at-rest.new'), '{');
    for (const path of everything(dataDir)) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
    const before = modes(dataDir);
    const { output } = await gannet(dataDir, 'doctor');
    expect(output).toMatch(/! File permissions +other users can access \d+ of the files/);
    expect(modes(dataDir)).toEqual(before);
    await service.start();
    expect([...modes(dataDir)].sort()).toEqual(['file 600', 'folder 700', 'socket 600']);
    await expect.poll(() => service.output).toContain('Restricted files that other users could access');
    expect((await gannet(dataDir, 'doctor')).output).toContain('only the owner can access the files');
  });

  itWhere(isRoot, 'only root can be another user')(
    'lets no other user read a file, take the lock or call the control socket',
    async () => {
      const dataDir = folderOf('gannet-modes-');
      const service = await filled(dataDir);
      await service.stop();
      chmodSync(dataDir, 0o755);
      for (const path of everything(dataDir)) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
      const files = everything(dataDir);
      // This shows that the test can fail: the file could be opened before.
      expect(asNobody(OPEN_EACH, ...files)).toContain(`opened ${join(dataDir, 'lock')}`);
      await service.start();
      expect(asNobody(OPEN_EACH, ...everything(dataDir))).toBe('');
      expect(asNobody(CONNECT, join(dataDir, 'control.sock')).trim()).toBe('EACCES');
      await service.stop();
      expect(asNobody(OPEN_EACH, join(dataDir, 'lock'))).toBe('');
      await service.start();
    },
  );

  it('with a path too long for a socket keeps the socket where only its owner has access, and deletes it', async () => {
    const dataDir = join(folderOf('gannet-modes-'), 'long'.repeat(30));
    const service = await startTestServiceOf(dataDir);
    const socket = readFileSync(join(dataDir, 'control.path'), 'utf8');
    const folder = join(socket, '..');
    expect([...modes(folder)].sort()).toEqual(['folder 700', 'socket 600']);
    expect((await gannet(dataDir, 'key', 'list')).output).toContain('has no API keys');
    if (isRoot) expect(asNobody(CONNECT, socket).trim()).toBe('EACCES');
    // A killed service leaves the socket, and the next one deletes it.
    await service.stop('SIGKILL');
    const next = await startTestServiceOf(dataDir);
    expect(existsSync(folder)).toBe(false);
    await next.stop();
    expect(existsSync(join(dataDir, 'control.path'))).toBe(false);
  });
});

describe('a start with a long path', () => {
  it('fails if the folder for temporary files does not exist', async () => {
    const folder = folderOf('gannet-modes-');
    const dataDir = join(folder, 'long'.repeat(30));
    const { status, notes } = await gannetWith({ TMPDIR: join(folder, 'nowhere') }, dataDir, 'serve');
    expect(notes).toMatch(/is too long for that of a socket.* it does not exist .* by TMPDIR\./u);
    expect(status).not.toBe(0);
  });
});

describe("a folder with files that are not the service's", () => {
  it('keeps the permissions of those files', () => {
    const dataDir = folderOf('gannet-modes-');
    mkdirSync(join(dataDir, 'photos'));
    mkdirSync(join(dataDir, 'lists', 'one'), { recursive: true });
    const lists = [join(dataDir, 'lists'), join(dataDir, 'lists', 'one')];
    for (const path of [dataDir, join(dataDir, 'photos'), ...lists]) chmodSync(path, 0o755);
    expect(closeEntries(dataDir).closed.map(({ path }) => path)).toEqual([dataDir, ...lists]);
    expect(lstatSync(join(dataDir, 'photos')).mode & 0o777).toBe(0o755);
    expect(openEntries(dataDir)).toEqual([]);
  });

  it('is refused as a data directory if all users share it', async () => {
    const dataDir = folderOf('gannet-modes-');
    mkdirSync(join(dataDir, 'photos'));
    chmodSync(dataDir, 0o1777);
    expect(() => closeEntries(dataDir)).toThrow(OperatorError);
    const link = join(folderOf('gannet-modes-'), 'link');
    symlinkSync(dataDir, link);
    expect(() => closeEntries(link)).toThrow(OperatorError);
    const { status, notes } = await gannet(dataDir, 'serve');
    expect([status, notes]).toEqual([1, expect.stringMatching(/shared by all users: choose a folder of its own/)]);
    expect(lstatSync(dataDir).mode & 0o7777).toBe(0o1777);
  });

  it('is refused as a data directory, and its files are left as they are', async () => {
    const dataDir = folderOf('gannet-modes-');
    for (const name of ['media', 'ssl']) mkdirSync(join(dataDir, name));
    writeFileSync(join(dataDir, 'hosts'), '');
    for (const path of everything(dataDir)) chmodSync(path, 0o755);
    const { status, notes } = await gannet(dataDir, 'serve');
    expect([status, notes]).toEqual([
      1,
      expect.stringMatching(/cannot be used: it has other things in it \(hosts, ssl\)/),
    ]);
    expect(everything(dataDir).map((path) => lstatSync(path).mode & 0o777)).toEqual([0o755, 0o755, 0o755, 0o755]);
  });
});

describe('a folder for temporary files', () => {
  it('is refused, even if it is empty', () => {
    const dataDir = folderOf('gannet-modes-');
    const before = process.env['TMPDIR'];
    chmodSync(dataDir, 0o1777);
    process.env['TMPDIR'] = dataDir;
    try {
      expect(() => closeEntries(dataDir)).toThrow(OperatorError);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    expect(lstatSync(dataDir).mode & 0o7777).toBe(0o1777);
  });
});

describe('a separate file system', () => {
  it('is restricted, although its root is open to all users', () => {
    const dataDir = folderOf('gannet-modes-');
    mkdirSync(join(dataDir, 'lost+found'));
    chmodSync(dataDir, 0o1777);
    closeEntries(dataDir);
    expect(lstatSync(dataDir).mode & 0o7777).toBe(0o700);
  });
});

/** Starts without a client: keys are created over a socket whose path the test support does not know. */
async function startTestServiceOf(dataDir: string): Promise<{ stop(signal?: NodeJS.Signals): Promise<unknown> }> {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['bin/gannet.js', 'serve'], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir, GANNET_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await ended;
  };
  closing.push(() => stop());
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Gannet is ready on')) resolve();
    });
    child.once('exit', () => reject(new Error(`The service ended: ${output}`)));
  });
  return { stop };
}
