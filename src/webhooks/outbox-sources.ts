/** Opens outboxes of events: that of `data/system`, and those of the lists' stores. One thread only. */
import {
  openEnvironment,
  Outbox,
  OUTBOX_DATABASE,
  type LmdbEnvironment,
  type OutboxEvent,
  type OutboxSource,
} from '../platform/index.js';
import type { RelaySources } from '../platform/work/index.js';
import { RecordStoreCache } from '../records/index.js';
import { hasStore } from '../store/index.js';

export class OutboxSources implements RelaySources<OutboxSource, OutboxEvent> {
  private readonly stores = new RecordStoreCache();
  private system: { readonly environment: LmdbEnvironment; readonly outbox: Outbox } | undefined;

  open({ kind, path }: OutboxSource): Outbox | undefined {
    if (kind === 'list') return hasStore(path) ? this.stores.get(path).outbox : undefined;
    this.system ??= openSystem(path);
    this.system.environment.root.resetReadTxn();
    return this.system.outbox;
  }

  release({ path }: OutboxSource): void {
    this.stores.release(path);
  }

  async close(): Promise<void> {
    await this.stores.close();
    await this.system?.environment.close();
  }
}

/** Called once: opening a database takes the write lock, and would block the thread while a change is being written. */
function openSystem(path: string): { readonly environment: LmdbEnvironment; readonly outbox: Outbox } {
  const environment = openEnvironment(path, { kind: 'system' });
  return { environment, outbox: new Outbox(environment.database(OUTBOX_DATABASE)) };
}
