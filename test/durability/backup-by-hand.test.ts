/** Tests data directories put together by hand: copied from a backup, or with a part of them on another disk. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contentOf, expectMoment, startWithLists } from '../support/backups.js';
import { gannet, gannetWith } from '../support/cli.js';
import { startTestService } from '../support/service.js';

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
  it('can be backed up and restored, although it contains the description of that backup', async () => {
    const copied = join(folder, 'copied');
    cpSync(await backUp(dataDir), copied, { recursive: true });
    const backup = await backUp(copied);
    expect(described(backup).files.map(({ path }) => path)).not.toContain('backup.json');
    expect(await done(copied, 'backup', 'check', backup)).toMatch(/\bwhole\n$/);
    const restored = join(folder, 'restored');
    await done(restored, 'restore', backup);
    expectMoment(await contentOf(restored), new Map(), new Map());
  });

  it('has restorable backups by an earlier release, which copied that description as well', async () => {
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

describe('a data directory with media on another disk, reached by a link', () => {
  /** Moves the media to another folder, and links them. */
  function mediaElsewhere(): string {
    const elsewhere = join(folder, 'elsewhere');
    renameSync(join(dataDir, 'media'), elsewhere);
    symlinkSync(elsewhere, join(dataDir, 'media'));
    return elsewhere;
  }

  it('includes the media in its backups, and follows links in a circle only once', async () => {
    const elsewhere = mediaElsewhere();
    writeFileSync(join(folder, 'a-file'), '');
    symlinkSync('.', join(elsewhere, 'again'));
    symlinkSync(join(folder, 'nowhere'), join(elsewhere, 'lost'));
    symlinkSync(join(folder, 'a-file', 'below'), join(elsewhere, 'lost-below-a-file'));
    symlinkSync(folder, join(dataDir, 'of-somebody-else'));
    const backup = await backUp(dataDir);
    const media = described(backup).files.filter(({ path }) => path.startsWith('media/'));
    expect(media.map(({ bytes }) => bytes)).toEqual(['content'.length]);
    expect(described(backup).files.filter(({ path }) => path.startsWith('of-somebody-else'))).toEqual([]);
    const restored = join(folder, 'restored');
    await done(restored, 'restore', backup);
    // Every file is as it was uploaded.
    expectMoment(await contentOf(restored), new Map(), new Map());
  });

  it('includes files once, even if a link in the folder leads back to it', async () => {
    symlinkSync('.', join(dataDir, 'media', 'again'));
    const media = described(await backUp(dataDir)).files.filter(({ path }) => path.startsWith('media/'));
    expect(media.map(({ bytes }) => bytes)).toEqual(['content'.length]);
  });

  it('refuses a backup while that disk is missing, instead of leaving the media out', async () => {
    const elsewhere = mediaElsewhere();
    renameSync(elsewhere, `${elsewhere}-gone`);
    const { status, notes } = await gannet(dataDir, 'backup', join(folder, 'backups'), '--keep', '1');
    expect(notes).toContain(`${join(dataDir, 'media')} is a link that leads nowhere`);
    expect(status).toBe(1);
    expect(await done(dataDir, 'backup', 'list', join(folder, 'backups'), '--json')).not.toContain('Z');
    renameSync(`${elsewhere}-gone`, elsewhere);
    await backUp(dataDir);
  });

  it('refuses a backup into that disk, as each would contain those before it', async () => {
    const backups = join(mediaElsewhere(), 'backups');
    const { status, notes } = await gannet(dataDir, 'backup', backups);
    expect(notes).toContain(`is in ${join(folder, 'elsewhere')}, where the link ${join(dataDir, 'media')} leads`);
    expect(status).toBe(1);
  });

  it('can be backed up to a media store on that disk, and no backup contains those before it', async () => {
    const elsewhere = join(folder, 'elsewhere');
    const store = join(elsewhere, 'store');
    mkdirSync(store, { recursive: true });
    const settings = { GANNET_MEDIA_FOLDERS: folder };
    const run = async (...argv: string[]) => {
      const { status, output, notes } = await gannetWith(settings, dataDir, ...argv);
      expect(status, notes + output).toBe(0);
      return output;
    };
    await run('media-store', 'add', 'disk', '--kind', 'folder', '--folder', store);
    cpSync(join(dataDir, 'media'), elsewhere, { recursive: true });
    rmSync(join(dataDir, 'media'), { recursive: true });
    symlinkSync(elsewhere, join(dataDir, 'media'));
    const files = async () => (JSON.parse(await run('backup', 'media:disk', '--json')) as { files: number }).files;
    const first = await files();
    expect(await files()).toBe(first);

    mkdirSync(join(elsewhere, 'more'));
    const more = ['--kind', 'folder', '--folder', join(elsewhere, 'more')];
    const refused = await gannetWith(settings, dataDir, 'media-store', 'add', 'more', ...more);
    expect(refused.notes).toContain('outside the data directory, and outside the folders that links in it lead to');
  });
});

describe('a data directory whose lists are on another disk', () => {
  it.each(['a link that leads nowhere', 'an empty folder'])(
    'refuses a backup without lists while the disk is missing and %s is left',
    async (left) => {
      const [lists, elsewhere] = [join(dataDir, 'lists'), join(folder, 'elsewhere')];
      const whole = await backUp(dataDir);
      const service = await startTestService({ dataDir });
      renameSync(lists, elsewhere);
      if (left === 'an empty folder') mkdirSync(lists);
      else symlinkSync(join(folder, 'nowhere'), lists);
      const { status, notes } = await gannet(dataDir, 'backup', join(folder, 'backups'), '--keep', '1');
      await service.stop();
      expect(notes).toContain('The folder of all lists cannot be reached, or is empty');
      expect(status).toBe(1);
      expect(readdirSync(join(folder, 'backups'))).toEqual([basename(whole)]);
      rmSync(lists, { recursive: true });
      renameSync(elsewhere, lists);
      await backUp(dataDir);
    },
  );
});
