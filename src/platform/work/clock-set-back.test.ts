/** Tests clocks that are set right again: work that waits by a wrong clock is still done, and soon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { EmbeddedList, LANE, vectorOf, type Model } from '../../../test/support/record-work.js';
import { SimulatedTimers } from '../../../test/support/simulated-timers.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;

let folder: string;
let timers: SimulatedTimers;
let list: EmbeddedList;
/** How wrong the clock of the machine is; timers are not affected. */
let wrongByMs = 0;
let asked = 0;

function open(): void {
  list = new EmbeddedList(folder, {
    nowMs: () => timers.nowMs() + wrongByMs,
    after: (ms, action) => timers.after(ms, action),
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-clock-'));
  timers = new SimulatedTimers();
  wrongByMs = asked = 0;
});
afterEach(async () => {
  await list.close();
  rmSync(folder, { recursive: true, force: true });
});

const pass = (ms: number) =>
  timers.pass(ms, async () => {
    for (let turns = 0; turns < 3; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await list.flushed();
    }
  });

const answering =
  (outcome: 'done' | 'failed' | 'unavailable', notBeforeMs?: number): Model =>
  (versions) => {
    asked += 1;
    return Promise.resolve(
      versions.map((version) =>
        outcome === 'done'
          ? { verdict: outcome, result: vectorOf(version) }
          : { verdict: outcome, result: 'away', ...(notBeforeMs === undefined ? {} : { notBeforeMs }) },
      ),
    );
  };

it('An attempt that was scheduled while the clock was years ahead is made once at the next start', async () => {
  wrongByMs = 3 * YEAR_MS;
  open();
  list.embedWith(answering('failed'));
  await list.write({ early: 'text', late: 'text' });
  await pass(10_000);
  expect(list.queue.figures(LANE).pending).toBe(2);
  await list.close();

  wrongByMs = 0;
  asked = 0;
  open();
  list.embedWith(answering('failed'));
  await pass(10 * MINUTE_MS);
  // The fourth attempt was the last.
  expect(asked).toBe(1);
  expect(list.queue.figures(LANE)).toEqual({ pending: 0, failed: 2, reasons: { away: 2 } });
});

it('Work that was queued while the clock was years ahead is done at the next start', async () => {
  wrongByMs = 3 * YEAR_MS;
  open();
  await list.write(Object.fromEntries(Array.from({ length: 600 }, (_, number) => [`r${number}`, 'text'])));
  await list.close();
  wrongByMs = 0;
  open();
  list.embedWith(answering('done'));
  await list.write({ new: 'text' });
  await pass(1000);
  expect(Object.keys(list.embedded())).toHaveLength(601);
  expect(list.queue.figures(LANE)).toEqual({ pending: 0, failed: 0, reasons: {} });
});

it('A pause keeps its length if the clock is set back during it', async () => {
  open();
  list.embedWith(answering('unavailable'));
  await list.write({ a: 'text' });
  await pass(5 * MINUTE_MS);
  wrongByMs = -DAY_MS;
  asked = 0;
  await pass(MINUTE_MS);
  expect(asked).toBeGreaterThan(8);
});

it('A model that asks for a pause of a century is asked again after a day', async () => {
  open();
  list.embedWith(answering('unavailable', timers.nowMs() + 100 * YEAR_MS));
  await list.write({ a: 'text' });
  await pass(DAY_MS - HOUR_MS);
  expect(asked).toBe(1);
  await pass(2 * HOUR_MS);
  expect(asked).toBe(2);
});
