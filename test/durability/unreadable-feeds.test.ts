/**
 * Tests a disk that reports errors under the state of feeds, or a process without descriptors: a sync fails with a
 * sentence about it, and the next one is complete.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { canMountFaulty, FaultyFileSystem, type FaultyCall } from '../support/faulty-file-system.js';
import { FeedService, fill, siteOf } from '../support/feeds/feed-service.js';
import { FollowedFeed } from '../support/feeds/followed-feed.js';
import type { MadeSite } from '../support/feeds/made-site.js';
import { describeWhere } from '../support/skip.js';

const FAULTS: readonly (readonly [call: FaultyCall, part: string])[] = [
  ['write', '/feeds/'],
  ['change', '/feeds/'],
  ['read', '/feeds/'],
  ['open', '/feeds/'],
  ['write', '/media/'],
];

let root: string;
let disk: FaultyFileSystem;
let feeds: FeedService;
let site: MadeSite;

describeWhere(await canMountFaulty(), 'no file system of our own can be mounted here (libfuse 3, and root)')(
  'a feed on a disk that reports errors',
  () => {
    beforeEach(async () => {
      root = mkdtempSync(join(tmpdir(), 'gannet-unreadable-feeds-'));
      disk = await FaultyFileSystem.mount(join(root, 'under'), join(root, 'on'));
      site = await siteOf('a', 'b');
      feeds = await FeedService.start({ dataDir: join(root, 'on') });
    });
    afterEach(async () => {
      await feeds.service.stop('SIGKILL');
      await disk.unmount();
      await site.close();
      rmSync(root, { recursive: true, force: true });
    });

    it('names the disk as the cause in its status, keeps its records, and works again with the disk', async () => {
      const settings = { start_urls: [site.url('/')] };
      const feed = await FollowedFeed.connect(feeds, 'news', { provider: 'website', settings, base: site.url('') });
      let pages = 3;
      for (const [round, [call, part]] of FAULTS.entries()) {
        fill(site, ['a', 'b', `new${round}`], `Words of round ${round}. `.repeat(20));
        await disk.fail([call], 'EIO', part);
        await disk.forget();
        const { names, feed: shown } = await feed.sync();
        expect([names.length, shown.status], `${call} ${part}`).toEqual([pages, 'Failed']);
        expect(shown.error?.message, `${call} ${part}`).toMatch(/^The disk (?:refuses|reports)/u);
        await disk.heal();
        const whole = await feed.sync();
        pages = whole.names.length;
        expect([pages > 3, whole.feed.status]).toEqual([true, 'Synced']);
      }
    });
  },
);
