/**
 * What lists import from, and how these sources follow feeds that are synced, moved and deleted. Used on the main
 * thread only.
 */
import type { Logger } from 'pino';
import type { Change, ListRecord } from '../catalog/index.js';
import { mediaUrl } from '../fields/index.js';
import type { MediaStores } from '../media/index.js';
import type { Trouble } from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import type { Timers } from '../platform/work/index.js';
import { NO_SOURCE } from './feed-problems.js';
import { formatOf } from './imported-file.js';
import type { ListImporter } from './list-importer.js';
import type { FeedFile, NewSource, SourceStore } from './source-store.js';
import { feedPath, formerFeedPath, type FeedRow, type SourceRow } from './types.js';

const SECOND_MS = 1000;
const GONE: ReadonlySet<string> = new Set(['file-not-found', 'media-store-not-found']);

export interface ListSourcesOptions {
  readonly store: SourceStore;
  readonly importer: ListImporter;
  readonly media: MediaStores;
  readonly timers: Timers;
  /** How often files that belong to no feed are checked. */
  readonly checkSeconds: number;
  readonly log: Logger;
}

/**
 * Returns the name of the source that is kept with its records in the list. A feed is known by its name, wherever its
 * file is and whatever the file was called before.
 */
export function labelOf({ media_store, path }: Pick<SourceRow, 'media_store' | 'path'>): string {
  const [, feed] = /^feeds\/([^/]+)\.(?:sync|ndjson)$/.exec(path) ?? [];
  return feed === undefined ? mediaUrl(media_store, path) : `feed:${feed}`;
}

export class ListSources {
  private cancelTimer: (() => void) | undefined;

  constructor(private readonly options: ListSourcesOptions) {}

  /** Applies what changed while the service was not running, and begins to check files. */
  start(): void {
    this.checkAll(() => true, { isStart: true });
    this.watch();
  }

  /** Returns the lists whose last import failed. */
  troubles(): Trouble[] {
    return this.options.store
      .all()
      .flatMap(({ account, list, error }) =>
        error === null ? [] : [{ kind: 'source', account, name: list, detail: error.message, since_utc: error.at }],
      );
  }

  stop(): Promise<void> {
    this.cancelTimer?.();
    return this.options.importer.stop();
  }

  of(list: Pick<ListRecord, 'id'>): SourceRow | undefined {
    return this.options.store.of(list.id);
  }

  /** Returns the source of the list. Throws `source-not-found`. */
  required(list: ListRecord): SourceRow {
    const row = this.of(list);
    if (row !== undefined) return row;
    throw new ServiceError(NO_SOURCE, `The list '${list.name}' does not import a file.`);
  }

  isImporting({ list_id }: Pick<SourceRow, 'list_id'>): boolean {
    return this.options.importer.isRunning(list_id);
  }

  /** Returns the names of the lists in which the feed is searchable. */
  listsOf(feed: Pick<FeedRow, 'id'>): string[] {
    return this.options.store.ofFeed(feed.id).map(({ list }) => list);
  }

  /**
   * Makes a list import a file. The first import begins at once. Rejects with `already-importing` or `feed-in-use`, and
   * with `unprocessable` if this is not a file of records.
   */
  async create(given: NewSource): Promise<SourceRow> {
    if (formatOf(given.path) === undefined)
      throw new ServiceError(
        'unprocessable',
        `'${given.path}' cannot be imported: the name of the file must end in .sync, .ndjson, .jsonl, .json, .csv or .tsv.`,
      );
    const { store, media } = this.options;
    // The media store may be deleted meanwhile, because nothing says yet that the list needs it.
    const row = await store.create(given, () => void media.row(given.account, given.media_store));
    void this.options.importer.run(row.list_id);
    return row;
  }

  /** Sets whether the list is kept in sync. If it is again, changes that were made meanwhile are applied. */
  async keepInSync(row: SourceRow, isKept: boolean): Promise<SourceRow> {
    const changed = await this.options.store.change(row.list_id, () => ({ keep_in_sync: isKept }));
    if (isKept) void this.options.importer.run(row.list_id);
    return changed ?? row;
  }

  /** Makes the list the same as the file now. */
  run(row: SourceRow): void {
    void this.options.importer.run(row.list_id, { isForced: true });
  }

  /** Ends the import of a list, which keeps its records. */
  async disconnect(listId: string): Promise<void> {
    await this.options.store.remove([listId]);
    await this.options.importer.forget(listId);
  }

