import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../test/support/random.js';
import { isLongInteger, parseExactJson } from './exact-json.js';

describe('parseExactJson', () => {
  it.each([
    ['12345678901234567890', '12345678901234567890'],
    ['-9007199254740993', '-9007199254740993'],
    ['9007199254740991', 9007199254740991],
    // JavaScript would write this number with other digits.
    ['1152921504606846976', '1152921504606846976'],
    ['9007199254740992', 9007199254740992],
    ['1e400', Infinity],
    ['1.5e300', 1.5e300],
    ['123456789012345678.5', 123456789012345680],
    ['[1, 20000000000000000001, "20000000000000000001"]', [1, '20000000000000000001', '20000000000000000001']],
    ['{"20000000000000000001": 20000000000000000001}', { '20000000000000000001': '20000000000000000001' }],
    [
      '{"a":"\\"20000000000000000001","b\\\\":30000000000000000001}',
      { a: '"20000000000000000001', 'b\\': '30000000000000000001' },
    ],
    [' [ -30000000000000000001 ] ', ['-30000000000000000001']],
  ])('reads %s with the exact digits', (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it.each([
    '012345678901234567890',
    '[12345678901234567890',
    '12345678901234567890x',
    '"12345678901234567890',
    '--1',
    '',
  ])('refuses %j as JSON.parse does', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it('handles a text of millions of escapes', () => {
    const text = `{"text":"${'\\n'.repeat(4_000_000)}\\\\","post":12345678901234567890}`;
    expect(parseExactJson(text)).toEqual({ text: `${'\n'.repeat(4_000_000)}\\`, post: '12345678901234567890' });
  });

  it('reads deeply nested values', () => {
    const depth = 200_000;
    let value = parseExactJson(`${'['.repeat(depth)}12345678901234567890${']'.repeat(depth)}`);
    while (Array.isArray(value)) value = value[0];
    expect(value).toBe('12345678901234567890');
  });

  it('changes nothing but long integers, whatever the text is', () => {
    const random = new SeededRandom(53);
    const integers: string[] = [];
    const digits = (count: number) => Array.from({ length: count }, () => random.below(10)).join('');
    const text = () =>
      JSON.stringify(
        Array.from({ length: random.below(12) }, () => '"\\0123456789{}[],:e-.\n é😀'[random.below(24)] ?? 'x').join(
          '',
        ) + digits(random.below(25)),
      );
    const json = (depth: number): string => {
      switch (random.below(depth > 3 ? 4 : 6)) {
        case 0:
          return text();
        case 1:
          return `${random.below(2) === 0 ? '-' : ''}${1 + random.below(9)}${digits(random.below(24))}`;
        case 2:
          return `${random.below(10)}.${digits(1 + random.below(24))}${random.below(2) === 0 ? '' : `e-${random.below(9)}`}`;
        case 3:
          return ['true', 'false', 'null', '0', '-0'][random.below(5)] as string;
        case 4:
          return `[${Array.from({ length: random.below(5) }, () => json(depth + 1)).join(' , ')}]`;
        default:
          return `{${Array.from({ length: random.below(5) }, (_, index) => `${JSON.stringify(`k${index}`)}: ${json(depth + 1)}`).join(',')}}`;
      }
    };
    const same = (exact: unknown, plain: unknown): void => {
      if (typeof plain === 'object' && plain !== null) {
        expect(Object.keys(exact as object)).toEqual(Object.keys(plain));
        for (const key of Object.keys(plain))
          same((exact as Record<string, unknown>)[key], (plain as Record<string, unknown>)[key]);
      } else if (typeof plain === 'number' && typeof exact === 'string') {
        expect(isLongInteger(exact)).toBe(true);
        expect(Number(exact)).toBe(plain);
        integers.push(exact);
      } else {
        expect(exact).toBe(plain);
      }
    };
    for (let round = 0; round < 3000; round += 1) {
      const written = json(0);
      integers.length = 0;
      same(parseExactJson(written), JSON.parse(written));
      for (const integer of integers) expect(written).toContain(integer);
    }
  });
});
