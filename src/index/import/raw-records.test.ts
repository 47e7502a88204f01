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

/** What becomes of the lines behind the header, each a record or the sentence that is told of it. */
function read(header: string, ...lines: (string | Buffer)[]): unknown[] {
  const bytes = Buffer.from(`${header}\n`);
  return told(csvRecords({ bytes, separator: separatorOf(header) }, [pieceOf(lines, 2)], { definition: DEFINITION }));
}

function pieceOf(lines: readonly (string | Buffer)[], firstLine: number): RawRecords {
  const rows = lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')]));
  let end = 0;
  const ends = Uint32Array.from(rows, (row) => (end += row.length));
  return { bytes: Buffer.concat(rows), ends, lines: Uint32Array.from(lines, (_line, at) => at + firstLine) };
}

const told = (records: Iterable<RawRecord>): unknown[] =>
  [...records].map(({ input }) => (input instanceof ServiceError ? input.detail : input.fields));

it('reads a column without a name where nothing is in it', () => {
  expect(read('name,title,', 'a,A,', 'b,B,x')).toEqual([
    { title: 'A' },
    'The header has no name for column 3, in which the line has a value.',
  ]);
});

it('refuses a header by which a value would be lost', () => {
  expect(() => read('name,title,title', 'a,A,B')).toThrow("The header of the CSV names the column 'title' twice.");
});

it('reads a header of many columns in a time that grows with them, and not with their square', () => {
  const tookMs = (count: number) => {
    const columns = Array.from({ length: count }, (_, at) => `c${at}`);
    return processorMs(() => read(columns.join(','), columns.map(() => '').join(',')));
  };
  tookMs(1000);
  expect(tookMs(80_000)).toBeLessThan(25 * tookMs(10_000));
});

it('refuses a JSON record by which a value would be lost, and no other', () => {
  const lines = ['{"title":"A","title":"B"}', '{"fields":{"title":":A","title":"B"}}', '{"title":": A"}'];
  expect(told(jsonRecords([pieceOf(lines, 1)]))).toEqual([
    "In the record the member 'title' is given twice.",
    "In the record the member 'title' is given twice.",
    { title: ': A' },
  ]);
  const [twice] = [...jsonRecords([pieceOf(['{"name":"a","title":"A","title":"B"}'], 7)])];
  expect(twice).toMatchObject({ line: 7, name: 'a' });
});

it.each([';', '\t'])('reads cells behind %j, whatever is in them', (separator) => {
  const row = (...cells: string[]) => cells.join(separator);
  expect(read(row('name', 'title', 'note'), row('a', 'A, B', `"x${separator}y"`), row('b', '"B"', ''))).toEqual([
    { title: 'A, B', note: `x${separator}y` },
    { title: 'B' },
  ]);
  expect(read('title', `a${separator}b`)).toEqual([{ title: `a${separator}b` }]);
});

const LATIN = Buffer.from('caf\xe9', 'latin1');

it('refuses a line that is no UTF-8, and no other, instead of losing its letters', () => {
  expect(read('title', 'café', LATIN, '"two\nlines"')).toEqual([
    { title: 'café' },
    'The line is not valid UTF-8.',
    { title: 'two\nlines' },
  ]);
  const lines = ['{"title":"café"}', Buffer.concat([Buffer.from('{"title":"'), LATIN, Buffer.from('"}')]), '{}'];
  expect(told(jsonRecords([pieceOf(lines, 1)]))).toEqual([{ title: 'café' }, 'The record is not valid UTF-8.', {}]);
});

it('makes one error for all lines that are no records, and parses only the first of those that are no JSON', () => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const errorsOf = (...lines: string[]) =>
    new Set([...jsonRecords([pieceOf(lines, 1)])].map(({ input }) => input as ServiceError));
  for (const line of ['x', '{"title"', '{"title":"A"}}']) {
    parse.mockClear();
    expect([...errorsOf(...Array<string>(100).fill(line))].map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^The record is not valid JSON: .*, at column \d+ of it\.$/),
    ]);
    expect(parse).toHaveBeenCalledTimes(1);
  }
  expect(errorsOf(...Array<string>(100).fill('[1]')).size).toBe(1);
});

it('reads behind a broken line what it reads elsewhere', () => {
  const deep = `{"title":"A","x":${'['.repeat(200)}${']'.repeat(200)}}`;
  const read = (...lines: string[]) => told(jsonRecords([pieceOf(lines, 1)]));
  for (const line of ['{"title":"A"}', '{"title":"A","title":"B"}', deep, '{"__proto__":1}', '{}', '7'])
    expect(read('x', line)).toEqual([expect.stringMatching(/^The record is not valid JSON: "x"/), ...read(line)]);
});

it('says where a record is no JSON', () => {
  const lines = ['{"title":}', '{"title":"A"', '{"title":"A"} x', '[\n  {"title":}]'];
  expect(told(jsonRecords([pieceOf(lines, 1)]))).toEqual([
    'The record is not valid JSON: "}" where a value was expected, at column 10 of it.',
    "The record is not valid JSON: the text ends where ',' or '}' was expected, at column 13 of it.",
    'The record is not valid JSON: "x" where the end was expected, at column 15 of it.',
    'The record is not valid JSON: "}" where a value was expected, at line 2, column 12 of it.',
  ]);
});

it('says no place of what nobody would be told any more', () => {
  const lines = Array.from({ length: 1500 }, (_, at) => `${' '.repeat(at)}x`);
  const errors = new Set([...jsonRecords([pieceOf(lines, 1)])].map(({ input }) => input));
  expect(errors.size).toBe(1001);
});

it('names the column by which a line is no CSV, and the first that it lacks', () => {
  expect(read('name,title,price', 'a,4" pipe,1', 'b,"B" x,1', 'c,C')).toEqual([
    "The line is not valid CSV: in the column 'title' a quote stands within it: a value with quotes begins and ends with one, and has those within doubled.",
    "The line is not valid CSV: in the column 'title' something stands behind its closing quote: a quote within a value is doubled.",
    "The line has 2 values, the header 3. It ends before 'price'.",
  ]);
  expect(read('name', 'a,b"')).toEqual([expect.stringMatching(/^The line is not valid CSV: in value 2 a quote/)]);
});
