/** The tasks of the analytics worker on a real store, compared with a naive count of the same events. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { uuidv7 } from '../platform/index.js';
import type { AnalyticsRecorder } from './analytics-recorder.js';
import type { SearchEvent, ShownResult } from './event-codec.js';
import { learnedFile, readLearned } from './learned-file.js';
import { DAY_MS } from './report-range.js';
import type { ReportFigures } from './report.js';
import { groupTarget, listTarget, type AnalyticsTarget } from './targets.js';
import { AnalyticsTaskHandler } from './task-handler.js';
import type { AnalyticsExecutor } from './tasks.js';
import { recorderFor } from '../../test/support/analytics.js';

const NOW_MS = Date.parse('2026-11-21T12:30:00Z');
const TODAY = Math.floor(NOW_MS / DAY_MS);
const ONE = listTarget({ id: 'one' });
const TWO = listTarget({ id: 'two' });
const GROUP = groupTarget({ account: 'a', name: 'g', created_utc: '2026-01-01T00:00:00.000Z' });

let folder: string;
let nowMs = NOW_MS;
/** The time of a clock that is never set. */
let steadyMs = 0;
let handler: AnalyticsTaskHandler;
let recorder: AnalyticsRecorder;
const executor: AnalyticsExecutor = { run: (task) => handler.run(task) };

beforeEach(() => {
  nowMs = NOW_MS;
  folder = mkdtempSync(join(tmpdir(), 'gannet-analytics-'));
  open();
});
afterEach(async () => {
  await handler.close();
  rmSync(folder, { recursive: true });
});

function open(): void {
  handler = new AnalyticsTaskHandler(folder, () => steadyMs);
  recorder = recorderFor(executor, { nowMs: () => nowMs });
}

async function rollUp(atMs = nowMs): Promise<void> {
  while ((await handler.run({ kind: 'roll-up', nowMs: atMs })).hasMore);
}

function report(target: AnalyticsTarget, fromDay = TODAY - 29, toDay = TODAY): Promise<ReportFigures> {
  return handler.run({ kind: 'report', identity: target.identity, fromDay, toDay, termsMax: 20, rawReadMsMax: 60_000 });
}

function search(target: AnalyticsTarget, term: string, more: Partial<SearchEvent> & { timeMs?: number } = {}): string {
  const queryId = uuidv7(more.timeMs ?? nowMs);
  recorder.searched(target, { queryId, term, hasResults: true, ...more });
  return queryId;
}

