/**
 * Tests the work that versions of records leave in the environment of their list: the queue against a plain model, and
 * what becomes of the work.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddedList, LANE, vectorOf, type Model, type Version } from '../../../test/support/record-work.js';
import { SimulatedTimers } from '../../../test/support/simulated-timers.js';
import type { ScheduledWork, WorkOutcome } from './index.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const done = (version: Version): WorkOutcome<string> => ({ verdict: 'done', result: vectorOf(version) });

let folder: string;
let timers: SimulatedTimers;
let list: EmbeddedList;
let underWay = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-record-work-'));
  timers = new SimulatedTimers();
  list = new EmbeddedList(folder, timers);
});
afterEach(async () => {
  await list.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Counts running calls, so that simulated time waits for them. */
function counted(model: Model): Model {
  return async (versions, abort) => {
    underWay += 1;
    try {
      return await model(versions, abort);
    } finally {
      underWay -= 1;
    }
  };
}

const settled = async (): Promise<void> => {
  for (let quietTurns = 0; quietTurns < 2; quietTurns = underWay > 0 ? 0 : quietTurns + 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (underWay === 0) await list.flushed();
  }
};

describe('the queue of a list', () => {
  interface Known {
    state: 'waiting' | 'slow' | 'wrong';
    readonly version: number;
  }

  const record = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('write' as const), records: fc.uniqueArray(record, { minLength: 1 }) }),
    fc.record({ kind: fc.constant('delete' as const), record }),
    fc.record({
      kind: fc.constant('settle' as const),
      position: fc.nat(3),
      outcome: fc.constantFrom('done' as const, 'retried' as const, 'slow' as const, 'wrong' as const),
      /** True if a newer version is written while this one is being embedded. */
      isSuperseded: fc.boolean(),
    }),
    fc.record({ kind: fc.constantFrom('retry' as const, 'reopen' as const, 'forget' as const) }),
  );

  async function settle(scheduled: ScheduledWork, outcome: 'done' | 'retried' | 'slow' | 'wrong'): Promise<number> {
    const of = { record: scheduled.subject, version: 0, text: '' };
    const failure = { record: scheduled.subject, reason: outcome, attempts: 1 };
    const next = {
      done: { kind: 'done' },
      retried: { kind: 'retried', dueMs: scheduled.dueMs + 5, attempts: scheduled.attempts + 1 },
      slow: { kind: 'set-aside', failure },
      wrong: { kind: 'set-aside', failure },
    } as const;
    const settlement = { scheduled, note: { of, vector: null }, next: next[outcome] };
    return list.environment.transaction(() => list.queue.settle([settlement]).length);
  }

  it('holds the newest version of each record, and counts waiting and failed work like a plain model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        await list.queue.forget(LANE);
        const model = new Map<string, Known>();
        let written = 0;
        const write = async (records: readonly string[]) => {
          await list.write(Object.fromEntries(records.map((each) => [each, `text ${(written += 1)}`])));
          for (const each of records) model.set(each, { state: 'waiting', version: 0 });
        };
        for (const each of steps) {
          const due = list.queue.due(LANE, { behind: undefined, nowMs: timers.nowMs() + HOUR_MS, count: 100 });
          if (each.kind === 'write') await write(each.records);
          if (each.kind === 'delete') {
            await list.write({ [each.record]: null });
            model.delete(each.record);
          }
          if (each.kind === 'forget') {
            await list.queue.forget(LANE);
            model.clear();
          }
          if (each.kind === 'reopen') {
            await list.close();
            list = new EmbeddedList(folder, timers);
          }
          if (each.kind === 'retry') {
            const failed = [...model.values()].filter(({ state }) => state !== 'waiting');
            expect(await list.retry()).toBe(failed.length);
            for (const known of failed) known.state = 'waiting';
          }
          const scheduled = each.kind === 'settle' ? due[each.position % Math.max(1, due.length)] : undefined;
          if (each.kind === 'settle' && scheduled !== undefined) {
            if (each.isSuperseded) await write([scheduled.subject]);
            // The outcome of an older version is dropped.
            expect(await settle(scheduled, each.outcome)).toBe(each.isSuperseded ? 0 : 1);
            const known = model.get(scheduled.subject);
            if (!each.isSuperseded && each.outcome === 'done') model.delete(scheduled.subject);
            else if (!each.isSuperseded && known !== undefined && (each.outcome === 'slow' || each.outcome === 'wrong'))
              known.state = each.outcome;
          }
          compare(model);
        }
      }),
      { numRuns: 60 },
    );
  });

  function compare(model: ReadonlyMap<string, Known>): void {
    const states = [...model.values()].map(({ state }) => state);
    const count = (state: Known['state']) => states.filter((each) => each === state).length;
    const reasons = Object.fromEntries((['slow', 'wrong'] as const).map((reason) => [reason, count(reason)]));
    const { pending, failed, reasons: counts } = list.queue.figures(LANE);
    expect({ pending, failed, reasons: { slow: 0, wrong: 0, ...counts } }).toEqual({
      pending: count('waiting'),
      failed: count('slow') + count('wrong'),
      reasons,
    });
    const due = list.queue.due(LANE, { behind: undefined, nowMs: timers.nowMs() + HOUR_MS, count: 100 });
    const waiting = [...model].filter(([, { state }]) => state === 'waiting').map(([name]) => name);
    expect(due.map(({ subject }) => subject).sort()).toEqual(waiting.sort());
    expect(list.queue.setAsidePage(LANE, 0, 100)).toHaveLength(count('slow') + count('wrong'));
    expect(list.queue.size).toBe(model.size);
  }
});

