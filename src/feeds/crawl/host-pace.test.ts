import { describe, expect, it } from 'vitest';
import { HostPace } from './host-pace.js';

function paced(pagesPerSecond: number) {
  let nowMs = 1000;
  const pace = new HostPace({ pagesPerSecond, nowMs: () => nowMs });
  const ask = (host: string) => {
    pace.begin(host);
    pace.end(host);
  };
  /** Returns the time until the host may be requested again, and lets it pass. */
  const waited = (host: string) => {
    const ms = pace.waitMs([host]) ?? Infinity;
    nowMs += ms;
    expect(pace.isFree(host)).toBe(true);
    return ms;
  };
  return { pace, ask, waited, pass: (ms: number) => (nowMs += ms) };
}

describe('HostPace', () => {
  it('allows a host four pages a second, one at a time, and other hosts concurrently', () => {
    const { pace, ask, waited } = paced(4);
    expect(waited('a')).toBe(0);
    pace.begin('a');
    expect([pace.isFree('a'), pace.isFree('b'), pace.waitMs(['a'])]).toEqual([false, true, undefined]);
    pace.end('a');
    expect(waited('a')).toBe(250);
    ask('a');
    expect(waited('a')).toBe(250);
  });

  it('follows a delay of robots.txt, unless it is shorter than that of the settings', () => {
    const { pace, ask, waited } = paced(4);
    pace.setDelay('slow', 3000);
    pace.setDelay('fast', 1);
    ask('slow');
    ask('fast');
    expect([waited('fast'), waited('slow')]).toEqual([250, 2750]);
    const unbound = paced(0);
    unbound.pace.setDelay('slow', 3000);
    unbound.pace.begin('slow');
    expect(unbound.pace.isFree('slow')).toBe(false);
    unbound.pace.end('slow');
    expect(unbound.waited('slow')).toBe(3000);
  });

  it('counts from the start of one request to the next, and pauses as long as the host asks', () => {
    const { pace, ask, waited, pass } = paced(4);
    pace.begin('a');
    pass(1000);
    pace.end('a');
    expect(waited('a')).toBe(0);
    pace.rest('a', 5000);
    expect(waited('a')).toBe(5000);
    ask('a');
    expect(waited('a')).toBe(250);
  });
});
