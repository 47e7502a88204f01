/** Opens media stores as parts of the running service. */
import { provide, type FeatureParts } from '../operations/index.js';
import { settingsOf } from '../platform/index.js';
import type { OutboundClient } from '../platform/outbound/outbound-client.js';
import { PLANS } from '../plans/index.js';
import { FolderStore } from './folder/folder-store.js';
import { createMediaMetrics } from './media-metrics.js';
import { mediaOperations } from './media-operations.js';
import { mediaStoreOperations } from './media-store-operations.js';
import { MEDIA_STORES, MediaStores, type StoreOpener } from './media-stores.js';
import { S3Client } from './s3/s3-client.js';
import { createS3Outbound } from './s3/s3-outbound.js';
import { S3Store } from './s3/s3-store.js';
import { emptyPartsFolder } from './parts-folder.js';
import { MEDIA_SETTINGS } from './settings.js';
import type { FileEvents, MediaStore } from './media-store.js';
import type { StoreKind } from './store-kinds.js';
import type { SettingsOf, StoreRow, StoreSettings } from './types.js';
import { assertKnownKind, STORE_SETTINGS, StoreSettingsReader } from './store-settings.js';

interface OpenedStore<Settings extends StoreSettings> {
  readonly row: StoreRow;
  readonly settings: Settings;
  /** Folders in the store's folder, of which the last is the store. */
  readonly below: readonly string[];
  readonly events: FileEvents;
}

/** Functions that open a store of each kind. */
type Openers = { readonly [Kind in StoreKind]: (opened: OpenedStore<SettingsOf<Kind>>) => MediaStore };

export const mediaParts: FeatureParts = {
  operations: [...mediaStoreOperations, ...mediaOperations],
  open({ config, dataDir, environment, catalog, secrets, clock, log, metrics, listen, ...platform }) {
    const settings = settingsOf(config, MEDIA_SETTINGS);
    const partsFolder = emptyPartsFolder(dataDir);
    let client: OutboundClient | undefined;
    const outbound = () => (client ??= createS3Outbound(config.outbound, settings.file_bytes_max));
    const openers: Openers = {
      folder: ({ settings, below, events }) => new FolderStore({ path: settings.folder, below, events }),
      s3: ({ row, settings, below, events }) => {
        const place = { ...settings, prefix: settings.prefix + below.map((part) => `${part}/`).join('') };
        const bucket = new S3Client({ client: outbound(), settings: place, secret: reader.keptSecretOf(row) });
        return new S3Store({ client: bucket, prefix: place.prefix, events, partsFolder });
      },
    };
    const opener: StoreOpener = (row, events, below = []) => {
      const { settings } = row;
      assertKnownKind(row);
      // The settings belong to the kind of this opener.
      return (openers[settings.kind] as (opened: OpenedStore<StoreSettings>) => MediaStore)({
        row,
        settings,
        below,
        events,
      });
    };
    const mediaMetrics = createMediaMetrics(metrics, () => stores.used());
    const { plans } = platform.part(PLANS);
    const stores: MediaStores = new MediaStores({
      assertMayGrow: (account) => plans.assertWritable(account),
      settings,
      dataDir,
      environment,
      catalog,
      clock,
      log,
      opener,
      metrics: mediaMetrics,
    });
    plans.meter('storage_bytes', (account) => stores.builtInUsage(account)[0]);
    const reader = new StoreSettingsReader({
      folders: settings.folders,
      outbound: config.outbound,
      dataDir,
      secrets,
      stores,
    });
    return {
      parts: [provide(MEDIA_STORES, stores), provide(STORE_SETTINGS, reader)],
      forget: async ({ subject, account }) => {
        if (subject === 'account') await stores.forget(account);
        return true;
      },
      start: () => {
        if (listen) void stores.recover();
      },
      close: async () => {
        await stores.close();
        await client?.close();
      },
    };
  },
};
