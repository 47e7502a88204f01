/**
 * The feeds of all accounts: they are connected, read at regular intervals, made searchable in lists, moved and
 * deleted. Their statuses are those of section 3.1 of the service's description. Used on the main thread only.
 */
import type { Logger } from 'pino';
import type { Change, ListRecord } from '../catalog/index.js';
import type { MediaStores } from '../media/index.js';
import type { Trouble } from '../operations/index.js';
import type { Host } from '../platform/hosts/index.js';
import {
  fittingEntries,
  ServiceError,
  type Clock,
  type Page,
  type ProgressBoard,
  type Secret,
  type WantedPage,
} from '../platform/index.js';
import type { Timers } from '../platform/work/index.js';
import type { Discovery } from './crawl/discover.js';
import type { WebsiteSettings } from './crawl/crawl-types.js';
import { AttachedFiles } from './attached-files.js';
import { removeOtherFolders } from './feed-folder.js';
import type { FeedMetrics } from './feed-metrics.js';
import { FEED_SYNCING } from './feed-problems.js';
import { FeedRunner } from './feed-runner.js';
import type { FeedStore } from './feed-store.js';
import type { ListSources } from './list-sources.js';
import type { ProviderSettings } from './providers/provider-settings.js';
import { SyncScheduler } from './runs/sync-scheduler.js';
import { SourceTrials } from './source-trials.js';
import { feedPath, type FeedRow, type SourceRow } from './types.js';
import type { FeedProtocol } from './worker/feed-protocol.js';

const MINUTE_MS = 60_000;
/**
 * Maximum number of feeds of a deleted account that are removed in one step, so that other changes can be made in
 * between.
 */
const FORGOTTEN_AT_ONCE_MAX = 500;

export interface FeedsOptions {
  readonly store: FeedStore;
  readonly sources: ListSources;
  readonly media: MediaStores;
  readonly host: Host<FeedProtocol>;
  /** The folder `data/feeds`. */
  readonly feedsDir: string;
  readonly parallelMax: number;
  readonly progress: ProgressBoard;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FeedMetrics;
  /** As in FeedRunnerOptions. */
  readonly runMsMax: number;
}

export interface ConnectedFeed {
  readonly account: string;
  readonly name: string;
  readonly provider: ProviderSettings;
  readonly media_store: string;
  readonly interval_minutes: number;
  readonly secret: Secret | undefined;
}

export class Feeds {
  readonly runner: FeedRunner;
  private readonly scheduler: SyncScheduler;
  private readonly trials: SourceTrials;
  private isStarted = false;
  private isStopping = false;
  private starting: Promise<void> | undefined;
  /** Ids of the feeds that are being moved or deleted. None of them begins a run. */
  private readonly changing = new Set<string>();
  /** The moves that are under way, by the feed's id. These promises never reject. */
  private readonly moving = new Map<string, Promise<unknown>>();
  constructor(private readonly options: FeedsOptions) {
    const { store, sources, parallelMax, timers } = options;
    this.trials = new SourceTrials(options.host, options.media);
    this.runner = new FeedRunner({ ...options, feeds: store, onSynced: (row) => sources.feedSynced(row) });
    this.scheduler = new SyncScheduler({
      timers,
      parallelMax,
      run: (id) => this.runner.run(id),
      onScheduled: (id, nextMs) => void this.keepNext(id, nextMs),
    });
  }

  /** Returns the feeds whose last run failed. */
  troubles(): Trouble[] {
    return Array.from(this.options.store.all()).flatMap(({ account, name, state: { error } }) =>
      error === null ? [] : [{ kind: 'feed', account, name, detail: error.message, since_utc: error.at }],
    );
  }

  /** Starts reading the feeds. Whatever became due while the service was not running is read now. */
  start(): Promise<void> {
    return (this.starting = this.startAll());
  }

  private async startAll(): Promise<void> {
    const { store, feedsDir } = this.options;
    const rows = [...store.all()];
    await removeOtherFolders(feedsDir, new Set(rows.map(({ id }) => id)), () => this.isStopping);
    this.isStarted = true;
    const left: FeedRow[] = [];
    for (const { id } of rows) {
      if (this.isStopping) return;
      const row = store.get(id);
      if (row !== undefined) left.push(await this.left(await this.together(row)));
    }
    if (this.isStopping) return;
    this.scheduleAll(left);
  }

  /** Ends what is running, including the work of a start that is not finished. It is continued after the next start. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const stopped = this.scheduler.stop();
    await this.runner.cancel();
    await stopped;
    // Whoever called `start` is told of this error.
    await this.starting?.catch(() => undefined);
  }

  isSyncing({ id }: Pick<FeedRow, 'id'>): boolean {
    return this.scheduler.isRunning(id);
  }

  /**
   * Returns a page of the account's feeds. It has fewer entries if it would otherwise become too long for one answer,
   * because the settings of one feed may have a hundred addresses and two hundred patterns.
   */
  page(account: string, wanted: WantedPage): Page<FeedRow> {
    return fittingEntries(this.options.store.page(account, wanted), {
      keyOf: ({ name }) => name,
      charactersOf: lengthOf,
    });
  }

