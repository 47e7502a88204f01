import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { MediaStore } from '../media/index.js';
import { FeedFolder } from './feed-folder.js';

it('FeedFolder creates no data directory in place of a missing one, and works when it is back', async () => {
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
