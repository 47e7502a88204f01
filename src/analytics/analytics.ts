/** Analytics for operations: records, reports and forgets. Main thread only. */
import type { Logger } from 'pino';
import { ServiceError, serviceKey, within, type Clock, type Config, type Metrics } from '../platform/index.js';
import { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
import { AnalyticsRecorder } from './analytics-recorder.js';
import type { ClickEvent, SearchEvent } from './event-codec.js';
import { REPORT_TERMS_MAX, type DayRange } from './report-range.js';
import type { ReportFigures } from './report.js';
import type { AnalyticsTarget } from './targets.js';
import type { AnalyticsExecutor } from './tasks.js';

const MIB = 1_048_576;
/** Bytes of events that are rolled up without waiting for the timer, so that reports read few raw events. */
const BACKLOG_BYTES_MAX = 4 * MIB;
/** Longest time that a stop waits for events to be written: that is little work, but the machine may be busy. */
const STOP_WAIT_MS_MAX = 30_000;
/** Share of a report's time that it may spend on reading raw events. */
const RAW_READ_SHARE = 0.5;

export interface Analytics {
  /** Counts a search that ran. Never throws, never waits. */
  searched(target: AnalyticsTarget, event: SearchEvent): void;
  clicked(target: AnalyticsTarget, event: ClickEvent): void;
  /**
   * Reports what was recorded before the call, with the `termsMax` (default 20) most frequent terms of both kinds.
   * Rejects with `analytics-unavailable` if the storage fails or is slow.
   */
  report(target: AnalyticsTarget, range: DayRange, termsMax?: number): Promise<ReportFigures>;
  /**
   * Deletes what was recorded, now and again later. Never rejects. Resolves with false if it failed, which is logged,
   * or takes long: it has to be called again at the next start then.
   */
  forget(target: AnalyticsTarget): Promise<boolean>;
}

/** Key of analytics for operations. */
export const ANALYTICS = serviceKey<Analytics>('analytics');

export interface RunningAnalytics extends Analytics {
  /** Starts to roll up periodically; does nothing if analytics are disabled. */
  start(): void;
  /** Writes the recorded events to disk. */
  close(): Promise<void>;
}

export interface AnalyticsOptions {
  readonly config: Pick<Config, 'analytics'>;
  readonly executor: AnalyticsExecutor;
  /** True if anything was ever recorded, by this process or an earlier one. */
  readonly isRecorded: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export function createAnalytics(options: AnalyticsOptions): RunningAnalytics {
  return new QueuedAnalytics(options);
}

class QueuedAnalytics implements RunningAnalytics {
  readonly #options: AnalyticsOptions;
  readonly #recorder: AnalyticsRecorder;
  readonly #isEnabled: boolean;
  #timer: NodeJS.Timeout | undefined;
  #isRollingUp = false;
  #isClosing = false;

  constructor(options: AnalyticsOptions) {
    const { config, executor, clock, log, metrics } = options;
    this.#options = options;
    this.#isEnabled = config.analytics.enabled;
    this.#recorder = new AnalyticsRecorder({
      executor,
      flushMs: config.analytics.flush_ms,
      bufferBytesMax: config.analytics.buffer_mib * MIB,
      clock,
      log,
      metrics,
      onAppended: ({ backlogBytes }) => {
        if (backlogBytes > BACKLOG_BYTES_MAX && this.#timer !== undefined) void this.#rollUp();
      },
    });
  }

  searched(target: AnalyticsTarget, event: SearchEvent): void {
    if (this.#isEnabled) this.#recorder.searched(target, event);
  }

  clicked(target: AnalyticsTarget, event: ClickEvent): void {
    if (this.#isEnabled) this.#recorder.clicked(target, event);
  }

  async report(
    target: AnalyticsTarget,
    { fromDay, toDay }: DayRange,
    termsMax = REPORT_TERMS_MAX,
  ): Promise<ReportFigures> {
    const { config, executor, log } = this.#options;
    const waitMsMax = config.analytics.report_ms_max;
    const rawReadMsMax = waitMsMax * RAW_READ_SHARE;
    const answer = async () => {
      await this.#recorder.flush();
      return executor.run({ kind: 'report', identity: target.identity, fromDay, toDay, termsMax, rawReadMsMax });
    };
    try {
      const figures = await within(waitMsMax, answer());
      if (figures !== undefined) return figures;
    } catch (error) {
      log.error({ err: error }, 'An analytics report failed');
      throw unavailable(error);
    }
    throw unavailable(undefined);
  }

  async forget({ identity }: AnalyticsTarget): Promise<boolean> {
    const { executor, clock, log } = this.#options;
    return executor.run({ kind: 'forget', identity, nowMs: clock.nowMs() }).then(
      () => true,
      (error: unknown) => {
        log.error(
          { err: error, identity },
          'Could not delete the analytics of a deleted list or group; will retry at the next start',
        );
        return false;
      },
    );
  }

  start(): void {
    if (!this.#isEnabled) return;
    const { config } = this.#options;
    this.#timer = setInterval(() => void this.#rollUp(), config.analytics.roll_up_seconds * 1000).unref();
    void this.#rollUp();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearInterval(this.#timer);
    await within(STOP_WAIT_MS_MAX, this.#recorder.flushOnce());
    this.#recorder.stop();
  }

  async #rollUp(): Promise<void> {
    const { executor, isRecorded, clock, log, metrics } = this.#options;
    // Nothing was recorded: starting the thread would take a seventh of the time of a start and stop.
    if (this.#isRollingUp || !isRecorded()) return;
    this.#isRollingUp = true;
    try {
      for (let hasMore = true; hasMore && !this.#isClosing;) {
        const outcome = await executor.run({ kind: 'roll-up', nowMs: clock.nowMs() });
        metrics.analyticsEventsRolledUp.inc(outcome.eventsRolledUp);
        ({ hasMore } = outcome);
      }
    } catch (error) {
      log.error({ err: error }, 'Rolling up analytics failed; will retry');
    } finally {
      this.#isRollingUp = false;
    }
  }
}

function unavailable(cause: unknown): ServiceError {
  const detail = 'The analytics storage does not answer at the moment; try again later.';
  return new ServiceError(ANALYTICS_UNAVAILABLE, detail, { cause });
}