  /**
   * Removes the sources of a deleted account that are still there. Those of its lists were removed along with the
   * lists.
   */
  async forgetAccount(account: string): Promise<void> {
    const { store, importer } = this.options;
    const rows = store.all().filter((row) => row.account === account);
    if (rows.length === 0) return;
    const listIds = rows.map(({ list_id }) => list_id);
    await store.remove(listIds);
    for (const listId of listIds) await importer.forget(listId);
  }

  usersOf(account: string, mediaStore: string): string[] {
    return this.options.store
      .all()
      .filter((row) => row.account === account && row.media_store === mediaStore)
      .map(({ list }) => `the list '${list}'`);
  }

  // ---- what happens to feeds

  async feedSynced(feed: FeedRow): Promise<void> {
    await this.leaveFormerFile(feed);
    for (const row of this.options.store.ofFeed(feed.id))
      if (row.keep_in_sync) void this.options.importer.run(row.list_id);
  }

  /**
   * Makes the lists follow the file in the same step in which the feed itself is moved, so that none is left behind.
   * Lists that import this file of the other store already are among them from then on.
   */
  follow(change: Change, feed: FeedFile, mediaStore: string): void {
    this.options.store.follow(change, feed.id, mediaStore);
    this.adopt(change, { ...feed, media_store: mediaStore });
  }

  /** As part of another change: makes lists that import the file of the feed by its path lists of the feed. */
  adopt(change: Change, feed: FeedFile): void {
    this.options.store.adopt(change, feed);
  }

  /** Makes the lists import the file from where it is now. */
  feedMoved({ id }: Pick<FeedRow, 'id'>): void {
    for (const { list_id, keep_in_sync } of this.options.store.ofFeed(id))
      if (keep_in_sync) void this.options.importer.run(list_id);
  }

  /**
   * Returns false if a list imports the feed's file from another store than the one it is in. A process that ended
   * during a move may have left such a list.
   */
  areWith({ id, media_store: mediaStore }: Pick<FeedRow, 'id' | 'media_store'>): boolean {
    return this.options.store.ofFeed(id).every((row) => row.media_store === mediaStore);
  }

  /** Ends the imports from a deleted feed. The lists keep their records. */
  async feedDeleted(feed: Pick<FeedRow, 'id'>): Promise<void> {
    for (const { list_id } of this.options.store.ofFeed(feed.id)) await this.disconnect(list_id);
  }

  /**
   * Removes the file of a feed. It is not an error if the file or its store no longer exists. A file that cannot be
   * removed is reported in the log and stays.
   */
  async removeFile(account: string, mediaStore: string, path: string): Promise<void> {
    try {
      await this.options.media.open(account, mediaStore).remove(path, () => undefined);
    } catch (error) {
      if (error instanceof ServiceError && GONE.has(error.code)) return;
      this.options.log.error(
        { err: error, account, path },
        "A feed's file could not be removed from where the feed is no more",
      );
    }
  }

  /**
   * Makes lists that import the file under its former name import it from the feed, and removes the file with that
   * name. A list that imports the file by its present name may be left by an earlier release, and follows the feed as
   * well.
   */
  private async leaveFormerFile({ id, account, name, media_store: mediaStore }: FeedRow): Promise<void> {
    const { store } = this.options;
    const [path, former] = [feedPath(name), formerFeedPath(name)];
    const isLeft = (row: SourceRow) =>
      row.account === account &&
      row.media_store === mediaStore &&
      (row.path === former || (row.path === path && row.feed !== id));
    const rows = store.all().filter(isLeft);
    if (rows.length === 0) return;
    await store.changeAll(
      rows.map(({ list_id }) => list_id),
      // A list may have been made to import something else since.
      (before) => (isLeft(before) ? { feed: id, path, applied_etag: null } : {}),
    );
    // If no list imports a file of that name, it may be a file of the account's own.
    if (rows.some((row) => row.path === former)) await this.removeFile(account, mediaStore, former);
  }

  private watch(): void {
    const { timers, checkSeconds } = this.options;
    this.cancelTimer = timers.after(checkSeconds * SECOND_MS, () => {
      this.checkAll(({ feed }) => feed === null);
      this.watch();
    });
  }

  private checkAll(which: (row: SourceRow) => boolean, look = {}): void {
    for (const row of this.options.store.all()) {
      if (row.keep_in_sync && which(row)) void this.options.importer.run(row.list_id, look);
    }
  }
}
