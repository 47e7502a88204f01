/** Analytics recorders for tests. */
import { pino } from 'pino';
import { AnalyticsRecorder } from '../../src/analytics/analytics-recorder.js';
import type { AnalyticsExecutor } from '../../src/analytics/index.js';
import { systemClock, type Clock, type Metrics } from '../../src/platform/index.js';
import { createMetrics } from '../../src/platform/metrics.js';

export interface TestRecorderOptions {
  readonly nowMs?: () => number;
  /** Default: an hour, so that tests flush explicitly. */
  readonly flushMs?: number;
  readonly bufferBytesMax?: number;
  readonly metrics?: Metrics;
}

export function recorderFor(executor: AnalyticsExecutor, options: TestRecorderOptions = {}): AnalyticsRecorder {
  const {
    nowMs = () => systemClock.nowMs(),
    flushMs = 3_600_000,
    bufferBytesMax = 2 ** 24,
    metrics = createMetrics(),
  } = options;
  const clock: Clock = { nowMs, nowIso: () => new Date(nowMs()).toISOString() };
  const log = pino({ level: 'silent' });
  return new AnalyticsRecorder({ executor, flushMs, bufferBytesMax, clock, log, metrics, onAppended: () => undefined });
}
