import fc from 'fast-check';
import { expect, it } from 'vitest';
import { csvFormOf } from '../../../../records/csv-text.js';
import { piecesOf } from './file-records.js';
import { csvRows } from './file-sample.js';

const csv = { format: 'csv', path: [] } as const;

async function rowsOf(bytes: Uint8Array<ArrayBuffer>, pieceBytes: number): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const { data } of piecesOf(new Blob([bytes]), csv, pieceBytes))
    rows.push(...csvRows(new TextDecoder().decode(data)).slice(1));
  return rows;
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ä', '"', ',', ';', '\t', '\n', ' ') });
const isPlain = (value: string): boolean => !/[";\t\n]/.test(value);
const written = (value: string): string => (isPlain(value) ? value : `"${value.replaceAll('"', '""')}"`);

it.each([';', '\t'])(
  'piecesOf cuts rows whose cells are separated by "%s", whatever the cells hold, at any piece size (property)',
  async (separator) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1 }),
        fc.integer({ min: 1, max: 40 }),
        async (rows, size) => {
          const text = [['first', 'second'], ...rows].map((row) => `${row.map(written).join(separator)}\r\n`).join('');
          expect(await rowsOf(new TextEncoder().encode(text), size)).toEqual(rows);
        },
      ),
    );
  },
);

it.each([
  ['windows-1252', Uint8Array.from([...Buffer.from('name;note\nM\xfcller;\x80 5\n', 'latin1')]), ['Müller', '€ 5']],
  ['utf-16le', Uint8Array.from(Buffer.from('\ufeffname\tnote\nMüller\t€ 5\n', 'utf16le')), ['Müller', '€ 5']],
  ['utf-8', new TextEncoder().encode('name;note\nMüller;€ 5\n'), ['Müller', '€ 5']],
])('piecesOf decodes letters in %s', async (_encoding, bytes, row) => {
  expect(await rowsOf(bytes, 7)).toEqual([row]);
});

it('piecesOf leaves UTF-8 files unchanged', async () => {
  for (const text of ['name,note\nMüller,€ 5\n', 'name\nMüller\n', '"a;b;c",d\n1,2\n']) {
    const pieces = [];
    for await (const { data } of piecesOf(new Blob([text]), csv)) pieces.push(new TextDecoder().decode(data));
    expect(pieces).toEqual([text]);
  }
});

it('piecesOf marks each piece as UTF-8, so that a broken letter does not change its encoding', async () => {
  const row = (letter: string) => Buffer.from(`${letter.repeat(30)},x\n`, 'latin1');
  const file = new Blob([
    Buffer.from('name,note\nMüller,ä\n'),
    ...Array.from({ length: 9 }, () => row('a')),
    row('\xe9'),
  ]);
  for await (const { data } of piecesOf(file, csv, 64)) expect(csvFormOf(data)).toMatchObject({ encoding: 'utf-8' });
});

it('piecesOf repeats the first row that is not empty as the heading of each piece and knows the lines before it', async () => {
  const rows = Array.from({ length: 9000 }, (_, at) => [`n${at}`, 'x,y,z,a,b,c']);
  for (const before of ['\n', '\ufeff\r\n', 'sep=;\n']) {
    const file = new Blob([before, 'name;note\n', ...rows.map((row) => `${row.join(';')}\n`)]);
    const pieces: string[] = [];
    for await (const { data, linesBefore } of piecesOf(file, csv, 40_000)) {
      pieces.push(Buffer.from(data).toString());
      // The second line of the piece must be this line of the file.
      const first = rows.findIndex(([name = '']) => pieces.at(-1)?.includes(`\n${name};`));
      expect(linesBefore + 2).toBe(before.split('\n').length + 1 + first);
    }
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map((piece) => piece.slice(0, 11))).toEqual(pieces.map(() => '\ufeffname;note\n'));
  }
});