describe('embedding', () => {
  const texts = (count: number, round: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, number) => [`r${number}`, `text ${number} of ${round}`]));

  it('ends with the newest version of every record, works in batches, and does nothing twice', async () => {
    const asked: Version[][] = [];
    list.embedWith(
      counted(async (versions) => {
        asked.push([...versions]);
        await new Promise((resolve) => setImmediate(resolve));
        return versions.map(done);
      }),
    );
    await list.write(texts(40, 1));
    // Written while the first batches are being embedded.
    await list.write(texts(10, 2));
    await list.write({ r39: null });
    await timers.pass(1000, settled);
    const embedded = list.embedded();
    expect(Object.keys(embedded)).toHaveLength(39);
    for (const [record, [version, vector]] of Object.entries(embedded)) {
      const number = Number(record.slice(1));
      expect([version, vector]).toEqual(
        number < 10 ? [2, `vector of text ${number} of 2`] : [1, `vector of text ${number} of 1`],
      );
    }
    const all = asked.flat().map(({ record, version }) => `${record}/${version}`);
    expect(new Set(all).size).toBe(all.length);
    expect(Math.max(...asked.map(({ length }) => length))).toBe(4);
    expect(list.queue.figures(LANE)).toEqual({ pending: 0, failed: 0, reasons: {} });
  });

  it('counts failures by reason until they are retried, including those that can never succeed', async () => {
    let isBroken = true;
    list.embedWith(
      counted((versions) =>
        Promise.resolve(
          versions.map((version) => {
            if (!isBroken) return done(version);
            if (version.record === 'long') return { verdict: 'refused', result: 'too-long' };
            return version.record === 'odd' ? { verdict: 'failed', result: 'wrong-dimensions' } : done(version);
          }),
        ),
      ),
      1,
    );
    await list.write({ long: 'l', odd: 'o', fine: 'f' });
    await timers.pass(100, settled);
    expect(list.queue.figures(LANE)).toEqual({ pending: 1, failed: 1, reasons: { 'too-long': 1 } });
    await timers.pass(HOUR_MS, settled);
    const reasons = { 'too-long': 1, 'wrong-dimensions': 1 };
    expect(list.queue.figures(LANE)).toEqual({ pending: 0, failed: 2, reasons });
    const attempts = list.queue.setAsidePage(LANE, 0, 10).map(({ failure }) => [failure.record, failure.attempts]);
    expect(Object.fromEntries(attempts)).toEqual({ long: 1, odd: 4 });

    isBroken = false;
    expect(await list.retry()).toBe(2);
    await timers.pass(1000, settled);
    expect(Object.keys(list.embedded()).sort()).toEqual(['fine', 'long', 'odd']);
    expect(list.queue.figures(LANE)).toEqual({ pending: 0, failed: 0, reasons: {} });
  });

  it('waits for an unavailable model, however long, and does not ask one before the time that it named', async () => {
    const startMs = timers.nowMs();
    const asked: number[] = [];
    list.embedWith(
      counted((versions) => {
        const nowMs = timers.nowMs();
        asked.push(nowMs - startMs);
        if (nowMs < startMs + 10 * MINUTE_MS) {
          return Promise.resolve(versions.map(() => ({ verdict: 'unavailable', result: 'unavailable' }) as const));
        }
        const notBeforeMs = startMs + 20 * MINUTE_MS;
        if (nowMs >= notBeforeMs) return Promise.resolve(versions.map(done));
        return Promise.resolve(versions.map(() => ({ verdict: 'unavailable', result: 'busy', notBeforeMs }) as const));
      }),
    );
    await list.write(texts(12, 1));
    await timers.pass(10 * MINUTE_MS - 1, settled);
    expect(list.queue.figures(LANE)).toEqual({ pending: 12, failed: 0, reasons: {} });
    // One attempt at a time, 5 s apart.
    expect(asked.length).toBeLessThan((10 * MINUTE_MS) / 4000);
    await timers.pass(15 * MINUTE_MS, settled);
    expect(asked.filter((ms) => ms > 10 * MINUTE_MS + 10_000 && ms < 20 * MINUTE_MS)).toEqual([]);
    expect(Object.keys(list.embedded())).toHaveLength(12);
  });

  it('loses nothing if outcomes cannot be written for a while', async () => {
    list.isFull = true;
    list.embedWith(counted((versions) => Promise.resolve(versions.map(done))));
    await list.write(texts(10, 1));
    await timers.pass(5000, settled);
    expect(list.embedded()).toEqual({});
    expect(list.queue.figures(LANE).pending).toBe(10);
    expect(list.failures.length).toBeGreaterThan(2);
    list.isFull = false;
    await timers.pass(5000, settled);
    expect(Object.keys(list.embedded())).toHaveLength(10);
  });
});
