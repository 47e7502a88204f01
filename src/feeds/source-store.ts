/**
 * What lists import from. A list imports at most one file, and a feed is imported by at most one list. Used on the main
 * thread only.
 */
import { assertAccount, CollectionStore, type Change, type Collection, type GroupedBy } from '../catalog/index.js';
import { ServiceError, type Clock, type LmdbEnvironment } from '../platform/index.js';
import { ALREADY_IMPORTING, FEED_IN_USE } from './feed-problems.js';
import { feedPath, type FeedRow, type SourceRow } from './types.js';

export type NewSource = Pick<
  SourceRow,
  'list_id' | 'account' | 'list' | 'feed' | 'media_store' | 'path' | 'keep_in_sync'
>;

/** A feed, and where its file is. */
export type FeedFile = Pick<FeedRow, 'id' | 'account' | 'name' | 'media_store'>;

export class SourceStore {
  private readonly store: CollectionStore;
  private readonly rows: Collection<SourceRow>;
  /** Those of no feed are together. */
  private readonly byFeed: GroupedBy<SourceRow>;

  constructor(
    environment: LmdbEnvironment,
    private readonly clock: Clock,
  ) {
    this.store = CollectionStore.of(environment);
    this.rows = this.store.collection('list-sources');
    this.byFeed = this.rows.groupBy(({ feed }) => feed ?? '');
  }

  all(): SourceRow[] {
    return [...this.rows.values()];
  }

  of(listId: string): SourceRow | undefined {
    return this.rows.get(listId);
  }

  ofFeed(feed: string): readonly SourceRow[] {
    return [...this.byFeed.of(feed)];
  }

  /** As part of another change: makes the lists of a feed import its file from this store from now on. */
  follow(change: Change, feed: string, mediaStore: string): void {
    for (const row of this.ofFeed(feed))
      change.put(this.rows, row.list_id, { ...row, media_store: mediaStore, applied_etag: null });
  }

  /**
   * As part of another change: lists that import the feed's file by its path follow the feed from now on. They were
   * there before the feed, or before its file was in this store.
   */
  adopt(change: Change, { id, account, name, media_store: mediaStore }: FeedFile): void {
    const path = feedPath(name);
    for (const row of this.all()) {
      if (row.account === account && row.media_store === mediaStore && row.path === path && row.feed !== id)
        change.put(this.rows, row.list_id, { ...row, feed: id });
    }
  }

  /**
   * Makes a list import a file. Rejects with `already-importing` and `feed-in-use`. If the list imports this file
   * already, nothing changes.
   */
  create(given: NewSource, assertWanted: () => void = () => undefined): Promise<SourceRow> {
    return this.store.change((change) => {
      assertAccount(this.store, given.account);
      assertWanted();
      const before = this.rows.get(given.list_id);
      if (before !== undefined) {
        if (before.media_store === given.media_store && before.path === given.path) return before;
        throw new ServiceError(
          ALREADY_IMPORTING,
          `The list '${given.list}' imports from '${before.path}' of the media store '${before.media_store}': end that first.`,
        );
      }
      const other = given.feed === null ? undefined : this.ofFeed(given.feed)[0];
      if (other !== undefined)
        throw new ServiceError(FEED_IN_USE, `The feed is already searchable in the list '${other.list}'.`);
      const row: SourceRow = {
        ...given,
        applied_etag: null,
        last_imported: null,
        last_run: null,
        error: null,
        created_utc: this.clock.nowIso(),
      };
      change.put(this.rows, row.list_id, row);
      return row;
    });
  }

  /** Changes a source. Resolves with undefined if it has been removed meanwhile. */
  change(listId: string, next: (before: SourceRow) => Partial<SourceRow>): Promise<SourceRow | undefined> {
    return this.store.change((change) => {
      const before = this.rows.get(listId);
      if (before === undefined) return undefined;
      const row = { ...before, ...next(before) };
      change.put(this.rows, listId, row);
      return row;
    });
  }

  /** Changes all of these sources in one step. */
  changeAll(listIds: readonly string[], next: (before: SourceRow) => Partial<SourceRow>): Promise<void> {
    return this.store.change((change) => {
      for (const listId of listIds) {
        const before = this.rows.get(listId);
        if (before !== undefined) change.put(this.rows, listId, { ...before, ...next(before) });
      }
    });
  }

  remove(listIds: readonly string[]): Promise<void> {
    return this.store.change((change) => {
      for (const listId of listIds) if (this.rows.has(listId)) change.remove(this.rows, listId);
    });
  }
}
