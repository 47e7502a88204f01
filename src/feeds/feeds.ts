/**
 * The feeds of all accounts: connected, read in their time, searchable in lists, moved and deleted. Statuses are those of section 3.1 of
 * the service's description. Main thread only.
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
import { FEED_SYNCING, SOURCE_UNUSABLE } from './feed-problems.js';
import { FeedRunner } from './feed-runner.js';
import type { FeedStore } from './feed-store.js';
import type { ListSources } from './list-sources.js';
import type { ProviderSettings } from './providers/provider-settings.js';
import { SyncScheduler } from './runs/sync-scheduler.js';
import { feedPath, type FeedRow, type SourceRow } from './types.js';
import type { FeedProtocol, SourceFault } from './worker/feed-protocol.js';

const MINUTE_MS = 60_000;
/** Sources that are tried before they are kept, or previewed, at a time: each is read for up to a minute. */
const TRIED_MAX = 16;
const RETRY_AFTER_SECONDS = 10;
/** Of an account that is gone, in one step: others have their changes between. */
const FORGOTTEN_AT_ONCE_MAX = 500;

export interface FeedsOptions {
  readonly store: FeedStore;
  readonly sources: ListSources;
  readonly media: MediaStores;
  readonly host: Host<FeedProtocol>;
  /** `data/feeds` */
  readonly feedsDir: string;
  readonly parallelMax: number;
  readonly progress: ProgressBoard;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FeedMetrics;
  /** As of FeedRunnerOptions. */
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
  private isStarted = false;
  private isStopping = false;
  private starting: Promise<void> | undefined;
  /** Feeds that are being moved or deleted: no run of theirs begins. */
  private readonly changing = new Set<string>();
  /** Those that are being moved; never reject. */
  private readonly moving = new Map<string, Promise<unknown>>();
  /** Sources that are being tried. */
  private tried = 0;

  constructor(private readonly options: FeedsOptions) {
    const { store, sources, parallelMax, timers } = options;
    this.runner = new FeedRunner({ ...options, feeds: store, onSynced: (row) => sources.feedSynced(row) });
    this.scheduler = new SyncScheduler({
      timers,
      parallelMax,
      run: (id) => this.runner.run(id),
      onScheduled: (id, nextMs) => this.keepNext(id, nextMs),
    });
  }

  /** Those whose last run failed. */
  troubles(): Trouble[] {
    return Array.from(this.options.store.all()).flatMap(({ account, name, state: { error } }) =>
      error === null ? [] : [{ kind: 'feed', account, name, detail: error.message, since_utc: error.at }],
    );
  }

  /** What was due while the service was not running runs now. */
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

  /** What runs is ended, and goes on with the next start; so does what that begins with. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const stopped = this.scheduler.stop();
    await this.runner.cancel();
    await stopped;
    // Whoever began it is told of what it rejects with.
    await this.starting?.catch(() => undefined);
  }

  isSyncing({ id }: Pick<FeedRow, 'id'>): boolean {
    return this.scheduler.isRunning(id);
  }

  /** It ends where it would become too long to be told at once: settings of one may have a hundred addresses and two hundred patterns. */
  page(account: string, wanted: WantedPage): Page<FeedRow> {
    return fittingEntries(this.options.store.page(account, wanted), {
      keyOf: ({ name }) => name,
      charactersOf: lengthOf,
    });
  }

  /** Throws `feed-not-found`. */
  required(account: string, name: string): FeedRow {
    return this.options.store.required(account, name);
  }

  /** Rejects with `source-unusable`, and nothing is kept, where the source cannot be read; with `name-exists`, `media-store-not-found`, `overloaded`. */
  async connect(given: ConnectedFeed, signal?: AbortSignal): Promise<FeedRow> {
    const { store, media } = this.options;
    store.assertFree(given.account, given.name);
    media.row(given.account, given.media_store);
    await this.check(given, signal);
    // The source is read for a while, in which a store may have gone.
    const row = await store.create(given, () => {
      media.row(given.account, given.media_store);
      if (given.provider.name === 'media-store') media.row(given.account, given.provider.settings.store);
    });
    this.schedule(row);
    return row;
  }

