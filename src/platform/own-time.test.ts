import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answeredDuringStandstill, beforeTimers } from '../../test/support/standstill.js';
import { afterOwnTime } from './own-time.js';

describe('a limit of the own time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([200, 30_000, 30_500])('is reached after %d ms, once', (milliseconds) => {
    const tell = vi.fn();
    afterOwnTime(milliseconds, tell);
    vi.advanceTimersByTime(milliseconds - 1);
    expect(tell).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10 * milliseconds + 10_000);
    expect(tell).toHaveBeenCalledTimes(1);
  });

  it('is not reached if it is called off', () => {
    const tell = vi.fn();
    const callOff = afterOwnTime(30_000, tell);
    vi.advanceTimersByTime(29_000);
    callOff();
    vi.advanceTimersByTime(60_000);
    expect(tell).not.toHaveBeenCalled();
  });
});

it('What was answered during a standstill of the process is read before the limit is reached', async () => {
  const limitMs = 100;
  const tell = vi.fn();
  await beforeTimers();
  const callOff = afterOwnTime(limitMs, tell);
  await answeredDuringStandstill(3 * limitMs);
  expect(tell).not.toHaveBeenCalled();
  callOff();
});
