/** Opens feeds: their operations, and the host of the thread that reads sources. */
import { join } from 'node:path';
import type { Catalog, ListRecord } from '../catalog/index.js';
import { MEDIA_STORES } from '../media/index.js';
import { provide, searchSettings, type FeatureParts, type FeaturePlatform } from '../operations/index.js';
import { createWorkerThread, loggedWorker } from '../platform/hosts/index.js';
import { PLANS } from '../plans/index.js';
import { compiledFile, GiveWay, ServiceError, settingsOf, type OutboundRules } from '../platform/index.js';
import { systemTimers } from '../platform/work/index.js';
import { createFeedMetrics } from './feed-metrics.js';
import { feedOperations } from './feed-operations.js';
import { FEED_SETTINGS, type FeedSettings } from './feed-settings.js';
import { FeedStore } from './feed-store.js';
import { Feeds } from './feeds.js';
import { ListImporter } from './list-importer.js';
import { labelOf, ListSources } from './list-sources.js';
import { FEEDS, type FeedsPart } from './part.js';
import { sourceOperations } from './source-operations.js';
import { SourceStore } from './source-store.js';
import type { SourceRow } from './types.js';
import type { FeedProtocol, FeedWorkerData } from './worker/feed-protocol.js';

const WORKER_HEAP_MIB_MAX = 1024;
/** Niceness, of at most 19: a crawl gives way to searches. */
const NICENESS = 15;
/** The thread ends after so long without a question. */
const IDLE_MS_MAX = 60_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1000;

export const feedParts: FeatureParts = {
  operations: [...feedOperations, ...sourceOperations],
  open(platform) {
    const part = createFeeds(platform);
    const { feeds, sources } = part;
    const media = platform.part(MEDIA_STORES);
    media.usedBy((account, store) => [...feeds.usersOf(account, store), ...sources.usersOf(account, store)]);
    return {
      parts: [provide(FEEDS, part)],
      async forget({ subject, account, id }) {
        if (subject === 'account') await feeds.forgetAccount(account);
        if (subject === 'list') await sources.disconnect(id);
        return true;
      },
      uses: (list) => sources.of(list) !== undefined,
      start() {
        if (!platform.listen) return;
        sources.start();
        feeds.start().catch((error: unknown) => platform.log.error({ err: error }, 'Could not start feeds'));
      },
      troubles: () => Promise.resolve([...feeds.troubles(), ...sources.troubles()]),
      async close() {
        await feeds.stop();
        await sources.stop();
        await part.host.close();
      },
    };
  },
};

function createFeeds(platform: FeaturePlatform): FeedsPart & { readonly host: ReturnType<typeof createHost> } {
  const { config, dataDir, environment, secrets, progress, clock, log } = platform;
  const settings = settingsOf(config, FEED_SETTINGS);
  const media = platform.part(MEDIA_STORES);
  const metrics = createFeedMetrics(platform.metrics);
  const outbound = { ...config.outbound, plain_http: settings.plain_http };
  const host = createHost(platform, { settings, outbound }, (...event) => feeds.runner.hear(event));
  const sourceStore = new SourceStore(environment, clock);
  const common = { media, clock, log, metrics, parallelMax: settings.parallel };
  const importer = new ListImporter({
    ...common,
    sources: sourceStore,
    indexOf: (row) => indexOf(platform, row),
    labelOf,
    timers: systemTimers,
    giveWay: new GiveWay(platform.searchActivity.shared),
  });
  const sources = new ListSources({
    ...common,
    store: sourceStore,
    importer,
    timers: systemTimers,
    checkSeconds: settings.source_check_seconds,
  });
  const { plans } = platform.part(PLANS);
  const store = new FeedStore(environment, secrets, { clock, feedsMax: settings.feeds_max, plans });
  plans.meter('feeds', (account) => store.count(account));
  const feeds: Feeds = new Feeds({
    ...common,
    store,
    sources,
    host,
    feedsDir: join(dataDir, 'feeds'),
    progress,
    timers: systemTimers,
    runMsMax: settings.run_minutes_max * MINUTE_MS,
  });
  return { feeds, sources, outbound, host };
}

function createHost(
  { log, metrics, searchActivity }: FeaturePlatform,
  { settings, outbound }: { readonly settings: FeedSettings; readonly outbound: OutboundRules },
  onEvent: Parameters<typeof createWorkerThread<FeedProtocol>>[0]['onEvent'],
) {
  const data: FeedWorkerData = {
    outbound,
    limits: {
      pagesPerSecond: settings.pages_per_second,
      runMsMax: settings.run_minutes_max * MINUTE_MS,
      retryAfterMsMax: settings.retry_after_seconds_max * SECOND_MS,
      pageBytesMax: settings.page_bytes_max,
      answerBytesMax: settings.answer_bytes_max,
      recordsMax: settings.records_max,
    },
    searches: searchActivity.shared,
  };
  return createWorkerThread<FeedProtocol>({
    name: 'feeds',
    entry: compiledFile('src/feeds/feed.worker'),
    data,
    heapMibMax: WORKER_HEAP_MIB_MAX,
    niceness: NICENESS,
    idleMsMax: IDLE_MS_MAX,
    ...(onEvent === undefined ? {} : { onEvent }),
    ...loggedWorker('feeds', { log, metrics }),
  });
}

function indexOf({ catalog, indexes }: FeaturePlatform, { list_id: listId, account, list: name }: SourceRow) {
  const named = catalog.list(account, name);
  const list = named?.id === listId ? named : listById(catalog, listId);
  if (list === undefined) throw new ServiceError('list-not-found', 'The list was deleted.');
  return Promise.resolve(indexes.opened(listId) ?? indexes.open(listId, searchSettings(list)));
}

function listById(catalog: Catalog, listId: string): ListRecord | undefined {
  for (const { name } of catalog.accounts()) {
    const list = catalog.lists(name).find(({ id }) => id === listId);
    if (list !== undefined) return list;
  }
  return undefined;
}