  /** Returns the feed of the account with this name. Throws `feed-not-found`. */
  required(account: string, name: string): FeedRow {
    return this.options.store.required(account, name);
  }

  /**
   * Tries the source and keeps the new feed. Rejects with `source-unusable` if the source cannot be read, in which case
   * nothing is kept, and with `name-exists`, `media-store-not-found` or `overloaded`.
   */
  async connect(given: ConnectedFeed, signal?: AbortSignal): Promise<FeedRow> {
    const { store, media, sources } = this.options;
    store.assertFree(given.account, given.name);
    media.row(given.account, given.media_store);
    await this.trials.check(given, signal);
    // Reading the source takes a while, during which a media store may have been deleted.
    const row = await store.create(given, (change, created) => {
      media.row(given.account, given.media_store);
      if (given.provider.name === 'media-store') media.row(given.account, given.provider.settings.store);
      sources.adopt(change, created);
    });
    this.schedule(row);
    return row;
  }

  /**
   * Previews what a source would give. Rejects with `source-unusable` if it cannot be read, with `overloaded` if too
   * many sources are being tried, or with the signal's reason.
   */
  discover(provider: ProviderSettings, signal?: AbortSignal): Promise<Discovery> {
    return this.trials.discover(provider, signal);
  }

  /**
   * Begins a run of the feed as soon as there is room. It is stored as due, so that it comes after a stop or a crash as
   * well. If feeds are not being run at present, the feed is read after the next start. Rejects with `feed-syncing` if a
   * run is under way.
   */
  async sync(row: FeedRow): Promise<void> {
    this.assertIdle(row);
    const { clock } = this.options;
    if (this.scheduler.now(row.id)) await this.keepNext(row.id, clock.nowMs());
    else await this.changed(row, () => ({ next_sync: clock.nowIso() }));
  }

  /**
   * Sets how often the feed is read. Its next run is due within the new interval, but if the interval became longer, no
   * sooner than one interval after the last attempt. The time of the next run is stored, because the service uses it
   * after a restart and clients are shown it.
   */
  async setInterval(row: FeedRow, minutes: number): Promise<FeedRow> {
    const changed = await this.changed(row, () => ({ interval_minutes: minutes }));
    this.schedule(changed);
    const nextMs = this.scheduler.nextMs(row.id);
    if (nextMs === undefined) return changed;
    return this.changed(changed, () => ({ next_sync: new Date(nextMs).toISOString() }));
  }

  /**
   * Changes which pages of a website are read. This applies from the next run on, which begins at once or after the run
   * that is under way.
   */
  async setScope(row: FeedRow, settings: WebsiteSettings, signal?: AbortSignal): Promise<FeedRow> {
    const provider: ProviderSettings = { name: 'website', settings };
    await this.trials.check({ ...row, provider, secret: undefined }, signal);
    return this.changedForNext(row, () => ({ provider }));
  }

  /**
   * Replaces the secret of the feed, and begins a run at once or after the run that is under way. Rejects with
   * `unprocessable` if the source is read without a secret, and with `source-unusable` if the source does not take the
   * new one, in which case the old one stays.
   */
  async setSecret(row: FeedRow, secret: Secret, signal?: AbortSignal): Promise<FeedRow> {
    if (row.secret === null) throw new ServiceError('unprocessable', `The feed '${row.name}' has no secret.`);
    await this.trials.check({ ...row, secret }, signal);
    return this.changedForNext(row, () => ({ secret: this.options.store.sealed(row, secret) }));
  }

  /**
   * Moves the feed's file into another media store and removes it from the store where it was. Lists that import the
   * file follow it. If the move is interrupted, the feed belongs to one of the two stores, and the next start removes
   * the file from the other one. Rejects with `feed-syncing`, with `unprocessable`, or with the error of a store that
   * does not accept the file.
   */
  async move(row: FeedRow, target: string): Promise<FeedRow> {
    const { media, sources } = this.options;
    if (row.provider.name === 'media-store' || row.provider.name === 'email')
      throw new ServiceError('unprocessable', `A feed of the provider ${row.provider.name} cannot be moved.`);
    const to = media.open(row.account, target);
    if (row.media_store === target) return row;
    const moved = await this.exclusively(row, async () => {
      const path = feedPath(row.name);
      const folder = this.runner.folderOf(row);
      await folder.fetch(media.open(row.account, row.media_store), path);
      await this.left(row);
      // This is stored before the file is copied. If the move fails, `target` is the store from which the file has to
      // be removed.
      const begun = await this.changed(row, () => ({ leaving: target }));
      try {
        await folder.copyTo(to, path);
        const next = { media_store: target, leaving: row.media_store };
        await this.changed(
          row,
          () => next,
          (change) => {
            // Until now nothing has said that the feed needs this store, so it may have been deleted meanwhile.
            media.row(row.account, target);
            sources.follow(change, row, target);
          },
        );
      } catch (error) {
        await this.notMoved(begun);
        throw error;
      }
      sources.feedMoved(row);
      return this.left(this.required(row.account, row.name));
    });
    if (this.scheduler.now(row.id)) await this.keepNext(row.id, this.options.clock.nowMs());
    return moved;
  }

