import { describe, expect, it } from 'vitest';
import { numberKind } from './number-kind.js';

describe('the conversion of a text to a number', () => {
  it.each([
    ['12.50', 12.5],
    [' -0.10 ', -0.1],
    ['3.00', 3],
    ['100', 100],
    ['1e10', '1e10'],
    ['1.5e10', '1.5e10'],
    ['007', '007'],
    ['1.000', 1],
    ['12345678901234567890', '12345678901234567890'],
  ])('is made if the number would be written the same: %s', (text, expected) => {
    expect(numberKind.ofText?.(text)).toBe(expected);
  });

  it('takes linear time, however many zeros are within the text', () => {
    const text = `1.${'0'.repeat(60_000)}1`;
    const before = process.cpuUsage();
    expect(numberKind.ofText?.(text)).toBe(text);
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(500);
  });
});