describe('reports', () => {
  it('are equal to a naive count, whenever events are rolled up, days end and the storage is reopened', async () => {
    const step = fc.record({
      target: fc.constantFrom(ONE, TWO, GROUP),
      minutesLater: fc.constantFrom(0, 0, 0, 0, 5, 70, 700, 3000),
      term: fc.constantFrom('', 'red', 'blue', 'grün', 'red sea', 'x'.repeat(100)),
      hasResults: fc.boolean(),
      places: fc.option(fc.shuffledSubarray([0, 1, 2, 3, 4, 50], { minLength: 1 }), { nil: undefined }),
      /** For clicks, the earlier search that they belong to; undefined for a search. */
      clicks: fc.option(fc.nat(20), { nil: undefined, freq: 3 }),
      place: fc.nat(5),
      after: fc.constantFrom('nothing', 'nothing', 'nothing', 'flush', 'roll-up', 'next-day', 'restart'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        await handler.close();
        rmSync(folder, { recursive: true });
        nowMs = NOW_MS - 200 * DAY_MS;
        open();
        const naive = new Map([ONE, TWO, GROUP].map((target) => [target, new NaiveReport()]));
        const searches: { target: AnalyticsTarget; queryId: string; shown: readonly ShownResult[] }[] = [];
        for (const { target, minutesLater, term, hasResults, places, clicks, place, after } of steps) {
          if (minutesLater > 0) await recorder.flush();
          nowMs += minutesLater * 60_000;
          const ofGroup = target === GROUP ? { listName: 'one' } : {};
          const own = naive.get(target) as NaiveReport;
          const earlier = clicks === undefined ? undefined : searches[clicks % Math.max(1, searches.length)];
          if (earlier === undefined) {
            const shown = places?.map((placeBefore) => ({ name: `r${placeBefore}`, placeBefore, ...ofGroup }));
            const queryId = search(target, term, { hasResults, ...(shown === undefined ? {} : { shown }) });
            own.search(nowMs, term, hasResults, shown);
            searches.push({ target, queryId, shown: shown ?? [] });
          } else {
            const resultName = earlier.shown[place]?.name ?? 'elsewhere';
            recorder.clicked(target, { timeMs: nowMs, queryId: earlier.queryId, resultName, ...ofGroup });
            own.click(nowMs, earlier.target === target ? place : -1, earlier.shown);
          }
          if (after !== 'nothing') await recorder.flush();
          if (after === 'roll-up') await rollUp();
          if (after === 'next-day') await rollUp(nowMs + DAY_MS);
          if (after === 'restart') {
            await handler.close();
            open();
          }
        }
        await recorder.flush();
        const [fromDay, toDay] = [Math.floor(nowMs / DAY_MS) - 200, Math.floor(nowMs / DAY_MS)];
        for (const [target, expected] of naive) {
          const { from: _from, to: _to, catching_up, daily, ...figures } = await report(target, fromDay, toDay);
          expect(catching_up).toBe(false);
          expect(figures).toEqual(expected.figures());
          expect(daily).toEqual(expected.daily(toDay, 201));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('include every event that was appended in the millisecond of a restart', async () => {
    for (let time = 0; time < 3; ++time) {
      search(ONE, 'red');
      await recorder.flush();
      await handler.close();
      open();
    }
    expect(await report(ONE)).toMatchObject({ total_searches: 3 });
  });

  it('leave out events outside of their days', async () => {
    search(ONE, 'old', { timeMs: NOW_MS - 40 * DAY_MS });
    search(ONE, 'new');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({ total_searches: 1, top_searches: [{ term: 'new', count: 1 }] });
    await rollUp();
    expect(await report(ONE, TODAY - 365)).toMatchObject({ total_searches: 2 });
  });

  it('are catching up while not all raw events can be read in time', async () => {
    for (let count = 0; count < 300; ++count) {
      for (let event = 0; event < 500; ++event) search(ONE, `term ${event} ${'x'.repeat(60)}`);
      await recorder.flush();
    }
    const hurried = await handler.run({
      kind: 'report',
      identity: ONE.identity,
      fromDay: TODAY,
      toDay: TODAY,
      termsMax: 20,
      rawReadMsMax: 0,
    });
    expect(hurried.catching_up).toBe(true);
    expect(hurried.total_searches).toBeLessThan(150_000);
    await rollUp();
    expect(await report(ONE)).toMatchObject({ catching_up: false, total_searches: 150_000 });
  });
});

describe("the reranker's figures in a report", () => {
  const shown = (...places: readonly number[]) =>
    places.map((placeBefore) => ({ name: `r${placeBefore}`, placeBefore }));

  it('tell how far results were moved, and are 0 without a reranker', async () => {
    search(ONE, 'plain');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({
      reranked_searches: 0,
      reranker_top_changed_rate: 0,
      reranker_mean_displacement: 0,
    });
    // A reorder within the page sums up to 0, one from behind the page does not.
    search(ONE, 'inside', { shown: shown(1, 0) });
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({
      reranked_searches: 1,
      reranker_top_changed_rate: 1,
      reranker_mean_displacement: 0,
    });
    search(ONE, 'from behind', { shown: shown(0, 9) });
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({
      reranked_searches: 2,
      reranker_top_changed_rate: 0.5,
      reranker_mean_displacement: 2,
    });
  });

  it('join clicks with their searches for the lift, but not clicks of a group without a list', async () => {
    const queryId = search(ONE, 'red', { shown: shown(5, 0, 1) });
    const click = (resultName: string) => {
      recorder.clicked(ONE, { timeMs: NOW_MS, queryId, resultName });
    };
    click('r5');
    click('r0');
    click('r9');
    recorder.clicked(ONE, { timeMs: NOW_MS, queryId: 'no id', resultName: 'r5' });
    const ofGroup = search(GROUP, 'red', { shown: [{ name: 'x', listName: 'one', placeBefore: 3 }] });
    recorder.clicked(GROUP, { timeMs: NOW_MS, queryId: ofGroup, resultName: 'x' });
    recorder.clicked(GROUP, { timeMs: NOW_MS, queryId: ofGroup, resultName: 'x', listName: 'two' });
    recorder.clicked(GROUP, { timeMs: NOW_MS, queryId: ofGroup, resultName: 'x', listName: 'one' });
    await recorder.flush();
    for (const _time of ['from raw events', 'from roll-ups']) {
      expect(await report(ONE)).toMatchObject({
        total_clicks: 4,
        reranker_click_lift: 2,
        reranker_lift_sample_size: 2,
      });
      expect(await report(GROUP)).toMatchObject({
        total_clicks: 3,
        reranker_click_lift: 3,
        reranker_lift_sample_size: 1,
      });
      await rollUp();
    }
  });
});

describe('a batch of events', () => {
  it('that is sent again is not counted again', async () => {
    const sent: Parameters<AnalyticsExecutor['run']>[0][] = [];
    recorder = recorderFor({
      async run(task) {
        sent.push(task);
        return handler.run(task);
      },
    });
    search(ONE, 'red');
    await recorder.flush();
    for (const task of sent) await handler.run(task);
    search(ONE, 'blue');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({ total_searches: 2 });
  });
});

describe('deleted analytics of a target', () => {
  it('stay deleted when late events come, and are purged again 15 minutes later, even after a restart', async () => {
    search(ONE, 'red');
    search(TWO, 'red');
    await recorder.flush();
    await rollUp();
    await handler.run({ kind: 'forget', identity: ONE.identity, nowMs: NOW_MS });
    search(ONE, 'late');
    search(TWO, 'blue');
    await recorder.flush();
    await rollUp(NOW_MS + 14 * 60_000);
    expect(await report(ONE)).toMatchObject({ total_searches: 0 });
    expect(await report(TWO)).toMatchObject({ total_searches: 2 });
    expect(readLearned(learnedFile(folder, 'one'))).toBeUndefined();
    await handler.close();
    open();
    search(ONE, 'still late');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({ total_searches: 0 });
    await rollUp(NOW_MS + 15 * 60_000);
    // The purge is done: as identities are never used again, nothing is kept about this one.
    search(ONE, 'much later');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({ total_searches: 1, top_searches: [{ term: 'much later' }] });
  });

  it('are purged again even if the clock was years ahead at the deletion', async () => {
    search(ONE, 'red');
    await recorder.flush();
    await handler.run({ kind: 'forget', identity: ONE.identity, nowMs: NOW_MS + 3650 * DAY_MS });
    await rollUp();
    search(ONE, 'much later');
    await recorder.flush();
    expect(await report(ONE)).toMatchObject({ total_searches: 1 });
  });

  it('can be deleted twice, as after a crash', async () => {
    search(ONE, 'red');
    search(GROUP, 'red');
    await recorder.flush();
    for (let time = 0; time < 2; ++time) {
      await handler.run({ kind: 'forget', identity: ONE.identity, nowMs: NOW_MS });
      expect(await report(ONE)).toMatchObject({ total_searches: 0 });
    }
    expect(await report(GROUP)).toMatchObject({ total_searches: 1 });
  });
});

describe('what is learned about a list', () => {
  it('are searches with hits, and the records that were clicked for them', async () => {
    const redId = search(ONE, 'red');
    search(ONE, 'red');
    search(ONE, 'once');
    const clicked = search(ONE, 'once and clicked');
    for (let time = 0; time < 5; ++time) search(ONE, 'nothing', { hasResults: false });
    search(GROUP, 'of the group');
    recorder.clicked(ONE, { timeMs: NOW_MS, queryId: redId, resultName: 'a' });
    recorder.clicked(ONE, { timeMs: NOW_MS, queryId: clicked, resultName: 'b' });
    recorder.clicked(GROUP, { timeMs: NOW_MS, queryId: redId, resultName: 'c' });
    await recorder.flush();
    await rollUp();
    const learned = readLearned(learnedFile(folder, 'one'));
    expect(learned?.queries).toEqual([
      { text: 'red', searches: 2, clicks: 1 },
      { text: 'once and clicked', searches: 1, clicks: 1 },
    ]);
    expect(learned?.clicked).toEqual([
      { query: 'once and clicked', record: 'b', clicks: 1 },
      { query: 'red', record: 'a', clicks: 1 },
    ]);
  });

  it('is updated as soon as a clock that was ten years ahead is corrected, and clicks find their searches', async () => {
    nowMs += 3650 * DAY_MS;
    search(ONE, 'ahead');
    await recorder.flush();
    await rollUp();
    nowMs = NOW_MS;
    steadyMs += 60_000;
    const queryId = search(ONE, 'red');
    await recorder.flush();
    // By then the search is in a roll-up, and the click must find it among the appended events.
    await rollUp();
    steadyMs += 60_000;
    recorder.clicked(ONE, { timeMs: nowMs, queryId, resultName: 'a' });
    await recorder.flush();
    await rollUp();
    expect(readLearned(learnedFile(folder, 'one'))).toEqual({
      queries: [{ text: 'red', searches: 1, clicks: 1 }],
      clicked: [{ query: 'red', record: 'a', clicks: 1 }],
    });
  });
});

/** Counts a report with plain sums and maps. */
class NaiveReport {
  private readonly days = new Map<number, { searches: number; zero: number; clicks: number }>();
  private readonly terms = new Map<string, number>();
  private readonly zeroTerms = new Map<string, number>();
  private reranked = { searches: 0, top: 0, moved: 0, shown: 0, lift: 0, sample: 0 };

  search(timeMs: number, term: string, hasResults: boolean, shown: readonly ShownResult[] | undefined): void {
    const day = this.day(timeMs);
    day.searches += 1;
    if (!hasResults) day.zero += 1;
    if (term !== '') this.terms.set(term, (this.terms.get(term) ?? 0) + 1);
    if (term !== '' && !hasResults) this.zeroTerms.set(term, (this.zeroTerms.get(term) ?? 0) + 1);
    if (shown === undefined) return;
    this.reranked.searches += 1;
    if (shown[0] !== undefined && shown[0].placeBefore > 0) this.reranked.top += 1;
    for (const [place, { placeBefore }] of shown.entries()) this.reranked.moved += placeBefore - place;
    this.reranked.shown += shown.length;
  }

  click(timeMs: number, place: number, shown: readonly ShownResult[]): void {
    this.day(timeMs).clicks += 1;
    const clicked = shown[place];
    if (clicked === undefined) return;
    this.reranked.lift += clicked.placeBefore - place;
    this.reranked.sample += 1;
  }

  figures() {
    const days = [...this.days.values()];
    const searches = days.reduce((sum, day) => sum + day.searches, 0);
    const clicks = days.reduce((sum, day) => sum + day.clicks, 0);
    const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
    const { reranked } = this;
    return {
      total_searches: searches,
      zero_result_searches: days.reduce((sum, day) => sum + day.zero, 0),
      total_clicks: clicks,
      click_through_rate: ratio(clicks, searches),
      top_searches: top(this.terms),
      top_zero_result_searches: top(this.zeroTerms),
      reranked_searches: reranked.searches,
      reranker_top_changed_rate: ratio(reranked.top, reranked.searches),
      reranker_mean_displacement: ratio(reranked.moved, reranked.shown),
      reranker_click_lift: ratio(reranked.lift, reranked.sample),
      reranker_lift_sample_size: reranked.sample,
    };
  }

  daily(today: number, days: number) {
    return Array.from({ length: days }, (_, index) => {
      const day = today - days + 1 + index;
      const { searches, zero, clicks } = this.days.get(day) ?? { searches: 0, zero: 0, clicks: 0 };
      const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
      return { date, searches, zero_result_searches: zero, clicks };
    });
  }

  private day(timeMs: number) {
    const number = Math.floor(timeMs / DAY_MS);
    let day = this.days.get(number);
    if (day === undefined) this.days.set(number, (day = { searches: 0, zero: 0, clicks: 0 }));
    return day;
  }
}

function top(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .slice(0, 20)
    .map(([term, count]) => ({ term, count }));
}
