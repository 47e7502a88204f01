/** Tests `gannet media …` and `gannet media-store …`, with the service running and without. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { startTestService, type TestService } from '../support/service.js';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'gannet-media-cli-'));
const dataDir = join(folder, 'data');
const SETTINGS = { GANNET_LOG_LEVEL: 'warn', GANNET_MEDIA_FOLDERS: folder };
let service: TestService | undefined;
afterAll(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the standard output of the command; `input` is its standard input. */
async function gannet(args: readonly string[], input = ''): Promise<string> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GANNET_'));
  const env = { ...Object.fromEntries(inherited), ...SETTINGS, GANNET_DATA_DIR: dataDir };
  const command = run(process.execPath, ['bin/gannet.js', ...args], { env });
  command.child.stdin?.end(input);
  return (await command).stdout;
}

it('gannet media uploads and downloads whole files, whether the service runs or not', async () => {
  const source = join(folder, 'source.pdf');
  const content = randomBytes(700_000);
  writeFileSync(source, content);
  for (const place of ['alone', 'beside the service']) {
    if (place !== 'alone') service = await startTestService({ dataDir, env: SETTINGS });
    expect(await gannet(['media', 'put', source])).toMatch(/^media:default\/source\.pdf: .*application\/pdf\n$/);
    expect(await gannet(['media', 'put', '-', 'a/notes.txt'], 'from a pipe')).toContain('text/plain');
    expect(await gannet(['media', 'get', 'a/notes.txt'])).toBe('from a pipe');
    const target = join(folder, `${place}.pdf`);
    await gannet(['media', 'get', 'source.pdf', '-o', target]);
    expect(readFileSync(target).equals(content)).toBe(true);
    expect(await gannet(['media', 'list'])).toMatch(/^PATH .*\na\/notes\.txt .*\nsource\.pdf .*\n$/);
    expect(await gannet(['media-store', 'list'])).toMatch(/default +built-in +2 /);
    await expect(gannet(['media', 'get', 'missing', '-o', join(folder, 'missing')])).rejects.toThrow('file-not-found');
    expect(readdirSync(folder).filter((name) => name.startsWith('missing'))).toEqual([]);
    await gannet(['media', 'delete', 'source.pdf']);
    await gannet(['media', 'delete', 'a/notes.txt']);
    expect(await gannet(['media', 'list'])).toContain('There are no such files');
  }
  mkdirSync(join(folder, 'shared'));
  const shared = ['--kind', 'folder', '--folder', join(folder, 'shared')];
  expect(await gannet(['media-store', 'add', 'shared', ...shared])).toContain('Added the media store shared.');
  await gannet(['media', 'put', source, 'deep/er/x.bin', '--store', 'shared']);
  expect(readFileSync(join(folder, 'shared', 'deep', 'er', 'x.bin')).equals(content)).toBe(true);
  const bucket = ['--kind', 's3', '--endpoint', 'https://s3.example.com', '--bucket', 'files', '--access-key-id', 'A'];
  await gannet(['media-store', 'add', 'bucket', ...bucket], 'hunter2\n');
  expect(await gannet(['media-store', 'list', '--json'])).toMatch(/"has_secret": ?true/);
  await gannet(['media-store', 'delete', 'shared']);
  await gannet(['media-store', 'delete', 'bucket']);
  expect(readdirSync(join(folder, 'shared'))).toContain('deep');
  const { stdout } = await run('grep', ['-rlaF', 'hunter2', dataDir]).catch(() => ({ stdout: '' }));
  expect(stdout).toBe('');
});
