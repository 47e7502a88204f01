/** What a run requests from media stores. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { ListQuery, MediaStores } from '../media/index.js';
import { ProgressBoard, systemClock } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createFeedMetrics } from './feed-metrics.js';
import { FeedRunner, type FeedRunnerOptions } from './feed-runner.js';
import { NEW_FEED } from './runs/feed-state.js';
import type { FeedRow } from './types.js';

const RUN_MS_MAX = 60_000;
/** Pages of the listing after which the time of a run is over. */
const PAGES = 5;

it("A run ends when its time is over, however long a bucket's listing goes on", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-runner-'));
  mkdirSync(join(dataDir, 'system'));
  // The time is over with a page of the listing, however long a busy machine takes until then.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const settings = { store: 'bucket', prefix: '', include: [] };
  const row = {
    ...{ id: 'id', account: 'default', name: 'files', media_store: 'default' },
    ...{ provider: { name: 'media-store', settings }, interval_minutes: 30, state: NEW_FEED },
  } as unknown as FeedRow;
  let pages = 0;
  const store = {
    stat: () => Promise.resolve(undefined),
    // Each page has one file, always another one.
    list: async ({ signal }: ListQuery) => {
      await new Promise(setImmediate);
      signal?.throwIfAborted();
      pages += 1;
      if (pages === PAGES) vi.advanceTimersByTime(RUN_MS_MAX);
      const path = String(pages).padStart(9, '0');
      return { files: [{ path, bytes: 1, contentType: '', etag: '', modifiedUtc: '' }], hasMore: true };
    },
  };
  let state = NEW_FEED;
  const runner = new FeedRunner({
    feeds: {
      get: () => row,
      change: (_id: string, change: (before: FeedRow) => Partial<FeedRow>) => {
        state = change(row).state ?? state;
        return Promise.resolve(row);
      },
    } as unknown as FeedRunnerOptions['feeds'],
    media: { open: () => store, row: () => undefined } as unknown as MediaStores,
    host: {} as FeedRunnerOptions['host'],
    feedsDir: join(dataDir, 'feeds'),
    progress: new ProgressBoard(),
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics: createFeedMetrics(createMetrics()),
    onSynced: () => Promise.resolve(),
    runMsMax: RUN_MS_MAX,
  });
  await runner.run('id');
  expect(pages).toBe(PAGES);
  expect(state.error?.message).toMatch(/^The time of a run was over/);
  rmSync(dataDir, { recursive: true });
});
