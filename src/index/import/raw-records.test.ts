import { expect, it, onTestFinished, vi } from 'vitest';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import { separatorOf } from '../../records/index.js';
import type { RawRecords } from '../contract/ingest-tasks.js';
import { processorMs } from '../../../test/support/processor-time.js';
import { csvRecords, jsonRecords, type RawRecord } from './raw-records.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};

const TOLD_MAX = 1000;

/** Returns what becomes of the lines after the header: the fields of each record, or the sentence of its error. */
function read(header: string, ...lines: (string | Buffer)[]): unknown[] {
  const bytes = Buffer.from(`${header}\n`);
  return told(
    csvRecords({ bytes, separator: separatorOf(header) }, [pieceOf(lines, 2)], {
      definition: DEFINITION,
      toldMax: TOLD_MAX,
    }),
  );
}

function pieceOf(lines: readonly (string | Buffer)[], firstLine: number): RawRecords {
  const rows = lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
  let end = 0;
  const ends = Uint32Array.from(rows, (row) => (end += row.length));
  return { bytes: Buffer.concat(rows), ends, lines: Uint32Array.from(lines, (_line, at) => at + firstLine) };
}

const told = (records: Iterable<RawRecord>): unknown[] =>
  [...records].map(({ input }) => (input instanceof ServiceError ? input.detail : input.fields));

/** Returns the sentence of each distinct error object. */
const errorsOf = (records: Iterable<RawRecord>): unknown[] =>
  [...new Set([...records].map(({ input }) => input))].map((input) => (input as ServiceError).detail);

it('csvRecords reads a column without a name if it has no values', () => {
  expect(read('name,title,', 'a,A,', 'b,B,x')).toEqual([
    { title: 'A' },
    'The header has no name for column 3, in which the line has a value.',
  ]);
});

it('csvRecords refuses a header that names a column twice, because a value would be lost', () => {
  expect(() => read('name,title,title', 'a,A,B')).toThrow("The header of the CSV names the column 'title' twice.");
});

it('csvRecords reads a header in a time that grows linearly with its columns', () => {
  const tookMs = (count: number) => {
    const columns = Array.from({ length: count }, (_, at) => `c${at}`);
    return processorMs(() => read(columns.join(','), columns.map(() => '').join(',')));
  };
  tookMs(1000);
  expect(tookMs(80_000)).toBeLessThan(25 * tookMs(10_000));
});

it('jsonRecords refuses only records that have a member twice, because a value would be lost', () => {
  const lines = ['{"title":"A","title":"B"}', '{"fields":{"title":":A","title":"B"}}', '{"title":": A"}'];
  expect(told(jsonRecords([pieceOf(lines, 1)], TOLD_MAX))).toEqual([
    "In the record the member 'title' is given twice.",
    "In the record the member 'title' is given twice.",
    { title: ': A' },
  ]);
  const [twice] = [...jsonRecords([pieceOf(['{"name":"a","title":"A","title":"B"}'], 7)], TOLD_MAX)];
  expect(twice).toMatchObject({ line: 7, name: 'a' });
});

it.each([';', '\t'])('csvRecords reads cells separated by %j, whatever they contain', (separator) => {
  const row = (...cells: string[]) => cells.join(separator);
  expect(read(row('name', 'title', 'note'), row('a', 'A, B', `"x${separator}y"`), row('b', '"B"', ''))).toEqual([
    { title: 'A, B', note: `x${separator}y` },
    { title: 'B' },
  ]);
  expect(read('title', `a${separator}b`)).toEqual([{ title: `a${separator}b` }]);
});

const LATIN = Buffer.from('caf\xe9', 'latin1');

it('Only lines that are not valid UTF-8 are refused, instead of losing their letters', () => {
  expect(read('title', 'café', LATIN, '"two\nlines"')).toEqual([
    { title: 'café' },
    'The line is not valid UTF-8.',
    { title: 'two\nlines' },
  ]);
  const lines = ['{"title":"café"}', Buffer.concat([Buffer.from('{"title":"'), LATIN, Buffer.from('"}')]), '{}'];
  expect(told(jsonRecords([pieceOf(lines, 1)], TOLD_MAX))).toEqual([
    { title: 'café' },
    'The record is not valid UTF-8.',
    {},
  ]);
});

