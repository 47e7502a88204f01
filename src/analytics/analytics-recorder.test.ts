import { afterEach, describe, expect, it, vi } from 'vitest';
import { recorderFor } from '../../test/support/analytics.js';
import { ServiceError, uuidv7 } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { splitBatch } from './event-batch.js';
import { EventReader } from './event-codec.js';
import { listTarget } from './targets.js';
import type { AnalyticsExecutor, AppendTask } from './tasks.js';

const ONE = listTarget({ id: 'one' });
const TWO = listTarget({ id: 'two' });
const event = (term: string) => ({ queryId: uuidv7(), term, hasResults: true });

/** A worker that stores batches as the test decides. */
class Worker implements AnalyticsExecutor {
  readonly taken: AppendTask['batch'][] = [];
  tries = 0;
  isFailing = false;
  private release: (() => void) | undefined;
  private stopped: Promise<void> | undefined;

  /** Makes appends wait for `goOn`. */
  stall(): void {
    this.stopped = new Promise((resolve) => (this.release = resolve));
  }

  goOn(): void {
    this.stopped = undefined;
    this.release?.();
  }

  run: AnalyticsExecutor['run'] = async (task) => {
    this.tries += 1;
    await this.stopped;
    if (this.isFailing) throw new ServiceError('storage-full', 'The disk is full.');
    this.taken.push((task as AppendTask).batch);
    return { backlogBytes: 0 } as never;
  };

  terms(): string[] {
    const terms: string[] = [];
    for (const batch of this.taken) {
      for (const block of splitBatch(batch)) {
        const reader = new EventReader().reset(block);
        while (reader.next()) terms.push(Buffer.from(block.subarray(reader.textBegin, reader.textEnd)).toString());
      }
    }
    return terms;
  }
}

async function dropped(metrics: ReturnType<typeof createMetrics>): Promise<number> {
  const { values } = await metrics.analyticsEventsDropped.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

afterEach(() => {
  vi.useRealTimers();
});

describe('AnalyticsRecorder', () => {
  it('hands over what was recorded once per flush, separated by target, in its order', async () => {
    const worker = new Worker();
    const recorder = recorderFor(worker);
    recorder.searched(ONE, event('a'));
    recorder.searched(TWO, event('b'));
    recorder.searched(ONE, event('c'));
    expect(worker.taken).toEqual([]);
    await recorder.flush();
    expect(worker.taken).toHaveLength(1);
    expect(worker.taken[0]).toMatchObject({ number: 1, events: 3, targets: [ONE.identity, TWO.identity] });
    expect(worker.terms()).toEqual(['a', 'c', 'b']);
    await recorder.flush();
    expect(worker.taken).toHaveLength(1);
  });

  it('flushes by itself within its interval', async () => {
    vi.useFakeTimers();
    const worker = new Worker();
    const recorder = recorderFor(worker, { flushMs: 500 });
    recorder.searched(ONE, event('a'));
    await vi.advanceTimersByTimeAsync(499);
    expect(worker.tries).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(worker.terms()).toEqual(['a']);
  });

  it('drops and counts what does not fit while the storage is slow, and does not wait', async () => {
    const worker = new Worker();
    const metrics = createMetrics();
    const recorder = recorderFor(worker, { bufferBytesMax: 1024 * 1024, metrics });
    worker.stall();
    const count = 50_000;
    for (let number = 0; number < count; ++number) recorder.searched(ONE, event(`term ${number}`));
    expect(worker.tries).toBe(1);
    const lost = await dropped(metrics);
    expect(lost).toBeGreaterThan(0);
    worker.goOn();
    await recorder.flush();
    expect(worker.terms()).toHaveLength(count - lost);
    recorder.searched(ONE, event('afterwards'));
    await recorder.flush();
    expect(worker.terms().at(-1)).toBe('afterwards');
    expect(await dropped(metrics)).toBe(lost);
  });

  it('retries batches that could not be written, and gives up after ten minutes', async () => {
    vi.useFakeTimers();
    const worker = new Worker();
    const metrics = createMetrics();
    const recorder = recorderFor(worker, { flushMs: 500, metrics });
    worker.isFailing = true;
    recorder.searched(ONE, event('kept'));
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    expect(worker.tries).toBeGreaterThan(10);
    worker.isFailing = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(worker.terms()).toEqual(['kept']);
    worker.isFailing = true;
    recorder.searched(ONE, event('lost'));
    await vi.advanceTimersByTimeAsync(11 * 60_000);
    expect(await dropped(metrics)).toBe(1);
    const { tries } = worker;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(worker.tries).toBe(tries);
  });

  it('tries once more before a stop, and does not wait for a failing storage', async () => {
    vi.useFakeTimers();
    const worker = new Worker();
    const recorder = recorderFor(worker);
    worker.isFailing = true;
    recorder.searched(ONE, event('a'));
    void recorder.flush();
    await vi.advanceTimersByTimeAsync(0);
    expect(worker.tries).toBe(1);
    // The regular retry would be much later.
    await recorder.flushOnce();
    expect(worker.tries).toBe(2);
    const other = recorderFor(worker);
    other.searched(ONE, event('b'));
    worker.isFailing = false;
    await other.flushOnce();
    expect(worker.terms()).toEqual(['b']);
  });

  it('drops an event that is too large for any batch', async () => {
    const worker = new Worker();
    const metrics = createMetrics();
    const recorder = recorderFor(worker, { metrics });
    recorder.clicked(ONE, { timeMs: 1, queryId: 'x', resultName: 'y'.repeat(300_000) });
    await recorder.flush();
    expect([worker.tries, await dropped(metrics)]).toEqual([0, 1]);
  });
});
