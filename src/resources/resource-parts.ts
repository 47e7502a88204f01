/** Files that records link to, as they are read in the service. */
import { DOCUMENTS, DOCUMENT_SETTINGS } from '../documents/index.js';
import { MEDIA_STORES } from '../media/index.js';
import type { FeatureParts, FeaturePlatform } from '../operations/index.js';
import { settingsOf } from '../platform/index.js';
import { mediaFiles, mediaUrl } from './media-files.js';
import { createResourceMetrics } from './resource-metrics.js';
import { resourceLists, resourceOperations } from './resource-operations.js';
import { ResourceReader } from './resource-reader.js';
import { RESOURCE_SETTINGS } from './settings.js';
import { WebFiles } from './web-files.js';

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;

export const resourceParts: FeatureParts = {
  operations: resourceOperations,
  lists: resourceLists,
  open(platform) {
    const { config, indexes, listen } = platform;
    const settings = settingsOf(config, RESOURCE_SETTINGS);
    const { bytes_max: bytesMax } = settingsOf(config, DOCUMENT_SETTINGS);
    const stores = platform.part(MEDIA_STORES);
    const web = new WebFiles({
      rules: config.outbound,
      bytesMax,
      totalMs: settings.fetch_seconds * SECOND_MS,
      connectionsPerHost: settings.connections_per_host,
      connections: settings.parallel,
    });
    const reader = new ResourceReader({
      documents: platform.part(DOCUMENTS),
      web: web.fetch,
      media: mediaFiles(stores),
      metrics: createResourceMetrics(platform.metrics),
      bytesMax,
      parallel: settings.parallel,
      parallelPerList: settings.parallel_per_list,
      checkMs: settings.check_hours * HOUR_MS,
      retryMs: settings.retry_seconds.map((seconds) => seconds * SECOND_MS),
    });
    stores.usedBy((account, store) => usersOf(platform, account, store));
    stores.onChange((account, store, path) => {
      fileChanged(platform, account, mediaUrl(store, path));
    });
    return {
      // A process that serves one command leaves what there is to read to the service.
      start: () => {
        if (listen) indexes.useReader(reader);
      },
      close: () => {
        reader.close();
        return web.close();
      },
    };
  },
};

/** Lists of the account whose records link to files of the store. */
function usersOf({ catalog, indexes }: FeaturePlatform, account: string, store: string): string[] {
  const lists = catalog.lists(account).filter(({ id }) => indexes.linksBelow(id, mediaUrl(store, '')));
  return lists.map(({ name }) => `list ${name}`);
}

/** What nobody hears of now is found out at the next look. */
function fileChanged({ catalog, indexes, log }: FeaturePlatform, account: string, url: string): void {
  for (const { id, name } of catalog.lists(account)) {
    indexes
      .opened(id)
      ?.files.changed([url])
      .catch((error: unknown) => {
        log.warn({ err: error, account, list: name }, 'A changed file is looked at later');
      });
  }
}