  /** Rejects with `source-unusable` where it cannot be read, `overloaded` where too many are, or the signal's reason. */
  async discover(provider: ProviderSettings, signal?: AbortSignal): Promise<Discovery> {
    const answer = await this.trying(() =>
      this.options.host.call('discover', { provider, secret: null }, callOf(signal)),
    );
    if (!answer.isOk) throw unusable(answer);
    return answer.discovery;
  }

  /** Rejects with `feed-syncing` where it runs. Where no feed runs, it does at the next start. */
  async sync(row: FeedRow): Promise<void> {
    this.assertIdle(row);
    if (this.scheduler.now(row.id)) return;
    const nextSync = this.options.clock.nowIso();
    await this.changed(row, () => ({ next_sync: nextSync }));
  }

  /** It is due within the new interval, and not before a longer one has passed since the last attempt, which is kept: a start goes by what is kept, and whoever asks is told that. */
  async setInterval(row: FeedRow, minutes: number): Promise<FeedRow> {
    const changed = await this.changed(row, () => ({ interval_minutes: minutes }));
    this.schedule(changed);
    const nextMs = this.scheduler.nextMs(row.id);
    if (nextMs === undefined) return changed;
    return this.changed(changed, () => ({ next_sync: new Date(nextMs).toISOString() }));
  }

  /** What is read from the next run on, which begins at once. */
  async setScope(row: FeedRow, settings: WebsiteSettings, signal?: AbortSignal): Promise<FeedRow> {
    const provider: ProviderSettings = { name: 'website', settings };
    await this.check({ ...row, provider, secret: undefined }, signal);
    const changed = await this.changed(row, () => ({ provider }));
    this.scheduler.now(row.id);
    return changed;
  }

