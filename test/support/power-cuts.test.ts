/** Tests that power cuts of `faulty-file-system.c` lose what was not synced, and nothing else. */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMountFaulty, FaultyFileSystem } from './faulty-file-system.js';
import { describeWhere } from './skip.js';

const NOTHING_KEPT = { seed: 1, keptTenths: 0 };

let root: string;
let disk: FaultyFileSystem | undefined;

const at = (...parts: string[]) => join(root, 'on', ...parts);
const under = (...parts: string[]) => join(root, 'under', ...parts);

async function mount(): Promise<void> {
  disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'), join(root, 'lost'));
}

async function cut(): Promise<void> {
  await disk?.cutPower(NOTHING_KEPT, () => undefined);
  await disk?.unmount();
  disk = undefined;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  fsyncSync(file);
  closeSync(file);
}

function writeSynced(path: string, content: string): void {
  writeFileSync(path, content);
  sync(path);
  sync(dirname(path));
}

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a power cut',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-power-'));
      await mount();
    });
    afterEach(async () => {
      await disk?.unmount();
      rmSync(root, { recursive: true, force: true });
    });

    it('loses what was written since the last sync of a file, and keeps what was written before', async () => {
      writeSynced(at('file'), 'a'.repeat(10_000));
      const file = openSync(at('file'), 'r+');
      writeSync(file, 'b'.repeat(10), 5000);
      fsyncSync(file);
      writeSync(file, 'c'.repeat(20_000), 0);
      expect(readFileSync(at('file'), 'utf8')).toBe('c'.repeat(20_000));
      closeSync(file);
      truncateSync(at('file'), 3);
      await cut();
      expect(readFileSync(under('file'), 'utf8')).toBe(`${'a'.repeat(5000)}${'b'.repeat(10)}${'a'.repeat(4990)}`);
    });

    it('keeps every write through a descriptor with O_DSYNC, but not what another descriptor wrote', async () => {
      writeSynced(at('file'), 'a'.repeat(8192));
      const file = openSync(at('file'), 'r+');
      writeSync(file, 'lost', 10);
      const through = openSync(at('file'), constants.O_RDWR | constants.O_DSYNC);
      writeSync(through, 'kept', 100);
      fsyncSync(through);
      for (const each of [file, through]) closeSync(each);
      await cut();
      const expected = `${'a'.repeat(100)}kept${'a'.repeat(8192 - 104)}`;
      expect(readFileSync(under('file'), 'utf8')).toBe(expected);
    });

    it('loses names created, removed and moved since the last sync of their folder, and keeps earlier ones', async () => {
      for (const name of ['stays', 'removed', 'moved', 'under']) writeSynced(at(name), name);
      mkdirSync(at('folder'));
      sync(at());
      writeSynced(at('folder', 'inner'), 'inner');
      writeFileSync(at('new'), 'new');
      sync(at('new'));
      unlinkSync(at('removed'));
      renameSync(at('moved'), at('under'));
      linkSync(at('stays'), at('link'));
      rmSync(at('folder'), { recursive: true });
      await cut();
      expect(readFileSync(under('folder', 'inner'), 'utf8')).toBe('inner');
      for (const name of ['stays', 'removed', 'moved', 'under']) expect(readFileSync(under(name), 'utf8')).toBe(name);
      for (const name of ['new', 'link']) expect(existsSync(under(name))).toBe(false);
    });

    it('keeps a file that was moved over another as soon as the folder is synced', async () => {
      writeSynced(at('file'), 'old');
      writeFileSync(at('file.new'), 'new');
      sync(at('file.new'));
      renameSync(at('file.new'), at('file'));
      sync(at());
      await cut();
      expect(readFileSync(under('file'), 'utf8')).toBe('new');
      expect(existsSync(under('file.new'))).toBe(false);
    });

    it('loses what was waiting for a sync that failed, whatever is synced later', async () => {
      writeSynced(at('file'), 'old old old');
      const file = openSync(at('file'), 'r+');
      writeSync(file, 'new', 0);
      await disk?.fail(['sync'], 'EIO', '/file');
      expect(() => fsyncSync(file)).toThrow(/EIO/);
      await disk?.heal();
      fsyncSync(file);
      closeSync(file);
      await cut();
      expect(readFileSync(under('file'), 'utf8')).toBe('old old old');
    });
  },
);
