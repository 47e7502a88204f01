/** Data directories that somebody has put together by hand: copied from a backup, or with a part of them on another disk. */
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf, expectMoment, startWithLists } from '../support/backups.js';
import { gannet } from '../support/cli.js';

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-by-hand-'));
  dataDir = join(folder, 'data');
  const service = await startWithLists(dataDir);
  try {
    const put = await service.client.send('PUT', '/media/default/default/file', { bytes: 'content' });
    expect(put.status, put.text).toBe(201);
  } finally {
    await service.stop();
  }
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function done(at: string, ...argv: string[]): Promise<string> {
  const { status, output, notes } = await gannet(at, ...argv);
  expect(status, notes + output).toBe(0);
  return output;
}

async function backUp(from: string): Promise<string> {
  return (JSON.parse(await done(from, 'backup', join(folder, 'backups'), '--json')) as { path: string }).path;
}

const described = (backup: string) =>
  JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')) as { files: { path: string; bytes: number }[] };

describe('a data directory that was copied from a backup', () => {
  it('has backups that can be restored, though it has what that one said of itself', async () => {
    const copied = join(folder, 'copied');
    cpSync(await backUp(dataDir), copied, { recursive: true });
    const backup = await backUp(copied);
    expect(described(backup).files.map(({ path }) => path)).not.toContain('backup.json');
    expect(await done(copied, 'backup', 'check', backup)).toMatch(/\bwhole\n$/);
    const restored = join(folder, 'restored');
    await done(restored, 'restore', backup);
    expectMoment(await contentOf(restored), new Map(), new Map());
  });

  it('had backups of an earlier release that told of it, and they are restored', async () => {
    const backup = await backUp(dataDir);
    const description = described(backup);
    const files = [{ path: 'backup.json', bytes: 1 }, ...description.files];
    writeFileSync(join(backup, 'backup.json'), JSON.stringify({ ...description, files }));
    expect(await done(dataDir, 'backup', 'check', backup)).toMatch(/\bwhole\n$/);
    const restored = join(folder, 'restored');
    await done(restored, 'restore', backup);
    expectMoment(await contentOf(restored), new Map(), new Map());
  });
});

describe('a data directory whose files are on another disk, by a link', () => {
  it('has them in its backups, and what is linked in a circle once', async () => {
    const elsewhere = join(folder, 'elsewhere');
    renameSync(join(dataDir, 'media'), elsewhere);
    symlinkSync(elsewhere, join(dataDir, 'media'));
    symlinkSync('.', join(elsewhere, 'again'));
    symlinkSync(join(folder, 'nowhere'), join(elsewhere, 'lost'));
    symlinkSync(folder, join(dataDir, 'of-somebody-else'));
    const backup = await backUp(dataDir);
    const media = described(backup).files.filter(({ path }) => path.startsWith('media/'));
    expect(media.map(({ bytes }) => bytes)).toEqual(['content'.length]);
    expect(described(backup).files.filter(({ path }) => path.startsWith('of-somebody-else'))).toEqual([]);
    const restored = join(folder, 'restored');
    await done(restored, 'restore', backup);
    // Every file is there as it was put.
    expectMoment(await contentOf(restored), new Map(), new Map());
  });
});