  /**
   * Puts the file into another store, in which lists that import it follow, and removes it from the one where it was. Cut short, the feed
   * is in one of the two; the next start removes the file from the other. Throws `feed-syncing`, `unprocessable`, and what a store that
   * does not take the file throws.
   */
  async move(row: FeedRow, target: string): Promise<FeedRow> {
    const { media, sources } = this.options;
    if (row.provider.name === 'media-store' || row.provider.name === 'email')
      throw new ServiceError('unprocessable', `A feed of the provider ${row.provider.name} is not moved.`);
    const to = media.open(row.account, target);
    if (row.media_store === target) return row;
    const moved = await this.exclusively(row, async () => {
      const path = feedPath(row.name);
      const folder = this.runner.folderOf(row);
      await folder.fetch(media.open(row.account, row.media_store), path);
      await this.left(row);
      // Before it lies there: it has left the store that it does not come to.
      const begun = await this.changed(row, () => ({ leaving: target }));
      try {
        await folder.copyTo(to, path);
        const next = { media_store: target, leaving: row.media_store };
        await this.changed(
          row,
          () => next,
          (change) => {
            // Nothing has said meanwhile that the feed needs it.
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
    this.scheduler.now(row.id);
    return moved;
  }

  /** Removes the feed and its file; lists keep their records. A move that is under way comes to its end first: it says where the file is. */
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
    const { store, sources, media } = this.options;
    await this.ended(row);
    await sources.feedDeleted(row);
    await sources.removeFile(row.account, row.media_store, feedPath(row.name));
    await this.left(row);
    const folder = this.runner.folderOf(row);
    if (row.provider.name === 'email')
      await new AttachedFiles(folder.path, media.open(row.account, row.media_store), row.name).removeAll();
    await folder.remove();
    await store.delete(row);
  }

  /** Of an account that is gone, whose files go with its media stores. */
  async forgetAccount(account: string): Promise<void> {
    const { store, sources } = this.options;
    for (let rows = store.of(account); rows.length > 0; rows = store.of(account)) {
      const some = rows.slice(0, FORGOTTEN_AT_ONCE_MAX);
      // Before they end: what is under way with a feed, such as a move, begins its next run only where there is its row.
      await store.delete(...some);
      for (const row of some) {
        await this.ended(row);
        await this.runner.folderOf(row).remove();
      }
    }
    await sources.forgetAccount(account);
  }

  /** `feed news`, for who wants to delete the store. */
  usersOf(account: string, mediaStore: string): string[] {
    return this.options.store
      .of(account)
      .filter((row) => usesStore(row, mediaStore))
      .map(({ name }) => `the feed '${name}'`);
  }

  /** Makes the feed searchable in a list. Rejects with `already-importing`, `feed-in-use`; `feed-syncing` where it is being moved or deleted. */
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

  /** The same for any file of a media store; that of a feed binds the feed. */
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

  private async check(
    { account, provider, secret }: Pick<ConnectedFeed, 'account' | 'provider' | 'secret'>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { host, media } = this.options;
    if (provider.name === 'media-store') {
      await media.open(account, provider.settings.store).list({ prefix: provider.settings.prefix, after: '', size: 1 });
      return;
    }
    const ask = { provider, secret: secret?.reveal() ?? null };
    const answer = await this.trying(() => host.call('check', ask, callOf(signal)));
    if (!answer.isOk) throw unusable(answer);
  }

  /** Feeds that are synced are read beside these: so many are bounded. */
  private async trying<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.tried >= TRIED_MAX) {
      const detail = `${TRIED_MAX} sources are being tried already; try again in ${RETRY_AFTER_SECONDS} seconds.`;
      throw new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.tried += 1;
    try {
      return await ask();
    } finally {
      this.tried -= 1;
    }
  }

  private schedule(row: FeedRow): void {
    this.scheduleAll([row]);
  }

  private scheduleAll(rows: readonly FeedRow[]): void {
    if (!this.isStarted) return;
    // Some may have gone while others were being made ready, or be about to.
    const there = rows.filter(({ id }) => this.options.store.get(id) !== undefined && !this.changing.has(id));
    const scheduled = there.map(({ id, account, interval_minutes, next_sync, state }) => {
      const [nextMs, checkedMs] = [next_sync, state.last_checked].map((utc) =>
        utc === null ? undefined : Date.parse(utc),
      );
      return { id, account, intervalMs: interval_minutes * MINUTE_MS, nextMs, checkedMs };
    });
    this.scheduler.setAll(scheduled);
  }

  private keepNext(id: string, nextMs: number): void {
    const { store, log } = this.options;
    store
      .change(id, () => ({ next_sync: new Date(nextMs).toISOString() }))
      .catch((error: unknown) => {
        // It runs at the next start, then.
        log.warn({ err: error }, 'When a feed is to be synced next could not be kept');
      });
  }

  private async changed(
    row: FeedRow,
    next: (before: FeedRow) => Partial<FeedRow>,
    also?: (change: Change) => void,
  ): Promise<FeedRow> {
    return (await this.options.store.change(row.id, next, also)) ?? this.required(row.account, row.name);
  }

  /** Its lists import from where its file is: earlier versions moved them behind the feed, and could end in between. */
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

  /** It runs no more. */
  private async ended({ id }: FeedRow): Promise<void> {
    this.scheduler.remove(id);
    await this.runner.cancel(id);
  }

  /** The file is removed from where the feed was before it moved. A feed that is gone meanwhile is answered as it was. */
  private async left(row: FeedRow): Promise<FeedRow> {
    if (row.leaving === null) return row;
    await this.options.sources.removeFile(row.account, row.leaving, feedPath(row.name));
    return (await this.options.store.change(row.id, () => ({ leaving: null }))) ?? row;
  }

  /** The same where it was to move, and could not or was deleted meanwhile. What this could not do, the next start does. */
  private async notMoved(begun: FeedRow): Promise<void> {
    await this.left(begun).catch((error: unknown) => {
      this.options.log.warn({ err: error, feed: begun.name }, 'A move of a feed that failed is not cleared away yet');
    });
  }

  private assertIdle(row: FeedRow): void {
    if (!this.isSyncing(row) && !this.changing.has(row.id)) return;
    throw new ServiceError(FEED_SYNCING, `The feed '${row.name}' is being synced.`);
  }

  /** No run begins meanwhile. */
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

/** As JSON. A row that changes is another one. */
const lengths = new WeakMap<FeedRow, number>();

function lengthOf(row: FeedRow): number {
  let length = lengths.get(row);
  if (length === undefined) lengths.set(row, (length = JSON.stringify(row).length));
  return length;
}

/** Ends with who asked. */
function callOf(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { signal };
}

function unusable({ message }: SourceFault): ServiceError {
  return new ServiceError(SOURCE_UNUSABLE, message);
}

function usesStore({ media_store, provider }: FeedRow, store: string): boolean {
  return media_store === store || (provider.name === 'media-store' && provider.settings.store === store);
}
