/**
 * Measures generated events of a year, rolled up by hours, closed by days and reported: events per second, milliseconds per report, and whether a
 * naive count of the same events gives the same. `node bench/analytics/roll-up.mjs [events in millions, default 5]`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AnalyticsStore } from '#src/analytics/analytics-store.js';
import { EventCounter } from '#src/analytics/event-counter.js';
import { blockKey } from '#src/analytics/store-keys.js';
import { closeDays, readReport } from '#src/analytics/store-reading.js';
import { readNumbers } from '../end-to-end/lib/options.mjs';
import { barRow, formatCount, machineTable, markdownTable, quantile } from '../end-to-end/lib/report.mjs';
import { NaiveDay, naiveReport } from './naive-report.mjs';
import { laterEvents, syntheticEvents } from './synthetic.mjs';

const DAYS = 366;
const HOURS = DAYS * 24;
const DAY_MS = 86_400_000;
const FIRST_DAY = 20_000;
const TERMS = 200_000;
const TARGET = 1;
const REPORTS = 20;
const REPORT_TERMS = 20;
/** Number of generated events. Later days repeat these at another time, as generating events takes longer than counting them. */
const DIFFERENT_EVENTS_MAX = 5_000_000;
const EVENTS_PER_SECOND_BAR = 1_000_000;
const REPORT_MS_BAR = 50;

export async function measureRollUp({ millions = 5 } = {}) {
  const perHour = Math.ceil((millions * 1e6) / HOURS);
  const folder = mkdtempSync(join(tmpdir(), 'gannet-bench-analytics-'));
  const store = new AnalyticsStore(folder);
  const range = { fromDay: FIRST_DAY, toDay: FIRST_DAY + DAYS - 1 };
  const differentDays = Math.max(1, Math.min(DAYS, Math.floor(DIFFERENT_EVENTS_MAX / (perHour * 24))));
  const made = makeDays(differentDays, perHour);
  const naiveDays = [];
  let [bytes, countMs, storeMs, termErrorMax] = [0, 0, 0, 0];
  const timed = async (action) => {
    const begin = performance.now();
    await action();
    return performance.now() - begin;
  };
  try {
    for (let day = FIRST_DAY; day < FIRST_DAY + DAYS; day += 1) {
      const { blocks: ofFirstDay, naive } = made[(day - FIRST_DAY) % differentDays];
      const blocks = ofFirstDay.map((block) => laterEvents(block, (day - FIRST_DAY) * DAY_MS));
      naiveDays.push(naive);
      bytes += blocks.reduce((sum, block) => sum + block.length, 0);
      const counter = new EventCounter(true);
      countMs += await timed(() => counter.count(blocks));
      assert.equal(counter.damagedBlocks, 0);
      const upTo = blockKey(TARGET, (day + 1) * DAY_MS - 1, 0);
      storeMs += await timed(() => store.addHours(TARGET, counter.hours, upTo));
      storeMs += await timed(() => closeDays(store, TARGET, day + 1));
    }
    for (const [, rollUp] of store.dayRollUps(TARGET, range.fromDay, range.toDay)) {
      termErrorMax = Math.max(termErrorMax, rollUp.list('terms').errorMax);
    }
    const reportsMs = [];
    let report;
    for (let time = 0; time < REPORTS; time += 1) {
      reportsMs.push(
        await timed(() => {
          report = readReport(store, {
            number: TARGET,
            isList: true,
            range,
            termsMax: REPORT_TERMS,
            rawReadMsMax: 1000,
          });
        }),
      );
    }
    const counted = naiveReport(naiveDays);
    const daily = report.daily.map((day) => [day.searches, day.zero_result_searches, day.clicks]);
    for (const [member, value] of Object.entries(counted)) {
      assert.deepEqual(member === 'daily' ? daily : report[member], value, member);
    }
    const total = perHour * HOURS;
    const perSecond = (ms) => (total / ms) * 1000;
    return [
      '## Analytics: roll-ups and reports\n',
      machineTable({
        Data: `${formatCount(total)} made events of one list over ${DAYS} days (${differentDays} different ones), ${(bytes / total).toFixed(1)} bytes each; ${formatCount(TERMS)} terms (Zipf), 10 % clicks on earlier searches, 5 % reranked`,
      }),
      markdownTable(
        ['What', 'Measured', 'Bar', ''],
        [
          barRow(
            'counting events, clicks joined with their searches',
            `${formatCount(perSecond(countMs))}/s`,
            `${formatCount(EVENTS_PER_SECOND_BAR)}/s`,
            perSecond(countMs) >= EVENTS_PER_SECOND_BAR,
          ),
          [
            'with storing hours and closing days, each synced to disk',
            `${formatCount(perSecond(countMs + storeMs))}/s`,
            '',
            '',
          ],
          barRow(
            `report of ${DAYS} days, median`,
            `${quantile(reportsMs, 0.5).toFixed(1)} ms`,
            `${REPORT_MS_BAR} ms`,
            quantile(reportsMs, 0.5) < REPORT_MS_BAR,
          ),
          ['the first one of the process, before the code is compiled', `${reportsMs[0].toFixed(1)} ms`, '', ''],
          ['largest error of a count among the 500 of a day', formatCount(termErrorMax), '', ''],
          barRow('a naive count of the same events', 'the same report', 'the same report', true),
        ],
      ),
    ].join('\n');
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Generates days that all begin at the first one, with a naive count of their events. */
function makeDays(count, perHour) {
  let naive;
  const events = syntheticEvents({ terms: TERMS, onEvent: (event) => naive.onEvent(event) });
  return Array.from({ length: count }, () => {
    naive = new NaiveDay();
    const blocks = Array.from({ length: 24 }, (_, hour) => events.next(FIRST_DAY * 24 + hour, perHour));
    return { blocks, naive: naive.close() };
  });
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { millions } = readNumbers({ millions: 5 });
  process.stdout.write(`${await measureRollUp({ millions })}\n`);
}
