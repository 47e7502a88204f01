import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { PassingJobs } from './passing-jobs.js';
import { ProgressBoard } from './progress.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const IMPORT = { kind: 'import', subject: 'list-1' };
const told = (board: ProgressBoard) =>
  board.all().map(({ subject, state, done, total }) => [subject, state, done, total]);

it('Passing jobs are shown while something is done, and a while longer', () => {
  const board = new ProgressBoard();
  const jobs = new PassingJobs(board, 1_000);
  jobs.advance(IMPORT, 10);
  vi.advanceTimersByTime(999);
  jobs.advance(IMPORT, 5);
  jobs.advance({ ...IMPORT, subject: 'list-2' }, 1);
  vi.advanceTimersByTime(999);
  expect(told(board)).toEqual([
    ['list-1', 'running', 15, null],
    ['list-2', 'running', 1, null],
  ]);
  jobs.advance({ ...IMPORT, subject: 'list-2' }, 1);
  vi.advanceTimersByTime(1);
  expect(told(board)).toEqual([['list-2', 'running', 2, null]]);
  vi.advanceTimersByTime(1_000);
  expect(told(board)).toEqual([]);
  jobs.advance(IMPORT, 7);
  expect(told(board)).toEqual([['list-1', 'running', 7, null]]);
});

it('Passing jobs end soon after their holder has released them, unless more is done', () => {
  const board = new ProgressBoard();
  const jobs = new PassingJobs(board);
  for (const subject of ['list-1', 'list-2']) {
    const release = jobs.hold({ ...IMPORT, subject });
    jobs.advance({ ...IMPORT, subject }, 1);
    release();
  }
  jobs.advance(IMPORT, 1);
  vi.advanceTimersByTime(999);
  expect(told(board)).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(told(board)).toEqual([['list-1', 'running', 2, null]]);
});

it('Passing jobs are waiting from the first hold until something is done, and end after the last release', () => {
  const board = new ProgressBoard();
  const jobs = new PassingJobs(board);
  const [first, second] = [jobs.hold(IMPORT), jobs.hold(IMPORT)];
  vi.advanceTimersByTime(60_000);
  expect(told(board)).toEqual([['list-1', 'waiting', 0, null]]);
  jobs.advance(IMPORT, 2);
  first();
  first();
  vi.advanceTimersByTime(60_000);
  expect(told(board)).toEqual([['list-1', 'running', 2, null]]);
  second();
  vi.advanceTimersByTime(1_000);
  expect(told(board)).toEqual([]);
  // Its job has ended: the next one is another.
  jobs.advance(IMPORT, 1);
  second();
  expect(told(board)).toEqual([['list-1', 'running', 1, null]]);
});

it('Passing jobs end at once when PassingJobs is closed', () => {
  const board = new ProgressBoard();
  const jobs = new PassingJobs(board);
  jobs.advance(IMPORT, 1);
  jobs.close();
  expect(told(board)).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});
