import { describe, expect, it } from 'vitest';
import { createRequestMemory, memoryBudget } from '../platform/index.js';
import { loadConfig } from '../platform/config.js';
import { SlowReaders } from './slow-readers.js';

describe('SlowReaders', () => {
  it('ends the answers that were held longest if memory is needed, but none before its time', () => {
    const { answers } = createRequestMemory(memoryBudget(loadConfig({ argv: [], env: {} })));
    let nowMs = 0;
    const readers = new SlowReaders(answers, () => nowMs);
    const ended: string[] = [];
    const never = new Promise<void>(() => undefined);
    readers.add(never, () => ended.push('first'));
    nowMs = 20_000;
    readers.add(never, () => ended.push('second'));
    const whole = answers.reserve(Infinity);
    const others = answers.tryReserve(1_000_000_000);
    expect([others, ended]).toEqual([undefined, []]);
    nowMs = 40_000;
    answers.tryReserve(1_000_000_000);
    expect(ended).toEqual(['first']);
    nowMs = 60_000;
    answers.tryReserve(1_000_000_000);
    expect(ended).toEqual(['first', 'second']);
    whole.release();
    expect(answers.usedBytes).toBe(0);
  });
});
