import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MediaStore } from '../media/index.js';
import { FeedFolder } from './feed-folder.js';

it('makes no data directory in the place of one that is gone, and goes on when it is back', async () => {
  const above = mkdtempSync(join(tmpdir(), 'gannet-feed-folder-'));
  try {
    const dataDir = join(above, 'data');
    mkdirSync(join(dataDir, 'system'), { recursive: true });
    const folder = new FeedFolder(join(dataDir, 'feeds', 'id'));
    const store = { stat: () => Promise.resolve(undefined) } as unknown as MediaStore;
    renameSync(dataDir, `${dataDir}-away`);
    await expect(folder.fetch(store, 'feeds/f.sync')).rejects.toMatchObject({ code: 'storage-failed' });
    expect(existsSync(dataDir)).toBe(false);
    renameSync(`${dataDir}-away`, dataDir);
    expect(await folder.fetch(store, 'feeds/f.sync')).toBe(true);
  } finally {
    rmSync(above, { recursive: true, force: true });
  }
});
