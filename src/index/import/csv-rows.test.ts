import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { csvRows, rowsOfPiece } from './csv-rows.js';

function pieceOf(lines: readonly Uint8Array[]) {
  let end = 0;
  const ends = Uint32Array.from(lines, ({ length }) => (end += length));
  return { bytes: Buffer.concat(lines), ends, lines: Uint32Array.from(lines, (_line, at) => at + 1) };
}

const rowsOf = (lines: readonly string[]) =>
  [...rowsOfPiece(pieceOf(lines.map((line) => Buffer.from(line))), ',')].map((row) =>
    typeof row === 'object' && 'cell' in row ? { ...row, cell: row.cell() } : row,
  );

it('rowsOfPiece reads each line of a damaged piece as if it were alone', () => {
  const text = fc.stringMatching(/^[a",]{0,6}$/);
  const line = fc.oneof(text, fc.constantFrom('\ufeff"a"', '"a\nb"', 'a\rb', '"a"\r', 'é')).map((row) => `${row}x\n`);
  const bytes = fc.oneof(
    line.map((row) => Buffer.from(row)),
    fc.constant(Buffer.from('caf\xe9\n', 'latin1')),
  );
  fc.assert(
    fc.property(fc.array(bytes, { minLength: 1, maxLength: 6 }), (lines) => {
      const damaged = [Buffer.from('a"b\n'), ...lines];
      const alone = damaged.map((each) => (isUtf8(each) ? (csvRows(each, ',')?.[0] ?? 'no-csv') : 'no-utf8'));
      const rows = [...rowsOfPiece(pieceOf(damaged), ',')];
      expect(rows.map((row) => (typeof row === 'object' && 'cell' in row ? 'no-csv' : row))).toEqual(alone);
    }),
    { numRuns: 2000 },
  );
});

it('rowsOfPiece calls the CSV parser once for all lines between two damaged ones, and never for these', () => {
  const count = (lines: readonly string[]) => {
    const read = vi.fn(csvRows);
    const rows = [...rowsOfPiece(pieceOf(lines.map((line) => Buffer.from(line))), ',', read)];
    expect(rows).toHaveLength(lines.length);
    return read.mock.calls.length;
  };
  const good = Array<string>(100).fill('a,"b"\n');
  expect(count(good)).toBe(1);
  expect(count([...good, '"x"y\n', ...good])).toBe(3);
  expect(count(Array<string>(100).fill('a"\n'))).toBe(1);
  expect(rowsOf(['a"\n', 'b\n'])).toEqual([{ cell: 0, fault: 'quote-within' }, ['b']]);
});

it.each([
  ['a,"b,b",4" pipe,d\n', { cell: 2, fault: 'quote-within' }],
  ['a,"4"" pipe","b" c\n', { cell: 2, fault: 'text-behind-quote' }],
  ['a,"b\n', { cell: 1, fault: 'open-quote' }],
])('rowsOfPiece reports the cell because of which %j is no CSV', (line, damaged) => {
  expect(rowsOf([line])).toEqual([damaged]);
});
