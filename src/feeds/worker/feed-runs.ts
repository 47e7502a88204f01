/**
 * The work of the feed worker: reads sources at the same time, and keeps what a run is to remember until its file is
 * stored.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { GiveWay, systemClock, type Clock } from '../../platform/index.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { Emit, Served } from '../../platform/hosts/serve-host.js';
import { discoverPages } from '../crawl/discover.js';
import { HostPace } from '../crawl/host-pace.js';
import { runSync, type FeedSource } from '../file/sync-run.js';
import { RunTimeOverError, SourceEmptiedError, SourceFailedError, type SourceListener } from '../source/source-run.js';
import {
  NEXT_FILE,
  type FeedProtocol,
  type FeedWorkerData,
  type RunAsk,
  type SourceAsk,
  type SourceFault,
} from './feed-protocol.js';
import { keepAttached } from './attached-files.js';
import { LocalFiles } from './local-files.js';
import { cutShort, inTime } from './run-time.js';
import { crawlLimits, openSource, type OpenSource } from './provider-sources.js';

const USER_AGENT = 'gannet';
const CONNECTIONS_MAX = 64;
const CONNECTIONS_PER_HOST_MAX = 8;
const CONNECT_MS = 10_000;
const HEADERS_MS = 30_000;
const IDLE_MS = 30_000;
const ANSWER_MS_MAX = 300_000;
const KEEP_ALIVE_MS = 10_000;
const WAITING_MAX = 10_000;
const CHECK_MS_MAX = 30_000;
const MINUTE_MS = 60_000;
/** How long pages that are being read when the time of a run is over may still take. */
const CRAWL_END_MS_MAX = 2 * MINUTE_MS;
/** Minimum time between two reports of a run's progress. */
const PROGRESS_MS = 250;

export class FeedRuns {
  private readonly client: OutboundClient;
  /** Uses a clock that never jumps. */
  private readonly pace: HostPace;
  /** Runs whose file is not stored yet. */
  private readonly unsettled = new Map<string, OpenSource>();

  constructor(
    private readonly data: FeedWorkerData,
    private readonly emit: Emit<FeedProtocol>,
    private readonly clock: Clock = systemClock,
  ) {
    const { pageBytesMax, answerBytesMax } = data.limits;
    const bytesMax = Math.max(pageBytesMax, answerBytesMax);
    this.pace = new HostPace({ pagesPerSecond: data.limits.pagesPerSecond, nowMs: () => performance.now() });
    this.client = new OutboundClient({
      rules: data.outbound,
      userAgent: USER_AGENT,
      limits: {
        headersMs: HEADERS_MS,
        idleMs: IDLE_MS,
        totalMs: ANSWER_MS_MAX,
        wireBytesMax: bytesMax,
        bytesMax,
      },
      connectMs: CONNECT_MS,
      keepAliveMs: KEEP_ALIVE_MS,
      connectionsPerHostMax: CONNECTIONS_PER_HOST_MAX,
      connectionsMax: CONNECTIONS_MAX,
      waitingMax: WAITING_MAX,
      giveWay: new GiveWay(data.searches),
    });
  }

  served(): Served<FeedProtocol> {
    return {
      answers: {
        check: (ask, { signal }) => answered(() => this.check(ask, signal)),
        discover: (ask, { signal }) => answered(() => this.discover(ask, signal)),
        run: (ask, { signal }) => answered(() => this.run(ask, signal)),
        settle: async ({ runId, isStored }) => {
          await this.settle(runId, isStored);
          return null;
        },
      },
      notices: {},
      close: async () => {
        for (const { close } of this.unsettled.values()) close();
        await this.client.close();
      },
    };
  }

  private async check(ask: SourceAsk, signal: AbortSignal) {
    const { provider } = ask;
    if (provider.name === 'website') {
      const { settings } = provider;
      await discoverPages({
        settings: { ...settings, pages_max: settings.start_urls.length, depth_max: 0, sitemaps: [] },
        limits: { ...crawlLimits(this.data.limits), runMsMax: CHECK_MS_MAX },
        client: this.client,
        pace: this.pace,
        signal,
        nowMs: () => this.clock.nowMs(),
      });
    } else if (provider.name !== 'media-store') {
      const { source } = openSource(ask, { ...this.parts(), folder: undefined });
      await firstOf(source, signal);
    }
    return {};
  }