it('jsonRecords parses only the first of equal lines that are no JSON, and makes one error for lines that are no objects', () => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const read = (line: string) => jsonRecords([pieceOf(Array<string>(100).fill(line), 1)], TOLD_MAX);
  for (const line of ['x', '{"title"', '{"title":"A"}}']) {
    parse.mockClear();
    expect([...new Set(told(read(line)))]).toEqual([
      expect.stringMatching(/^The record is not valid JSON: .*, at column \d+ of it\.$/),
    ]);
    expect(parse).toHaveBeenCalledTimes(1);
  }
  expect(errorsOf(read('[1]'))).toHaveLength(1);
});

it('jsonRecords reads the lines after a broken line as it reads them elsewhere', () => {
  const deep = `{"title":"A","x":${'['.repeat(200)}${']'.repeat(200)}}`;
  const read = (...lines: string[]) => told(jsonRecords([pieceOf(lines, 1)], TOLD_MAX));
  for (const line of ['{"title":"A"}', '{"title":"A","title":"B"}', deep, '{"__proto__":1}', '{}', '7'])
    expect(read('x', line)).toEqual([expect.stringMatching(/^The record is not valid JSON: "x"/), ...read(line)]);
});

it('jsonRecords says where a record is no JSON', () => {
  const lines = ['{"title":}', '{"title":"A"', '{"title":"A"} x', '[\n  {"title":}]'];
  expect(told(jsonRecords([pieceOf(lines, 1)], TOLD_MAX))).toEqual([
    'The record is not valid JSON: "}" where a value was expected, at column 10 of it.',
    "The record is not valid JSON: the text ends where ',' or '}' was expected, at column 13 of it.",
    'The record is not valid JSON: "x" where the end was expected, at column 15 of it.',
    'The record is not valid JSON: "}" where a value was expected, at line 2, column 12 of it.',
  ]);
});

it.each([
  ['a line that is no JSON', (at: number) => `${' '.repeat(at)}x`],
  ['lines that are alike', () => 'x'],
])('jsonRecords makes one shared error for %s beyond the number that is reported', (_, line) => {
  const piece = pieceOf(
    Array.from({ length: 1500 }, (_line, at) => line(at)),
    1,
  );
  expect(errorsOf(jsonRecords([piece], TOLD_MAX))).toHaveLength(TOLD_MAX + 1);
  expect(errorsOf(jsonRecords([piece], 0))).toEqual(['The record is not valid JSON.']);
});

it.each(['a', 'a,b,c,d', 'a,b"'])(
  'csvRecords makes one shared error for rows %j beyond the number that is reported',
  (row) => {
    const bytes = Buffer.from('name,title,\n');
    const errors = (toldMax: number) =>
      errorsOf(
        csvRecords({ bytes, separator: ',' }, [pieceOf(Array<string>(1500).fill(row), 2)], {
          definition: DEFINITION,
          toldMax,
        }),
      );
    expect(errors(TOLD_MAX)).toHaveLength(TOLD_MAX + 1);
    expect(errors(0)).toEqual(['The line is not valid CSV.']);
  },
);

it('csvRecords names the column in which a line is no CSV, and the first column that a line lacks', () => {
  expect(read('name,title,price', 'a,4" pipe,1', 'b,"B" x,1', 'c,C')).toEqual([
    "The line is not valid CSV: in the column 'title' a quote stands within it: a value with quotes begins and ends with one, and has those within doubled.",
    "The line is not valid CSV: in the column 'title' something stands behind its closing quote: a quote within a value is doubled.",
    "The line has 2 values, the header 3. It ends before 'price'.",
  ]);
  expect(read('name', 'a,b"')).toEqual([expect.stringMatching(/^The line is not valid CSV: in value 2 a quote/)]);
});
