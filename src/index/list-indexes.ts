/** All lists of a data directory: opens, creates, clones and removes them. Main thread only. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Kernel } from '../../native-bindings/index.js';
import type { FieldDefinition } from '../catalog/index.js';
import { ServiceError, type Clock, type Config, type EventSink, type Metrics } from '../platform/index.js';
import type { IngestExecutor } from './ingest-tasks.js';
import { OpenListIndex } from './list-index.js';
import type { ListIndex, ListIndexes, SearchSettings } from './types.js';

export interface ListIndexesOptions {
  readonly dataDir: string;
  readonly kernel: Kernel;
  readonly executor: IngestExecutor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Pick<Config, 'ingest' | 'limits' | 'versions'>;
  readonly metrics: Pick<Metrics, 'recordsWritten' | 'listsOpen'>;
  /** Who is told what happens to the lists. Absent: nobody. */
  readonly events?: EventSink;
}

/** Ids become folder names. */
const LIST_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/u;

export function createListIndexes(options: ListIndexesOptions): ListIndexes {
  return new AllListIndexes(options);
}

class AllListIndexes implements ListIndexes {
  private readonly folder: string;
  private readonly opening = new Map<string, Promise<OpenListIndex>>();
  private readonly openLists = new Map<string, OpenListIndex>();
  private closed = false;

  constructor(private readonly options: ListIndexesOptions) {
    this.folder = join(options.dataDir, 'lists');
    mkdirSync(this.folder, { recursive: true });
  }

  opened(listId: string): ListIndex | undefined {
    return this.openLists.get(listId);
  }

  open(listId: string, settings: SearchSettings): Promise<ListIndex> {
    return this.openList(listId, settings, undefined);
  }

  create(listId: string, settings: SearchSettings, definition: FieldDefinition): Promise<ListIndex> {
    return this.openList(listId, settings, async (listPath) => {
      const { executor, clock } = this.options;
      await executor.run({ kind: 'create-list', listPath, nowMs: clock.nowMs(), definition });
    });
  }

  async clone(sourceId: string, targetId: string, settings: SearchSettings): Promise<ListIndex> {
    const source = this.openLists.get(sourceId);
    if (source === undefined) throw new Error(`list ${sourceId} is not open`);
    return this.openList(targetId, settings, async (targetPath) => {
      const { executor, clock } = this.options;
      const { listPath } = source;
      await source.whileUnchanged(() =>
        executor.run({ kind: 'clone-list', listPath, targetPath, nowMs: clock.nowMs() }),
      );
    });
  }

  async remove(listId: string): Promise<void> {
    const list = await this.opening.get(listId)?.catch(() => undefined);
    this.openLists.delete(listId);
    this.opening.delete(listId);
    this.countOpen();
    await list?.close(new ServiceError('list-not-found', 'The list has been deleted.'));
    await this.drainEvents(listId);
    await rm(this.path(listId), { recursive: true, force: true, maxRetries: 3 });
  }

  async removeUnknown(known: ReadonlySet<string>): Promise<void> {
    for (const listId of readdirSync(this.folder)) {
      if (known.has(listId) || this.opening.has(listId)) continue;
      this.options.log.info({ list: listId }, 'removing what is left of a list that does not exist');
      await this.drainEvents(listId);
      await rm(join(this.folder, listId), { recursive: true, force: true, maxRetries: 3 });
    }
  }

  /** What the list has still to tell leaves its folder before that goes. Rejects where it cannot: the folder stays then. */
  private async drainEvents(listId: string): Promise<void> {
    await this.options.events?.drained({ id: listId, kind: 'list', path: this.path(listId) });
  }

  async close(): Promise<void> {
    this.closed = true;
    const reason = new ServiceError('shutting-down', 'The service is stopping; try again soon.');
    await Promise.allSettled(Array.from(this.opening.values(), async (opening) => (await opening).close(reason)));
    this.opening.clear();
    this.openLists.clear();
    this.countOpen();
  }

  /** `prepare` fills the folder of a new list; it is removed again when that fails. */
  private openList(
    listId: string,
    settings: SearchSettings,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<OpenListIndex> {
    const existing = this.opening.get(listId);
    if (existing !== undefined) return existing;
    if (this.closed)
      return Promise.reject(new ServiceError('shutting-down', 'The service is stopping; try again soon.'));
    const opening = this.prepareAndOpen(listId, settings, prepare).catch((error: unknown) => {
      this.opening.delete(listId);
      throw error;
    });
    this.opening.set(listId, opening);
    return opening;
  }

  private async prepareAndOpen(
    listId: string,
    settings: SearchSettings,
    prepare: ((listPath: string) => Promise<void>) | undefined,
  ): Promise<OpenListIndex> {
    const listPath = this.path(listId);
    if (prepare !== undefined) {
      // Fails where the folder exists: an id is never used twice.
      mkdirSync(listPath);
      try {
        await prepare(listPath);
      } catch (error) {
        rmSync(listPath, { recursive: true, force: true });
        throw error;
      }
    }
    const list = new OpenListIndex(listPath, settings, this.options);
    this.openLists.set(listId, list);
    this.countOpen();
    return list;
  }

  private path(listId: string): string {
    if (!LIST_ID.test(listId)) throw new RangeError(`'${listId}' cannot be the id of a list`);
    return join(this.folder, listId);
  }

  private countOpen(): void {
    this.options.metrics.listsOpen.set(this.openLists.size);
  }
}
