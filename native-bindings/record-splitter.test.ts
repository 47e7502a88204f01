import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isKernelError, kernel, type SplitRecords } from './index.js';

type Format = 'ndjson' | 'json' | 'csv';

interface Outcome {
  readonly records: readonly { readonly line: number; readonly text: string }[];
  readonly error: string | undefined;
}

/** Pushes `text` to a splitter in chunks that end at the byte offsets `cuts`, and returns its records and error. */
function split(format: Format, text: string, cuts: readonly number[] = [], recordBytesMax = 10_000): Outcome {
  const bytes = Buffer.from(text);
  const records: { line: number; text: string }[] = [];
  const take = (part: SplitRecords | null): void => {
    if (part === null) return;
    let begin = 0;
    for (const [index, end] of part.ends.entries()) {
      expect(part.bytes[end - 1]).toBe(0x0a);
      records.push({ line: part.lines[index]!, text: Buffer.from(part.bytes.subarray(begin, end - 1)).toString() });
      begin = end;
    }
    expect(begin).toBe(part.bytes.length);
  };
  const splitter = kernel.createRecordSplitter(format, recordBytesMax);
  try {
    const offsets = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
    let begin = 0;
    for (const offset of offsets) {
      take(splitter.push(bytes.subarray(begin, offset)));
      begin = offset;
    }
    take(splitter.push(new Uint8Array()));
    take(splitter.end());
  } catch (error) {
    if (!isKernelError(error)) throw error;
    return { records, error: `${error.code}: ${error.message}` };
  }
  return { records, error: undefined };
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('NDJSON', () => {
  test('is split into the values that were written, wherever its chunks end', () => {
    const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(fc.option(value)), fc.constantFrom('\n', '\r\n'), cuts, (values, lineBreak, at) => {
        const text = values.map((one) => (one === null ? '' : JSON.stringify(one))).join(lineBreak);
        const { records, error } = split('ndjson', text, at, 1 << 20);
        expect(error).toBeUndefined();
        expect(records.map(({ text: record }) => record)).toEqual(
          values.filter((one) => one !== null).map((one) => JSON.stringify(one)),
        );
        expect(records.map(({ line }) => line)).toEqual(
          [...values.entries()].filter(([, one]) => one !== null).map(([index]) => index + 1),
        );
      }),
    );
  });
});

describe('JSON array', () => {
  test.each([0, 2])('is split into its elements with an indent of %i, wherever its chunks end', (indent) => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), cuts, (values, at) => {
        const { records, error } = split('json', JSON.stringify(values, null, indent), at, 1 << 20);
        expect(error).toBeUndefined();
        expect(records.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)));
        expect(records.map(({ line }) => line)).toEqual(values.map((_, index) => index + 1));
        for (const { text } of records) expect(text).not.toMatch(/[\r\n]/);
      }),
    );
  });

  test('is refused if it is not closed', () => {
    expect(split('json', '[{"a":1},{"b"').error).toMatch(/^invalid-argument: the JSON array is not closed.*element 2/);
  });

  test('is refused with the number of the element if no comma follows it', () => {
    expect(split('json', '[{"a":1} {"b":2}]').error).toMatch(/^invalid-argument: element 1: expected a comma/);
  });
});

describe('CSV', () => {
  test('is split into the rows that were written, wherever its chunks end', () => {
    const field = fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\n', 'é', '漢', ';') });
    const row = fc.array(field, { minLength: 1, maxLength: 4 }).filter((fields) => fields.join('').trim() !== '');
    const encode = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom('\n', '\r\n'), cuts, (rows, lineBreak, at) => {
        const lines = rows.map((fields) => fields.map(encode).join(','));
        const { records, error } = split('csv', lines.map((line) => line + lineBreak).join(''), at);
        expect(error).toBeUndefined();
        expect(records.map(({ text }) => text)).toEqual(lines);
      }),
    );
  });
});

test.each(['ndjson', 'json', 'csv'] as const)(
  'Malformed %s gives the same records and error wherever its chunks end',
  (format) => {
    const unit = fc.constantFrom(...'[]{},:"\\ \n\ra1é', '\ufeff', '"x"', '{"a":1}', '\r\n');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 40 }), cuts, fc.constantFrom(8, 1000), (units, at, recordBytesMax) => {
        const text = (format === 'json' ? '[{},' : '') + units.join('');
        expect(split(format, text, at, recordBytesMax)).toEqual(split(format, text, [], recordBytesMax));
      }),
      { numRuns: 1500 },
    );
  },
);

test('A record over the limit is refused with its line, after the records before it were returned', () => {
  const { records, error } = split('ndjson', '{"a":1}\n\n{"a":"too long"}\n{}', [], 10);
  expect(records).toEqual([{ line: 1, text: '{"a":1}' }]);
  expect(error).toBe('limit: line 3: the record is longer than 10 bytes');
});
