import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { piecesOf, readingOf, type FileReading } from './file-records.js';
import { csvRows, listNameOf, sampleOf } from './file-sample.js';

const csv: FileReading = { format: 'csv', path: [] };
const ndjson: FileReading = { format: 'ndjson', path: [] };
const json: FileReading = { format: 'json', path: [] };

async function cut(text: string, reading: FileReading, pieceBytes: number) {
  const pieces: string[] = [];
  const places: number[] = [];
  let records = 0;
  for await (const piece of piecesOf(new Blob([text]), reading, pieceBytes)) {
    pieces.push(new TextDecoder().decode(piece.data));
    places.push(piece.linesBefore);
    records += piece.records;
  }
  return { pieces, places, records };
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ä', '"', ',', '\n', '\r\n', ' ', '[', '}', '\\') });
/** Values that contain no objects. */
const scalar = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const record = fc.oneof(scalar, fc.array(scalar), fc.dictionary(fc.string(), fc.oneof(scalar, fc.array(scalar))));
const pieceBytes = fc.integer({ min: 1, max: 40 });
const written = (value: string): string => `"${value.replaceAll('"', '""')}"`;

describe('piecesOf', () => {
  it('cuts CSV between records, wherever quotes and line ends are, and repeats the header in each piece (property)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), pieceBytes, async (rows, bytes) => {
        const text = `a,b\n${rows.map((row) => `${row.map(written).join(',')}\n`).join('')}`;
        const { pieces, records } = await cut(text, csv, bytes);
        expect(records).toBe(rows.length);
        expect(pieces.flatMap((piece) => csvRows(piece).slice(1))).toEqual(rows);
      }),
    );
  });

  it('cuts NDJSON between lines, whether or not the last one ends with a line feed (property)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1 }), pieceBytes, fc.boolean(), async (values, bytes, ends) => {
        const text = values.map((value) => JSON.stringify(value)).join('\n') + (ends ? '\n' : '');
        const { pieces, places, records } = await cut(text, ndjson, bytes);
        expect(records).toBe(values.length);
        const lines = pieces.flatMap((piece) => piece.split('\n').filter((line) => line !== ''));
        expect(lines).toEqual(values.map((value) => JSON.stringify(value)));
        expect(places).toEqual(pieces.map((_piece, at) => pieces.slice(0, at).join('').split('\n').length - 1));
      }),
    );
  });

  it('cuts an array into lines of its elements, however it is laid out and wherever it is in the document (property)', async () => {
    const paths = fc.constantFrom([], ['data', 'items']);
    const layout = fc.record({ path: paths, indent: fc.constantFrom(0, 2) });
    await fc.assert(
      fc.asyncProperty(fc.array(record), pieceBytes, layout, async (values, bytes, { path, indent }) => {
        const document = path.length === 0 ? values : { count: 1, data: { next: [], items: values } };
        const text = `\n${JSON.stringify(document, null, indent)}\n`;
        const { pieces, records } = await cut(text, { format: 'json', path }, bytes);
        expect(records).toBe(values.length);
        const lines = pieces.flatMap((piece) => piece.split('\n').filter((line) => line.trim() !== ''));
        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it('flattens nested objects into fields', async () => {
    const text = '{"name":"a","author":{"name":"Ana"}}\n{"name":"b","tags":["x"]}\n';
    expect((await cut(text, ndjson, 10)).pieces.join('')).toBe(
      '{"name":"a","author.name":"Ana"}\n{"name":"b","tags":["x"]}\n',
    );
  });

  it('knows how many lines of the file, or records of JSON, precede each piece', async () => {
    expect((await cut('{"a":1}\n\n{"a":2}\n{"a":3}', ndjson, 12)).places).toEqual([0, 1, 3]);
    expect((await cut('[{"a":1},\n\n{"a":2}, {"a":3}]', json, 12)).places).toEqual([0, 1, 2]);
  });

  it('passes broken records on for the service to report, but rejects an array without an end', async () => {
    expect((await cut('{"a": 1}\n{"b"', ndjson, 100)).pieces).toEqual(['{"a": 1}\n', '{"b"']);
    expect((await cut('', csv, 100)).pieces).toEqual([]);
    await expect(cut('[{"a":1},{"b"', json, 100)).rejects.toThrow(
      'The file ends before its array of records is complete',
    );
  });
});

describe('sampleOf', () => {
  it('suggests the types that the service would give the fields', async () => {
    const rows = Array.from(
      { length: 50 },
      (_, index) => `${index % 3 === 0 ? 'drama' : 'comedy'},${index},true,2020-01-0${(index % 9) + 1}`,
    );
    const { definition } = await sampleOf(new Blob([`genre,year,sold,day\n${rows.join('\n')}`]), csv);
    const types = Object.fromEntries(definition.facets.map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({ genre: 'string', year: 'number', sold: 'boolean', day: 'date' });
  });

  it('says what is wrong with a file whose content does not match its name', async () => {
    await expect(sampleOf(new Blob(['']), csv)).rejects.toThrow('no records');
    await expect(sampleOf(new Blob(['3\n']), ndjson)).rejects.toThrow('Each record must be a JSON object');
    const without = new File([JSON.stringify({ items: [7] }, null, 2)], 'a.json');
    await expect(readingOf(without)).rejects.toThrow('no array of objects');
    await expect(sampleOf(new Blob(['"text"']), json)).rejects.toThrow('The file is not a JSON array.');
  });

  it('skips lines that are not records, which the service will report', async () => {
    const file = new Blob(['{"name":"a","year":1}\n{"name":"b,"year":2}\n7\n{"name":"c","year":3}\n']);
    const { records } = await sampleOf(file, ndjson);
    expect(records.map(({ fields }) => fields['name'])).toEqual(['a', 'c']);
  });
});

it.each([
  ['Films 2024.csv', 'films-2024'],
  ['_Ünder.json', 'under'],
  ['---.csv', ''],
  [`${'a'.repeat(80)}.csv`, 'a'.repeat(64)],
])('listNameOf names a list after %s', (file, name) => {
  expect(listNameOf(file)).toBe(name);
});

it.each([
  ['a.CSV', '', csv],
  ['a.jsonl', '{}\n', ndjson],
  ['a.json', '[{}]', json],
  ['lines.json', '{"name":"a"}\n{"name":"b","in":[{"a":1}]}\n', ndjson],
  ['one.json', '{"name":"a"}', ndjson],
  ['array.ndjson', '[{"name":"a"}]', json],
  ['line.json', '{"count":1,"data":{"items":[{"name":"a"}]}}', { format: 'json', path: ['data', 'items'] }],
  ['line.ndjson', '{"items":[{"name":"a"}]}', ndjson],
  ['laid-out.json', '{\n"items": [\n{"name":"a"}]}', { format: 'json', path: ['items'] }],
  ['a.txt', '', undefined],
])('readingOf tells how %s is read from its name and its content', async (name, content, reading) => {
  expect(await readingOf(new File([content], name))).toEqual(reading);
});
