/**
 * Runs a feed once, on the main thread's side: fetches the copy of its file, has the worker read the source, stores the
 * next file in the media store, and only then keeps what the run has learned. Main thread only.
 */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Host, ProtocolEvent } from '../platform/hosts/index.js';
import { SecretUnreadableError, uuidv7, type Clock, type ProgressBoard } from '../platform/index.js';
import type { MediaStores } from '../media/index.js';
import { AttachedFiles } from './attached-files.js';
import { FeedFolder } from './feed-folder.js';
import type { FeedMetrics } from './feed-metrics.js';
import type { FeedStore } from './feed-store.js';
import type { SyncRunResult } from './file/sync-run.js';
import { afterFailure, afterSuccess, isEmptinessBelieved, isFreshRunDue } from './runs/feed-state.js';
import { longestWaitMs } from './runs/sync-scheduler.js';
import { RunTimeOverError, SourceEmptiedError, SourceFailedError } from './source/source-run.js';
import { toldFailure } from './known-failure.js';
import { feedPath, type FeedRow } from './types.js';
import type { FeedProtocol, SourceAsk } from './worker/feed-protocol.js';
import { inTime } from './worker/run-time.js';

const MINUTE_MS = 60_000;

export interface FeedRunnerOptions {
  readonly feeds: FeedStore;
  readonly media: MediaStores;
  readonly host: Host<FeedProtocol>;
  readonly feedsDir: string;
  readonly progress: ProgressBoard;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: FeedMetrics;
  /** Time limit for what a run asks of media stores before the source is read, and again for reading the source. */
  readonly runMsMax: number;
  /** Called when the file has what the source has. */
  readonly onSynced: (row: FeedRow) => Promise<void>;
}

interface RunOutcome {
  readonly retryAfterMs?: number | undefined;
}

export class FeedRunner {
  /** Running feeds, by id. */
  private readonly underWay = new Map<
    string,
    { readonly cancelled: AbortController; readonly ended: Promise<unknown> }
  >();
  /** Listeners of progress, by the id of the run. */
  private readonly told = new Map<string, (done: number, queued: number) => void>();

  constructor(private readonly options: FeedRunnerOptions) {}

  /** Never rejects: the outcome of the run is in the feed's state. */
  async run(id: string): Promise<RunOutcome> {
    const row = this.options.feeds.get(id);
    if (row === undefined) return {};
    const cancelled = new AbortController();
    const ended = this.ran(row, cancelled).finally(() => this.underWay.delete(id));
    this.underWay.set(id, { cancelled, ended });
    return ended;
  }

  private async ran(row: FeedRow, cancelled: AbortController): Promise<RunOutcome> {
    const { id } = row;
    const { progress, log, metrics } = this.options;
    const { account, name } = row;
    const owner = { account, name, permission: 'feed:read' };
    const job = progress.begin({ kind: 'feed-sync', subject: id, owner, total: null });
    job.start();
    let done = 0;
    try {
      const result = await this.synced(row, cancelled.signal, (count, queued) => {
        job.advance(Math.max(0, count - done));
        done = Math.max(done, count);
        job.say(`${queued} queued`);
      });
      job.finish();
      metrics.ran(row.provider.name, 'synced', result);
      const { added, changed, removed, requests, took_ms, skipped_count } = result;
      log.info(
        { account, feed: name, added, changed, removed, requests, took_ms, skipped: skipped_count },
        'A feed was synced',
      );
      return { retryAfterMs: result.retryAfterMs };
    } catch (error) {
      if (cancelled.signal.aborted) {
        job.stop();
        return {};
      }
      const message = this.messageOf(error, row);
      job.fail(message);
      metrics.ran(row.provider.name, 'failed');
      await this.failed(row, message, error instanceof SourceEmptiedError);
      return { retryAfterMs: error instanceof SourceFailedError ? error.retryAfterMs : undefined };
    }
  }

  /** Aborts the run of a feed, or all runs, and waits for their end; the states stay as they were. */
  async cancel(id?: string): Promise<void> {
    const runs = [...this.underWay].filter(([feed]) => id === undefined || feed === id).map(([, run]) => run);
    for (const { cancelled } of runs) cancelled.abort();
    await Promise.all(runs.map(({ ended }) => ended));
  }

  hear([name, content]: ProtocolEvent<FeedProtocol>): void {
    if (name === 'progress') this.told.get(content.runId)?.(content.done, content.queued);
  }

  /** Returns what the worker needs to read the source of a feed. Throws a SecretUnreadableError. */
  askOf(row: FeedRow): SourceAsk {
    const { feeds } = this.options;
    // All secrets may have been sealed with another key since the row was read.
    return { provider: row.provider, secret: feeds.secretOf(feeds.get(row.id) ?? row)?.reveal() ?? null };
  }

  folderOf({ id }: Pick<FeedRow, 'id'>): FeedFolder {
    return new FeedFolder(join(this.options.feedsDir, id));
  }

  private async synced(
    row: FeedRow,
    signal: AbortSignal,
    onProgress: (done: number, queued: number) => void,
  ): Promise<SyncRunResult> {
    const { feeds, clock, onSynced } = this.options;
    const wasFresh = isFreshRunDue(row.state);
    const result = await this.read(row, { signal, isFresh: wasFresh, onProgress });
    const at = clock.nowIso();
    const kept = await feeds.change(row.id, ({ state }) => ({ state: afterSuccess(state, result, { at, wasFresh }) }));
    if (kept !== undefined) await onSynced(kept);
    return result;
  }

