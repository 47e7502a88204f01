import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { findJsonFault, JSON_DEPTH_MAX, lineAndColumn, scanJson } from './json-scanner.js';

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('findJsonFault', () => {
  it('agrees with JSON.parse on valid texts', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (text, indent) => {
        const formatted = JSON.stringify(JSON.parse(text), undefined, indent);
        if (!formatted.includes('__proto__')) expect(findJsonFault(formatted)).toBeUndefined();
      }),
    );
  });

  it('agrees with JSON.parse on damaged texts', () => {
    const damage = fc.tuple(
      fc.json(),
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '{', '}', '[', ']', ':', '0', '\\', 'x', '\n'),
    );
    fc.assert(
      fc.property(damage, ([text, at, removed, inserted]) => {
        const position = at % (text.length + 1);
        const damaged = text.slice(0, position) + inserted + text.slice(position + removed);
        const found = findJsonFault(damaged);
        const isOwnRule = found?.detail.includes('twice') === true || found?.detail.includes('__proto__') === true;
        if (!isOwnRule) expect(found === undefined).toBe(parses(damaged));
      }),
      { numRuns: 3000 },
    );
  });

  it('agrees with JSON.parse on texts that look like numbers', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[-+.eE0-9]{1,6}$/), (text) => {
        expect(findJsonFault(text) === undefined).toBe(parses(text));
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['{"a":1,}', 7, 'a member name'],
    ['{"a" 1}', 5, "':'"],
    ['[1 2]', 3, "',' or ']'"],
    ['', 0, 'ends where a value'],
    ['{"a":1', 6, 'ends where'],
    ['{"a":1}x', 7, 'the end'],
    ["{'a':1}", 1, 'double quotes'],
    ['{"a":1,"\\u0061":2}', 7, "'a' is given twice"],
    ['{"b":{"__proto__":1}}', 6, '__proto__'],
    ['{"\\u005f_proto__":1}', 1, '__proto__'],
    ['[NaN]', 1, '"NaN" where a value was expected (JSON has no such number)'],
    ['{"a":-Infinity}', 5, '"-Infinity" where a value was expected (JSON has no such number)'],
    ['[1, None]', 4, '"None" where a value was expected (JSON writes null)'],
    ['{"a":True}', 5, '"True" where a value was expected (JSON writes true)'],
    ['[Nano]', 1, '"N" where a value was expected'],
    ['[nullable]', 5, "',' or ']' was expected"],
    ['01', 1, 'the end'],
    ['-', 0, 'a value'],
    ['1.x', 1, 'the end'],
    ['2e+', 1, 'the end'],
    ['{"a":"b}', 5, 'the string that begins here has no closing quote'],
    ['{"a":"b}\r\n', 5, 'the string that begins here has no closing quote'],
    ['{"a', 1, 'the string that begins here has no closing quote'],
    ['{"a":"C:\\path"}', 8, '"\\p" is no escape: a backslash in a string is written twice'],
    ['{"a":"\\u12"}', 6, '"\\u" is no escape'],
    ['{"a":"b\\', 7, 'is no escape'],
    ['{"a":"b\nc"}', 7, 'a control character in a string, which is written \\n'],
    ['{"a\tb":1}', 3, 'a control character in a string, which is written \\t'],
    ['["\u0001"]', 2, 'which is written \\u0001'],
  ])('finds the fault of %s', (text, position, detail) => {
    const found = findJsonFault(text);
    expect(found?.position).toBe(position);
    expect(found?.detail).toContain(detail);
  });

  it('refuses endless nesting without failing itself', () => {
    expect(findJsonFault('['.repeat(JSON_DEPTH_MAX) + ']'.repeat(JSON_DEPTH_MAX))).toBeUndefined();
    expect(findJsonFault('['.repeat(1_000_000))?.detail).toContain('levels deep');
  });

  it('reads long strings without recursion', () => {
    expect(findJsonFault(JSON.stringify({ a: 'x'.repeat(9_000_000), b: '\n"\\'.repeat(300_000) }))).toBeUndefined();
  });
});

describe('scanJson', () => {
  const text = '{"a":[1,{"b":{}},[]],"c":"x"}';

  it('counts values, and stops if there are too many of them, or too many members, objects and arrays', () => {
    expect(scanJson(text)).toEqual({ fault: undefined, values: 7, hasLongNumbers: false });
    expect(scanJson(text, { partsMax: 8, valuesMax: 7 }).fault).toBeUndefined();
    expect(scanJson(text, { partsMax: 7, valuesMax: 7 }).fault).toMatchObject({ position: 25, isTooMuch: true });
    expect(scanJson(text, { partsMax: 8, valuesMax: 6 }).fault).toMatchObject({ position: 25, isTooMuch: true });
    expect(scanJson('['.repeat(50), { partsMax: 8, valuesMax: 7 }).fault?.detail).toBe('it has more than 7 values');
  });

  it('recognizes integers that may be too long for a number', () => {
    for (const long of ['9007199254740993', '[{"a":-12345678901234567890}]']) {
      expect(scanJson(long).hasLongNumbers, long).toBe(true);
    }
    for (const short of ['999999999999999', '"12345678901234567890"', '{"12345678901234567890":1}']) {
      expect(scanJson(short).hasLongNumbers, short).toBe(false);
    }
  });

  it('finds a duplicate name among any number of members', () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `"m${at}":1`).join(',');
    for (const [count, again] of [
      [1, 'm0'],
      [2, 'm0'],
      [3, 'm2'],
      [40, 'm39'],
    ] as const) {
      const found = findJsonFault(`{"x":{${names(count)}},"y":{${names(count)},"${again}":2}}`);
      expect(found?.detail).toBe(`the member '${again}' is given twice`);
    }
  });
});

describe('lineAndColumn', () => {
  it('does not split the text, which may have millions of lines', () => {
    const split = vi.spyOn(String.prototype, 'split');
    try {
      expect(lineAndColumn('\n'.repeat(10_000), 9_000)).toEqual({ line: 9_001, column: 1 });
      expect(lineAndColumn('{\n\n1', 99)).toEqual({ line: 3, column: 2 });
      expect(split).not.toHaveBeenCalled();
    } finally {
      split.mockRestore();
    }
  });

  it('counts from one', () => {
    expect(lineAndColumn('{\n "a": x', 7)).toEqual({ line: 2, column: 6 });
    expect(lineAndColumn('', 0)).toEqual({ line: 1, column: 1 });
  });
});
