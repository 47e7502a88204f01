import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommandError } from '../exit-codes.js';
import type { NpyReader } from './npy-file.js';
import { recordsWithVectors } from './records-with-vectors.js';

/** Returns a reader of these rows. */
function matrixOf(rows: readonly (readonly number[])[]): NpyReader {
  let next = 0;
  const read = () => {
    const row = rows[next++];
    return Promise.resolve(row === undefined ? undefined : Float32Array.from(row));
  };
  return { path: 'v.npy', rows: rows.length, next: read } as unknown as NpyReader;
}

async function* inPieces(text: string, pieceBytes: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // Each part overwrites the one before, as streams may do.
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    await Promise.resolve();
    yield bytes.subarray(at, at + pieceBytes);
  }
}

async function joined(
  text: string,
  format: 'ndjson' | 'csv' | 'json',
  rows: readonly (readonly number[])[],
  pieceBytes = 7,
): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of recordsWithVectors(inPieces(text, pieceBytes), format, matrixOf(rows))) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('recordsWithVectors', () => {
  it('adds to each record the vector of its row, line by line', async () => {
    const lines = [
      '{"name":"a","fields":{"title":"naïve"},"as_of":"2020-01-01"}',
      '',
      '{"name":"b","title":"flat","fields":3}',
      'no record',
      '{"title":"nameless","vector":"a field"}',
    ];
    const out = await joined(lines.join('\n'), 'ndjson', [
      [1, 0.1],
      [0, 2],
      [3, 3],
      [4, 4],
    ]);
    expect(out.split('\n')).toEqual([
      '{"name":"a","fields":{"title":"naïve"},"as_of":"2020-01-01","vector":[1,0.100000001]}',
      '',
      '{"name":"b","fields":{"title":"flat","fields":3},"vector":[0,2]}',
      'no record',
      '{"fields":{"title":"nameless","vector":"a field"},"vector":[4,4]}',
    ]);
  });

  it('leaves a record with a duplicate member as it is, because the service refuses it', async () => {
    const out = await joined('{"name":"a","t":1,"t":2}\n{"name":"b"}\n', 'ndjson', [
      [1, 0],
      [0, 1],
    ]);
    expect(out).toBe('{"name":"a","t":1,"t":2}\n{"name":"b","fields":{},"vector":[0,1]}\n');
  });

  it('adds no vector for a row of zeros, and null for values that are no number', async () => {
    const out = await joined('{"name":"a"}\n{"name":"b"}\n', 'ndjson', [
      [0, -0],
      [NaN, 1],
    ]);
    expect(out).toBe('{"name":"a"}\n{"name":"b","fields":{},"vector":[null,1]}\n');
  });

  it('keeps the cells of a CSV, quoted if needed', async () => {
    const text = '\ufeffname,title\r\na,"two\nlines, ""said"""\r\n\r\nb,plain\r\n';
    expect(await joined(text, 'csv', [[1], [0]])).toBe('name,title,@vector\na,"two\nlines, ""said""",[1]\nb,plain,\n');
  });

  it('needs as many records as rows', async () => {
    const failure = (text: string, format: 'ndjson' | 'csv' | 'json', rows: readonly (readonly number[])[]) =>
      joined(text, format, rows).catch((error: unknown) => (error instanceof CommandError ? error.message : error));
    expect(await failure('{}\n{}\n', 'ndjson', [[1]])).toMatch(
      /^v\.npy has 1 vectors, but the file has a record 2\. Each record needs one row/,
    );
    expect(await failure('{}\n', 'ndjson', [[1], [2]])).toMatch(
      /^v\.npy has 2 vectors, but the file has only 1 records/,
    );
    expect(await failure('name\na\nb\n', 'csv', [[1]])).toMatch(/the file has a record 2/);
    expect(await failure('name,@vector\na,[1]\n', 'csv', [[1]])).toMatch(/vectors come from one of them/);
    expect(await failure('name,title\na,"open\n', 'csv', [[1]])).toMatch(/^The file is not valid CSV: /);
    expect(await failure('[]', 'json', [])).toMatch(/works with NDJSON and CSV only/);
  });

  it('has the same output however the bytes come', async () => {
    const record = fc.record({
      name: fc.string({ unit: 'binary', maxLength: 8 }),
      text: fc.string({ unit: 'binary' }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 8 }), fc.integer({ min: 1, max: 40 }), async (records, piece) => {
        const text = records.map((each) => `${JSON.stringify(each)}\n`).join('');
        const rows = records.map((_, index) => [index + 1]);
        const out = await joined(text, 'ndjson', rows, piece);
        const read =
          out === ''
            ? []
            : out
                .trimEnd()
                .split('\n')
                .map((line) => JSON.parse(line) as unknown);
        expect(read).toEqual(
          records.map(({ name, text: value }, index) => ({ name, fields: { text: value }, vector: [index + 1] })),
        );
      }),
      { numRuns: 200 },
    );
  });
});