  /**
   * Removes the feed and its file. Lists keep their records. Waits for a move that is under way, because the move
   * decides where the file is.
   */
  async delete({ id }: FeedRow): Promise<void> {
    await this.moving.get(id);
    const row = this.options.store.get(id);
    if (row === undefined) return;
    this.changing.add(id);
    try {
      await this.removeAll(row);
    } finally {
      this.changing.delete(id);
      const left = this.options.store.get(id);
      if (left !== undefined) this.schedule(left);
    }
  }

  private async removeAll(row: FeedRow): Promise<void> {
    const { store, sources } = this.options;
    await this.ended(row);
    await sources.feedDeleted(row);
    await sources.removeFile(row.account, row.media_store, feedPath(row.name));
    await this.left(row);
    const folder = this.runner.folderOf(row);
    if (row.provider.name === 'email') await this.removeAttached(row, folder.path);
    await folder.remove();
    await store.delete(row);
  }

  /**
   * Removes the files of the feed's records. As with the feed's own file, what cannot be removed is reported in the log
   * and stays: otherwise a feed whose store is out of reach for good could not be deleted, nor could the store.
   */
  private async removeAttached({ account, media_store: mediaStore, name }: FeedRow, folder: string): Promise<void> {
    const { media, log } = this.options;
    try {
      await new AttachedFiles(folder, media.open(account, mediaStore), name).removeAll();
    } catch (error) {
      log.error(
        { err: error, account, feed: name },
        'Files of a deleted feed could not be removed from its media store',
      );
    }
  }

  /** Removes the feeds of a deleted account. Their files are removed along with its media stores. */
  async forgetAccount(account: string): Promise<void> {
    const { store, sources } = this.options;
    for (let rows = store.of(account); rows.length > 0; rows = store.of(account)) {
      const some = rows.slice(0, FORGOTTEN_AT_ONCE_MAX);
      // The rows are removed before the runs are ended: work that is under way, such as a move, begins another run of a
      // feed only if the row still exists.
      await store.delete(...some);
      for (const row of some) {
        await this.ended(row);
        await this.runner.folderOf(row).remove();
      }
    }
    await sources.forgetAccount(account);
  }

  /**
   * Returns the account's feeds that need this media store, such as `the feed 'news'`. This is told to whoever wants to
   * delete the store.
   */
  usersOf(account: string, mediaStore: string): string[] {
    return this.options.store
      .of(account)
      .filter((row) => usesStore(row, mediaStore))
      .map(({ name }) => `the feed '${name}'`);
  }

  /**
   * Makes the feed searchable in a list. Rejects with `already-importing` or `feed-in-use`, and with `feed-syncing` if
   * the feed is being moved or deleted.
   */
  async bind(row: FeedRow, list: ListRecord) {
    const { id, account, name, media_store } = row;
    if (this.changing.has(id)) throw new ServiceError(FEED_SYNCING, `The feed '${name}' is being moved or deleted.`);
    return this.options.sources.create({
      list_id: list.id,
      account,
      list: list.name,
      feed: id,
      media_store,
      path: feedPath(name),
      keep_in_sync: true,
    });
  }

  /**
   * Makes any file of a media store searchable in a list. If it is the file of a feed, the feed is bound to the list.
   */
  bindFile(
    list: ListRecord,
    { media_store, path, keep_in_sync }: Pick<SourceRow, 'media_store' | 'path' | 'keep_in_sync'>,
  ) {
    const { account, id, name } = list;
    const { media, store, sources } = this.options;
    media.row(account, media_store);
    const [, feedName] = /^feeds\/([^/]+)\.sync$/.exec(path) ?? [];
    const feed = feedName === undefined ? undefined : store.named(account, feedName);
    const isFeed = feed?.media_store === media_store;
    return sources.create({
      list_id: id,
      account,
      list: name,
      feed: isFeed ? feed.id : null,
      media_store,
      path,
      keep_in_sync,
    });
  }

