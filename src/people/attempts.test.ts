import { describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, AttemptThrottle } from './attempts.js';

function throttleAt(time: { ms: number }) {
  return new AttemptThrottle({ nowMs: () => time.ms, nowIso: () => new Date(time.ms).toISOString() });
}

describe('AttemptThrottle', () => {
  it('lets go of a failure after a minute, and says when that is', () => {
    const time = { ms: 1_000_000 };
    const throttle = throttleAt(time);
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) {
      throttle.begin(['a']);
      time.ms += 10_000;
    }
    expect(() => throttle.begin(['a'])).toThrow(
      expect.objectContaining({ code: 'rate-limited', retryAfterSeconds: 10 }),
    );
    expect(() => throttle.begin(['b'])).not.toThrow();
    time.ms += 9_999;
    expect(() => throttle.begin(['a'])).toThrow();
    time.ms += 1;
    throttle.begin(['a']);
    expect(() => throttle.begin(['a'])).toThrow();
  });

  it('does not count what was right, nor what was refused', () => {
    const time = { ms: 0 };
    const throttle = throttleAt(time);
    for (let i = 0; i < 100; i += 1) throttle.begin(['a', 'b']).succeeded();
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['a']);
    for (let i = 0; i < 100; i += 1) expect(() => throttle.begin(['a', 'b'])).toThrow();
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['b']);
    expect(() => throttle.begin(['b'])).toThrow();
  });

  it('keeps nobody out for longer when the clock is set back', () => {
    const time = { ms: 10_000_000 };
    const throttle = throttleAt(time);
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['a']);
    time.ms -= 3_600_000;
    expect(() => throttle.begin(['a'])).not.toThrow();
  });

  it('remembers a bounded number of subjects', () => {
    const throttle = throttleAt({ ms: 0 });
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['first']);
    for (let i = 0; i < 100_000; i += 1) throttle.begin([`other ${i}`]);
    expect(() => throttle.begin(['first'])).not.toThrow();
    expect(() => throttle.begin(['other 99999'])).not.toThrow();
  });
});
