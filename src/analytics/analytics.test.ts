import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../platform/config.js';
import { ServiceError, systemClock, uuidv7 } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { createAnalytics } from './analytics.js';
import { listTarget } from './targets.js';
import type { AnalyticsExecutor, AnalyticsTask } from './tasks.js';

const TARGET = listTarget({ id: 'one' });
const RANGE = { fromDay: 1, toDay: 1 };
const NEVER = new Promise<never>(() => undefined);

function analyticsWith(
  run: (task: AnalyticsTask) => Promise<unknown>,
  env: Record<string, string> = {},
  isRecorded = () => true,
) {
  const metrics = createMetrics();
  return createAnalytics({
    config: loadConfig({ argv: [], env: { GANNET_ANALYTICS_REPORT_MS_MAX: '100', ...env } }),
    executor: { run: run as AnalyticsExecutor['run'] },
    isRecorded,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    metrics,
  });
}

const event = () => ({ queryId: uuidv7(), term: 'red', hasResults: true });

afterEach(() => {
  vi.useRealTimers();
});

describe('analytics with slow or failing storage', () => {
  it('answers reports with 503, without a Retry-After', async () => {
    for (const run of [() => NEVER, () => Promise.reject(new ServiceError('storage-full', 'The disk is full.'))]) {
      const refused = analyticsWith(run).report(TARGET, RANGE);
      await expect(refused).rejects.toMatchObject({
        code: 'analytics-unavailable',
        status: 503,
        retryAfterSeconds: undefined,
      });
    }
  });

  it('answers reports with 503 while earlier events wait to be written', async () => {
    const analytics = analyticsWith(({ kind }) => (kind === 'append' ? NEVER : Promise.resolve({})));
    analytics.searched(TARGET, event());
    await expect(analytics.report(TARGET, RANGE)).rejects.toMatchObject({ code: 'analytics-unavailable' });
  });

  it('neither blocks a stop for ever nor makes deletions fail', async () => {
    vi.useFakeTimers();
    const stalled = analyticsWith(() => NEVER);
    stalled.searched(TARGET, event());
    const ended = stalled.close();
    await vi.advanceTimersByTimeAsync(30_000);
    await ended;
    const failing = analyticsWith(() => Promise.reject(new Error('no storage')));
    await expect(failing.forget(TARGET)).resolves.toBe(false);
  });
});

describe('analytics', () => {
  it('are rolled up from the start until everything is done, and after a failure', async () => {
    vi.useFakeTimers();
    const kinds: string[] = [];
    let left = 3;
    const analytics = analyticsWith(
      (task) => {
        kinds.push(task.kind);
        if (task.kind !== 'roll-up') return Promise.resolve(undefined);
        if (kinds.length === 1) return Promise.reject(new Error('once'));
        left -= 1;
        return Promise.resolve({ hasMore: left > 0, eventsRolledUp: 1 });
      },
      { GANNET_ANALYTICS_ROLL_UP_SECONDS: '10' },
    );
    analytics.start();
    await vi.advanceTimersByTimeAsync(9000);
    expect(kinds).toEqual(['roll-up']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(kinds.slice(1)).toEqual(['roll-up', 'roll-up', 'roll-up']);
    await analytics.close();
  });

  it('use no thread before anything was recorded, and roll up later events', async () => {
    vi.useFakeTimers();
    const kinds: string[] = [];
    const run = ({ kind }: AnalyticsTask) => {
      kinds.push(kind);
      return Promise.resolve({ hasMore: false, eventsRolledUp: 0, backlogBytes: 0 });
    };
    const env = { GANNET_ANALYTICS_ROLL_UP_SECONDS: '10', GANNET_ANALYTICS_FLUSH_MS: '1000' };
    const analytics = analyticsWith(run, env, () => kinds.includes('append'));
    analytics.start();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(kinds).toEqual([]);
    analytics.searched(TARGET, event());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(kinds).toEqual(['append', 'roll-up']);
    await analytics.close();
  });

  it('record and start nothing if they are off', async () => {
    const run = vi.fn(() => Promise.resolve(undefined));
    const analytics = analyticsWith(run, { GANNET_ANALYTICS_ENABLED: 'false' });
    analytics.start();
    analytics.searched(TARGET, event());
    analytics.clicked(TARGET, { timeMs: 1, queryId: 'x', resultName: 'y' });
    await analytics.close();
    expect(run).not.toHaveBeenCalled();
  });
});
