/** Opens the feature of backups. */
import { Gauge } from 'prom-client';
import { MEDIA_STORES } from '../media/index.js';
import { CollectionStore } from '../catalog/index.js';
import { provide, searchSettings, type FeatureParts, type FeaturePlatform } from '../operations/index.js';
import type { OutboxSource } from '../platform/index.js';
import { backupOperations } from './backup-operations.js';
import { Backups } from './backups.js';
import { BACKUPS } from './backups-key.js';
import { HELD_ROWS_MAX, HeldRows } from './held-rows.js';

const SECOND_MS = 1000;

export const backupParts: FeatureParts = {
  operations: backupOperations,
  open({ dataDir, environment, environments, clock, log, progress, ...platform }) {
    const source = { dataDir, system: environment, environments, clock, log, indexes: platform.indexes };
    const rows = new HeldRows({
      rowsMax: HELD_ROWS_MAX,
      remove: (from) => removeRows({ ...platform, environment }, from),
      onLeft: ({ id }, error) => {
        log.warn({ err: error, id }, 'Events kept for a backup are removed with the next changes');
      },
    });
    const backups = new Backups(source, progress, platform.part(MEDIA_STORES), rows);
    const lastSuccess = new Gauge({
      name: 'gannet_backup_last_success_timestamp_seconds',
      help: 'When the last backup of this data directory was whole; 0: none was made',
      registers: [platform.metrics.registry],
    });
    platform.metrics.beforeReading(() => {
      const { last } = backups.state();
      lastSuccess.set(last === null ? 0 : Date.parse(last.finished_utc) / SECOND_MS);
    });
    return { parts: [provide(BACKUPS, backups)], events: backups.events, close: () => backups.close() };
  },
};

/** Removes rows of an outbox that were kept for a backup. A list at rest is opened for that. */
async function removeRows(
  { environment, catalog, indexes }: Pick<FeaturePlatform, 'environment' | 'catalog' | 'indexes'>,
  { id, kind }: OutboxSource,
): Promise<void> {
  if (kind === 'system') return CollectionStore.of(environment).removeToldRows();
  const list = catalog.listOfId(id);
  // The list is gone, with its outbox.
  if (list === undefined) return;
  await (await indexes.open(id, searchSettings(list))).removeToldRows();
}