  private schedule(row: FeedRow): void {
    this.scheduleAll([row]);
  }

  private scheduleAll(rows: readonly FeedRow[]): void {
    if (!this.isStarted) return;
    // Some of them may have been deleted while others were being made ready, or be about to be moved or deleted.
    const there = rows.filter(({ id }) => this.options.store.get(id) !== undefined && !this.changing.has(id));
    const scheduled = there.map(({ id, account, interval_minutes, next_sync, state }) => {
      const [nextMs, checkedMs] = [next_sync, state.last_checked].map((utc) =>
        utc === null ? undefined : Date.parse(utc),
      );
      return { id, account, intervalMs: interval_minutes * MINUTE_MS, nextMs, checkedMs };
    });
    this.scheduler.setAll(scheduled);
  }

  /** Stores when the feed is to be read. Never rejects: if it fails, the feed is read after the next start. */
  private async keepNext(id: string, nextMs: number): Promise<void> {
    const { store, log } = this.options;
    try {
      await store.change(id, () => ({ next_sync: new Date(nextMs).toISOString() }));
    } catch (error) {
      log.warn({ err: error }, 'Could not save the time of the next sync of a feed');
    }
  }

  /**
   * Changes what the next run reads, which begins at once or after the run that is under way. It is stored as due, so
   * that it comes after a stop or a crash as well.
   */
  private async changedForNext(row: FeedRow, next: () => Partial<FeedRow>): Promise<FeedRow> {
    const nextSync = this.options.clock.nowIso();
    const changed = await this.changed(row, () => ({ ...next(), next_sync: nextSync }));
    this.scheduler.nowOrAgain(row.id);
    return changed;
  }

  private async changed(
    row: FeedRow,
    next: (before: FeedRow) => Partial<FeedRow>,
    also?: (change: Change) => void,
  ): Promise<FeedRow> {
    return (await this.options.store.change(row.id, next, also)) ?? this.required(row.account, row.name);
  }

  /**
   * Makes the lists of a feed import from the store where its file is. Earlier versions moved the lists after the feed,
   * and could be interrupted in between.
   */
  private async together(row: FeedRow): Promise<FeedRow> {
    const { sources } = this.options;
    if (sources.areWith(row)) return row;
    const changed = await this.changed(
      row,
      () => ({}),
      (change) => sources.follow(change, row, row.media_store),
    );
    sources.feedMoved(row);
    return changed;
  }

  /** Resolves when the feed is no longer scheduled and none of its runs is under way. */
  private async ended({ id }: FeedRow): Promise<void> {
    this.scheduler.remove(id);
    await this.runner.cancel(id);
  }

  /**
   * Removes the file from the store that the feed has left. Resolves with the new row, or with `row` if the feed has
   * been deleted meanwhile.
   */
  private async left(row: FeedRow): Promise<FeedRow> {
    if (row.leaving === null) return row;
    await this.options.sources.removeFile(row.account, row.leaving, feedPath(row.name));
    return (await this.options.store.change(row.id, () => ({ leaving: null }))) ?? row;
  }

  /**
   * Removes the file from the store to which the feed was to be moved, if the move failed or the feed was deleted
   * during it. If that fails too, the next start does it.
   */
  private async notMoved(begun: FeedRow): Promise<void> {
    await this.left(begun).catch((error: unknown) => {
      this.options.log.warn({ err: error, feed: begun.name }, 'Could not clean up after a failed move of a feed yet');
    });
  }

  private assertIdle(row: FeedRow): void {
    if (!this.isSyncing(row) && !this.changing.has(row.id)) return;
    throw new ServiceError(FEED_SYNCING, `The feed '${row.name}' is being synced.`);
  }

  /** Runs `action`. No run of the feed begins meanwhile. */
  private async exclusively<Result>(row: FeedRow, action: () => Promise<Result>): Promise<Result> {
    this.assertIdle(row);
    this.changing.add(row.id);
    this.scheduler.remove(row.id);
    const acting = action();
    this.moving.set(
      row.id,
      acting.catch(() => undefined),
    );
    try {
      return await acting;
    } finally {
      this.moving.delete(row.id);
      this.changing.delete(row.id);
      const now = this.options.store.get(row.id);
      if (now !== undefined) this.schedule(now);
    }
  }
}

/** Lengths of rows as JSON. A row that changes becomes another object, so that a length never has to be corrected. */
const lengths = new WeakMap<FeedRow, number>();

function lengthOf(row: FeedRow): number {
  let length = lengths.get(row);
  if (length === undefined) lengths.set(row, (length = JSON.stringify(row).length));
  return length;
}

function usesStore({ media_store, provider }: FeedRow, store: string): boolean {
  return media_store === store || (provider.name === 'media-store' && provider.settings.store === store);
}
