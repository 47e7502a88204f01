import { expect, it } from 'vitest';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import { csvRecords } from './raw-records.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};

/** What becomes of the lines behind the header, each a record or the sentence that is told of it. */
function read(header: string, ...lines: string[]): unknown[] {
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
  let end = 0;
  const ends = Uint32Array.from(lines, (line) => (end += Buffer.byteLength(line) + 1));
  const piece = { bytes, ends, lines: Uint32Array.from(lines, (_line, at) => at + 2) };
  const records = csvRecords(Buffer.from(`${header}\n`), [piece], DEFINITION);
  return [...records].map(({ input }) => (input instanceof ServiceError ? input.detail : input.fields));
}

it('reads a column without a name where nothing is in it', () => {
  expect(read('name,title,', 'a,A,', 'b,B,x')).toEqual([
    { title: 'A' },
    'The header has no name for column 3, in which the line has a value.',
  ]);
});

it('refuses a header by which a value would be lost', () => {
  expect(() => read('name,title,title', 'a,A,B')).toThrow("The header of the CSV names the column 'title' twice.");
});

it.each([';', '\t'])('refuses a header whose values are separated by %j', (separator) => {
  expect(() => read(['name', 'title'].join(separator), ['a', 'A'].join(separator))).toThrow(
    /is one column, 'name.title': values have to be separated by commas/,
  );
  expect(read('title', `a${separator}b`)).toEqual([{ title: `a${separator}b` }]);
});