  private async discover({ provider }: SourceAsk, signal: AbortSignal) {
    if (provider.name !== 'website') throw new Error('only a website is discovered');
    const discovery = await discoverPages({
      settings: provider.settings,
      limits: crawlLimits(this.data.limits),
      client: this.client,
      pace: this.pace,
      signal,
      nowMs: () => this.clock.nowMs(),
    });
    return { discovery };
  }

  private async run(ask: RunAsk, signal: AbortSignal) {
    const { runId, feed, folder, isFresh, isEmptinessBelieved, apartMsMax } = ask;
    rmSync(join(folder, NEXT_FILE), { force: true });
    let toldMs = 0;
    const opened = openSource(ask, {
      ...this.parts(),
      folder,
      apartMsMax,
      keepFile: keepAttached(folder, { feed, mediaStore: ask.mediaStore }),
      onProgress: ({ done, queued }) => {
        if (performance.now() - toldMs < PROGRESS_MS) return;
        toldMs = performance.now();
        this.emit('progress', { runId, done, queued });
      },
    });
    const inRunTime = this.inRunTime(opened.source);
    try {
      const result = await runSync({
        feed,
        path: '',
        files: new LocalFiles(folder),
        source: keptLater(inRunTime),
        temporaryDir: folder,
        isFresh,
        isEmptinessBelieved,
        signal,
      });
      this.unsettled.set(runId, { ...opened, source: inRunTime });
      return { result };
    } catch (error) {
      opened.close();
      throw error;
    }
  }

  private inRunTime(source: FeedSource): FeedSource {
    const { runMsMax } = this.data.limits;
    const minutes = Math.round(runMsMax / MINUTE_MS);
    const late = new RunTimeOverError(minutes);
    // A crawl ends by itself after the pages that are being read, and remembers what it has read.
    return cutShort(source, runMsMax + (source.provider === 'website' ? CRAWL_END_MS_MAX : 0), late);
  }

  private async settle(runId: string, isStored: boolean): Promise<void> {
    const opened = this.unsettled.get(runId);
    this.unsettled.delete(runId);
    if (opened === undefined) return;
    try {
      if (isStored) await opened.source.keep();
    } finally {
      opened.close();
    }
  }

  private parts() {
    return {
      client: this.client,
      pace: this.pace,
      rules: this.data.outbound,
      clock: this.clock,
      limits: this.data.limits,
    };
  }
}

/** Returns the same source, which does not keep what it remembers before the file is in its store. */
function keptLater(source: FeedSource): FeedSource {
  return {
    provider: source.provider,
    asksForEach: source.asksForEach,
    read: (listener, options) => source.read(listener, options),
    confirmGone: (names, signal) => source.confirmGone(names, signal),
    fields: () => source.fields(),
    keep: () => Promise.resolve(),
  };
}

/** Reads until the first record, or to the end if there is none. */
async function firstOf(source: FeedSource, signal: AbortSignal): Promise<void> {
  const found = new AbortController();
  const enough = () => found.abort(FOUND);
  const listener: SourceListener = {
    record: enough,
    unchanged: enough,
    gone: () => undefined,
    skipped: () => undefined,
  };
  const late = new SourceFailedError(`The source has not answered within ${CHECK_MS_MAX / 1000} s.`);
  try {
    await inTime({ milliseconds: CHECK_MS_MAX, signal, late }, async (own) => {
      own.addEventListener('abort', () => found.abort(own.reason), { once: true });
      if (own.aborted) found.abort(own.reason);
      await source.read(listener, { isFresh: true, signal: found.signal });
    });
  } catch (error) {
    if (error !== FOUND && found.signal.reason !== FOUND) throw error;
  }
}

const FOUND = new Error('there is a record');

/** Turns the failure of a source into an answer. Other errors are passed on. */
async function answered<Found extends object>(
  action: () => Promise<Found>,
): Promise<({ readonly isOk: true } & Found) | SourceFault> {
  try {
    return { isOk: true, ...(await action()) };
  } catch (error) {
    if (error instanceof SourceFailedError) {
      const { message, retryAfterMs } = error;
      const isEmptied = error instanceof SourceEmptiedError;
      return { isOk: false, message, isEmptied, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    }
    throw error;
  }
}
