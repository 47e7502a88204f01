/**
 * Tests a disk that fills up during the sync of a feed: under the state of feeds, and under the media store that has
 * their files.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FeedService, fill, siteOf } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import type { MadeSite } from '../support/feeds/made-site.js';
import { describeWhere } from '../support/skip.js';
import { canMount, SmallFileSystem } from '../support/small-file-system.js';

describeWhere(canMount('feeds on a full disk'), 'a small file system cannot be mounted here')('a full disk', () => {
  let dataDir: string;
  let disk: SmallFileSystem | undefined;
  let feeds: FeedService | undefined;
  let site: MadeSite;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'gannet-feeds-full-'));
    site = await siteOf('a', 'b');
  });
  afterEach(async () => {
    await feeds?.service.stop('SIGKILL');
    disk?.unmount();
    await site.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it.each(['feeds', 'media'])(
    'under %s fails the sync, and keeps the file and the list as they were',
    async (folder) => {
      disk = SmallFileSystem.mount(join(dataDir, folder));
      feeds = await FeedService.start({ dataDir, env: { GANNET_LOG_LEVEL: 'fatal' } });
      const base = site.url('');
      const settings = { start_urls: [site.url('/')] };
      const feed = await FollowedFeed.connect(feeds, 'news', { provider: 'website', settings, base });
      const before = (await feed.now()).records;
      expect(before.map(({ name }) => name)).toEqual(['/', '/a', '/b']);
      const file = (await feeds.file('news')).text;
      // More than there is room for, with each page smaller than that.
      fill(site, ['a', 'b', 'c', 'd', 'e', 'f'], 'Every word of it takes its place. '.repeat(6000));
      disk.shrinkTo(500_000);
      for (let round = 0; round < 2; round += 1) {
        const { records, feed: shown } = await feed.sync();
        expect([records, shown.status]).toEqual([before, 'Failed']);
        expect(shown.error?.message).toMatch(/space|full|room/);
        expect((await feeds.file('news')).text).toBe(file);
      }
      disk.grow();
      const { names, feed: shown } = await feed.sync();
      expect([names.length, shown.status]).toEqual([7, 'Synced']);
    },
  );
});