  private async read(
    row: FeedRow,
    run: {
      readonly signal: AbortSignal;
      readonly isFresh: boolean;
      readonly onProgress: (done: number, queued: number) => void;
    },
  ): Promise<SyncRunResult> {
    const { media, host } = this.options;
    const { signal, isFresh, onProgress } = run;
    const folder = this.folderOf(row);
    const store = media.open(row.account, row.media_store);
    const path = feedPath(row.name);
    const isInStore = await this.prepared(row, folder, signal);
    const runId = uuidv7();
    const apartMsMax = apartMsMaxOf(row);
    this.told.set(runId, onProgress);
    let isStored = false;
    try {
      const ask = {
        ...this.askOf(row),
        runId,
        feed: row.name,
        mediaStore: row.media_store,
        folder: folder.path,
        isFresh,
        isEmptinessBelieved:
          this.isOwnStore(row) || isEmptinessBelieved(row.state, this.options.clock.nowMs(), apartMsMax),
        apartMsMax,
      };
      const answer = await host.call('run', ask, { signal });
      if (!answer.isOk && answer.isEmptied) throw new SourceEmptiedError(row.state.record_count);
      if (!answer.isOk) throw new SourceFailedError(answer.message, answer.retryAfterMs);
      signal.throwIfAborted();
      // Files are stored before the records that name them.
      const attached = new AttachedFiles(folder.path, store, row.name);
      await attached.store();
      if (answer.result.wasReplaced) {
        await folder.store(store, path);
        if (answer.result.removed + answer.result.changed > 0) await attached.removeUnnamed();
      } else if (!isInStore) {
        await folder.putBack(store, path);
      }
      isStored = true;
      return answer.result;
    } finally {
      this.told.delete(runId);
      await this.settle(runId, isStored);
    }
  }

  /**
   * Fetches the feed's file and, if the source is a media store, its listing. Limited in time, since a server may take
   * long for each page, and list files without end.
   */
  private prepared(row: FeedRow, folder: FeedFolder, signal: AbortSignal): Promise<boolean> {
    const { media, runMsMax } = this.options;
    const { account, media_store: own, name, provider, state } = row;
    const path = feedPath(name);
    const late = new RunTimeOverError(Math.round(runMsMax / MINUTE_MS));
    return inTime({ milliseconds: runMsMax, signal, late }, async (inRun) => {
      const isInStore = await folder.fetch(media.open(account, own), path, inRun);
      if (provider.name !== 'media-store') return isInStore;
      const { store, prefix } = provider.settings;
      if (state.record_count > 0) await this.assertMounted(account, store);
      await folder.list(media.open(account, store), { prefix, own: store === own ? path : undefined, signal: inRun });
      return isInStore;
    });
  }

  /** True for the built-in store, which loses nothing that nobody deleted. */
  private isOwnStore({ account, provider }: FeedRow): boolean {
    return provider.name === 'media-store' && this.options.media.row(account, provider.settings.store) === undefined;
  }

  /**
   * Throws if the folder of a media store is empty, as it is when its disk is not mounted: that does not prove that
   * files are gone.
   */
  private async assertMounted(account: string, store: string): Promise<void> {
    const { media } = this.options;
    if (media.row(account, store)?.settings.kind !== 'folder') return;
    const { files } = await media.open(account, store).list({ prefix: '', after: '', size: 1 });
    if (files.length === 0)
      throw new SourceFailedError(
        `The folder of the media store '${store}' is empty, as it is where a disk is not mounted: nothing is removed for that.`,
      );
  }

  /** Keeps or discards what the run has learned. If that fails, the next run reads more. */
  private async settle(runId: string, isStored: boolean): Promise<void> {
    try {
      await this.options.host.call('settle', { runId, isStored });
    } catch (error) {
      this.options.log.warn({ err: error }, 'Could not save the state of a feed');
    }
  }

  private async failed(row: FeedRow, message: string, isEmptied: boolean): Promise<void> {
    const { feeds, clock, log } = this.options;
    const { account, name } = row;
    log.warn({ account, feed: name, reason: message }, 'Could not sync a feed');
    try {
      await feeds.change(row.id, ({ state }) => ({
        state: afterFailure(state, message, { at: clock.nowIso(), isEmptied, apartMsMax: apartMsMaxOf(row) }),
      }));
    } catch (error) {
      log.error({ err: error, account, feed: name }, 'Could not save the failure of a feed');
    }
  }

  /** Returns a sentence for the owner of the feed. */
  private messageOf(error: unknown, { account, name }: FeedRow): string {
    if (error instanceof SourceFailedError || error instanceof SecretUnreadableError) return error.message;
    const { log } = this.options;
    const told = toldFailure(error, log, { account, feed: name });
    if (told !== undefined) return told;
    log.error({ err: error, account, feed: name }, 'A run of a feed ended unexpectedly');
    return 'The run was cut short by a fault of the service, which is logged.';
  }
}

function apartMsMaxOf({ interval_minutes }: FeedRow): number {
  return longestWaitMs(interval_minutes * MINUTE_MS);
}
