import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatOfFile, piecesOf, type FileFormat } from './file-records.js';
import { csvRows, listNameOf, sampleOf } from './file-sample.js';

async function cut(text: string, format: FileFormat, pieceBytes: number) {
  const pieces: string[] = [];
  let records = 0;
  for await (const piece of piecesOf(new Blob([text]), format, pieceBytes)) {
    pieces.push(new TextDecoder().decode(piece.data));
    records += piece.records;
  }
  return { pieces, records };
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ä', '"', ',', '\n', '\r\n', ' ', '[', '}', '\\') });
const pieceBytes = fc.integer({ min: 1, max: 40 });
const written = (value: string): string => `"${value.replaceAll('"', '""')}"`;

describe('piecesOf', () => {
  it('cuts CSV between records, wherever quotes and line ends are, each piece with the header', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), pieceBytes, async (rows, bytes) => {
        const text = `a,b\n${rows.map((row) => `${row.map(written).join(',')}\n`).join('')}`;
        const { pieces, records } = await cut(text, 'csv', bytes);
        expect(records).toBe(rows.length);
        expect(pieces.flatMap((piece) => csvRows(piece).slice(1))).toEqual(rows);
      }),
    );
  });

  it('cuts NDJSON between lines, the last with a line feed or without', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1 }),
        pieceBytes,
        fc.boolean(),
        async (values, bytes, ends) => {
          const text = values.map((value) => JSON.stringify(value)).join('\n') + (ends ? '\n' : '');
          const { pieces, records } = await cut(text, 'ndjson', bytes);
          expect(records).toBe(values.length);
          const lines = pieces.flatMap((piece) => piece.split('\n').filter((line) => line !== ''));
          expect(lines).toEqual(values.map((value) => JSON.stringify(value)));
        },
      ),
    );
  });

  it('cuts an array between its elements, however it is laid out', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue()), pieceBytes, fc.constantFrom(0, 2), async (values, bytes, indent) => {
        const { pieces, records } = await cut(`\n${JSON.stringify(values, null, indent)}\n`, 'json', bytes);
        expect(records).toBe(values.length);
        const elements = pieces.flatMap((piece) => JSON.parse(piece) as unknown[]);
        expect(elements).toEqual(JSON.parse(JSON.stringify(values)));
      }),
    );
  });

  it('hands on what is broken, for the service to name', async () => {
    expect((await cut('{"a": 1}\n{"b"', 'ndjson', 100)).pieces).toEqual(['{"a": 1}\n', '{"b"']);
    expect((await cut('', 'csv', 100)).pieces).toEqual([]);
  });
});

describe('sampleOf', () => {
  it('sees what the service would make of the fields', async () => {
    const rows = Array.from(
      { length: 50 },
      (_, index) => `${index % 3 === 0 ? 'drama' : 'comedy'},${index},true,2020-01-0${(index % 9) + 1}`,
    );
    const { definition } = await sampleOf(new Blob([`genre,year,sold,day\n${rows.join('\n')}`]), 'csv');
    const types = Object.fromEntries(definition.facets.map(({ name, type }) => [name, type]));
    expect(types).toMatchObject({ genre: 'string', year: 'number', sold: 'boolean', day: 'date' });
  });

  it('says what is wrong with a file that is not what its name says', async () => {
    await expect(sampleOf(new Blob(['']), 'csv')).rejects.toThrow('no records');
    await expect(sampleOf(new Blob(['3\n']), 'ndjson')).rejects.toThrow('A record is an object');
    const wrapped = new Blob([JSON.stringify({ items: [{ name: 'a' }] }, null, 2)]);
    await expect(sampleOf(wrapped, 'json')).rejects.toThrow(/is an array of objects, and this one does not begin/);
  });

  it('leaves lines out that are no records, of which the service tells', async () => {
    const file = new Blob(['{"name":"a","year":1}\n{"name":"b,"year":2}\n7\n{"name":"c","year":3}\n']);
    const { records } = await sampleOf(file, 'ndjson');
    expect(records.map(({ fields }) => fields['name'])).toEqual(['a', 'c']);
  });
});

it.each([
  ['Films 2024.csv', 'films-2024'],
  ['_Ünder.json', 'under'],
  ['---.csv', ''],
  [`${'a'.repeat(80)}.csv`, 'a'.repeat(64)],
])('names a list after %s', (file, name) => {
  expect(listNameOf(file)).toBe(name);
});

it.each([
  ['a.CSV', '', 'csv'],
  ['a.jsonl', '{}\n', 'ndjson'],
  ['a.json', '[{}]', 'json'],
  ['lines.json', '{"name":"a"}\n{"name":"b"}\n', 'ndjson'],
  ['array.ndjson', '[{"name":"a"}]', 'json'],
  ['a.txt', '', undefined],
])('tells the format of %s by its name and its text', async (name, content, format) => {
  expect(await formatOfFile(new File([content], name))).toBe(format);
});
