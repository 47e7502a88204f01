import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { paceOf, ProgressBoard, type JobProgress } from './progress.js';

class SteppedClock {
  ms = 0;
  steadyMs = () => this.ms;
  nowIso = () => new Date(Date.UTC(2026, 10, 22) + this.ms).toISOString();
}

describe('paceOf', () => {
  it('returns the rate, the share and the remaining time', () => {
    expect(paceOf({ done: 30, total: 120, seconds: 10 })).toEqual({ rate: 3, share: 0.25, secondsLeft: 30 });
    // The work of an earlier run says nothing about the speed of this one.
    expect(paceOf({ done: 30, total: 40, seconds: 10, doneBefore: 20 })).toMatchObject({ rate: 1, secondsLeft: 10 });
    expect(paceOf({ done: 5, total: null, seconds: 1 })).toEqual({ rate: 5, share: undefined, secondsLeft: undefined });
    expect(paceOf({ done: 0, total: 0, seconds: 0 })).toEqual({ rate: 0, share: 1, secondsLeft: undefined });
  });

  it('is never negative, and its share never exceeds 1 (property)', () => {
    const count = fc.nat(1_000_000);
    fc.assert(
      fc.property(
        count,
        fc.option(count),
        fc.double({ min: 0, max: 1e6, noNaN: true }),
        count,
        (done, total, seconds, doneBefore) => {
          const { rate, share = 0, secondsLeft = 0 } = paceOf({ done, total, seconds, doneBefore });
          for (const value of [rate, share, secondsLeft]) expect(value).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
          expect(Number.isFinite(rate) && Number.isFinite(secondsLeft)).toBe(true);
        },
      ),
    );
  });
});

describe('ProgressBoard', () => {
  it('shows a job from its beginning to its end and reports each change', () => {
    const clock = new SteppedClock();
    const board = new ProgressBoard(clock);
    const told: JobProgress[] = [];
    const stop = board.listen((job) => told.push(job.read()));
    const job = board.begin({ kind: 'version', subject: 'a', total: 100, doneBefore: 20 });
    expect(board.read('version', 'a')).toMatchObject({ state: 'waiting', done: 20, total: 100, started_utc: null });
    expect(job.hasStarted).toBe(false);
    job.start();
    clock.ms = 4000;
    job.advance(20);
    job.say('copying');
    expect(board.all()).toEqual([
      {
        ...{ kind: 'version', subject: 'a', state: 'running', done: 40, total: 100, message: 'copying' },
        ...{ rate_per_second: 5, seconds_left: 12, started_utc: '2026-11-22T00:00:00.000Z' },
      },
    ]);
    job.finish();
    expect(board.all()).toEqual([]);
    // It has ended and stays ended.
    job.stop();
    stop();
    board.begin({ kind: 'version', subject: 'a', total: null }).start();
    expect(told.map(({ state, done }) => [state, done])).toEqual([
      ...[
        ['running', 20],
        ['running', 40],
        ['running', 40],
        ['done', 40],
      ],
    ]);
  });

  it('keeps one job for each kind and subject and ignores one that was replaced', () => {
    const board = new ProgressBoard(new SteppedClock());
    const [first, other, second] = ['a', 'b', 'a'].map((subject) =>
      board.begin({ kind: 'rebuild', subject, total: 1 }),
    );
    const told: JobProgress[] = [];
    board.listen((job) => told.push(job.read()));
    first?.start();
    first?.fail('too late');
    second?.start();
    other?.fail('no reason');
    expect(told.map(({ subject, state, message }) => [subject, state, message])).toEqual([
      ['a', 'running', null],
      ['b', 'failed', 'no reason'],
    ]);
    expect(board.all().map(({ subject }) => subject)).toEqual(['a']);
  });
});
