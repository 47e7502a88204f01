import { describe, expect, it } from 'vitest';
import { addressSubject, ATTEMPTS_MAX, AttemptThrottle } from './attempts.js';

function throttleAt(time: { ms: number }) {
  return new AttemptThrottle({ nowMs: () => time.ms, nowIso: () => new Date(time.ms).toISOString() });
}

describe('AttemptThrottle', () => {
  it('forgets a failure after a minute, and tells when that is', () => {
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

  it('counts neither attempts that were taken back nor refused ones', () => {
    const time = { ms: 0 };
    const throttle = throttleAt(time);
    for (let i = 0; i < 100; i += 1) throttle.begin(['a', 'b']).takeBack();
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['a']);
    for (let i = 0; i < 100; i += 1) expect(() => throttle.begin(['a', 'b'])).toThrow();
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['b']);
    expect(() => throttle.begin(['b'])).toThrow();
  });

  it('keeps no one out longer if the clock is set back', () => {
    const time = { ms: 10_000_000 };
    const throttle = throttleAt(time);
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['a']);
    time.ms -= 3_600_000;
    expect(() => throttle.begin(['a'])).not.toThrow();
  });

  it('remembers a limited number of subjects', () => {
    const throttle = throttleAt({ ms: 0 });
    for (let i = 0; i < ATTEMPTS_MAX; i += 1) throttle.begin(['first']);
    for (let i = 0; i < 100_000; i += 1) throttle.begin([`other ${i}`]);
    expect(() => throttle.begin(['first'])).not.toThrow();
    expect(() => throttle.begin(['other 99999'])).not.toThrow();
  });
});

describe('addressSubject', () => {
  it('is the same for all addresses of one IPv6 network, in any notation', () => {
    const own = addressSubject('2001:db8:1:2::1');
    for (const address of ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:0DB8:0001:0002:0:0:0:1', '2001:db8:1:2:a::']) {
      expect(addressSubject(address)).toBe(own);
    }
    expect(addressSubject('2001:db8:1:3::1')).not.toBe(own);
    expect(addressSubject('fe80::1%eth0')).toBe(addressSubject('fe80::2'));
  });

  it('is separate for each IPv4 address, and for texts that are no address', () => {
    const texts = ['192.0.2.1', '192.0.2.2', '', 'unknown'];
    expect(new Set(texts.map(addressSubject)).size).toBe(texts.length);
  });
});
