import { describe, expect, it } from 'vitest';
import { StopFlags } from './stop-flags.js';

function harness(flagsMax?: number) {
  const raised: number[] = [];
  const lowered: number[] = [];
  const kernel = {
    raiseStop: (flag: number) => void raised.push(flag),
    lowerStop: (flag: number) => void lowered.push(flag),
  };
  return { flags: new StopFlags(kernel, flagsMax), raised, lowered };
}

describe('StopFlags', () => {
  it('gives a flag to one search at a time, and lowers it only if it was raised', () => {
    const { flags, raised, lowered } = harness();
    const [first, second] = [flags.take(), flags.take()];
    expect(first).not.toBe(second);
    flags.raise(first);
    expect(raised).toEqual([first]);
    flags.giveBack(first, true);
    flags.giveBack(second, false);
    expect(lowered).toEqual([first]);
    expect(new Set([flags.take(), flags.take()])).toEqual(new Set([first, second]));
  });

  it('stops no other search when there are no flags left', () => {
    const { flags, raised, lowered } = harness(2);
    flags.take();
    const shared = flags.take();
    expect(flags.take()).toBe(shared);
    flags.raise(shared);
    flags.giveBack(shared, true);
    expect([raised, lowered]).toEqual([[], []]);
  });
});
