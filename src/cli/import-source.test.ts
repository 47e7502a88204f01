import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { cutAtLines, formatOf, readMore } from './import-source.js';

async function* inPieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

it('cutAtLines loses nothing of NDJSON and never splits a line', async () => {
  const lines = fc.array(fc.string({ maxLength: 30 }).map((text) => JSON.stringify(text)));
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 60 }),
      async (list, size, limit) => {
        const text = list.map((line) => `${line}\n`).join('');
        const parts: string[] = [];
        for await (const part of cutAtLines(inPieces(text, size), limit)) {
          const chunks: Uint8Array[] = [];
          for await (const chunk of part) chunks.push(chunk);
          parts.push(Buffer.concat(chunks).toString('utf8'));
        }
        expect(parts.join('')).toBe(text);
        for (const part of parts.slice(0, -1)) {
          expect(part.endsWith('\n')).toBe(true);
          expect(Buffer.byteLength(part)).toBeGreaterThanOrEqual(limit);
        }
      },
    ),
  );
});

it('formatOf follows the name of the file unless a format is given', () => {
  expect([formatOf('a.NDJSON', undefined), formatOf('a.jsonl', undefined), formatOf('b.csv', undefined)]).toEqual([
    'ndjson',
    'ndjson',
    'csv',
  ]);
  expect(formatOf('-', undefined)).toBe('ndjson');
  expect(formatOf('sheet.tsv', undefined)).toBe('csv');
  expect(formatOf('data.txt', 'json')).toBe('json');
  expect(() => formatOf('data.txt', undefined)).toThrow('data.txt cannot be read: it does not exist (ENOENT).');
});

it.each([
  [
    'notes.txt',
    'a line\n',
    /Cannot tell the format from the name .* Add --format ndjson .* --format json .* or --format csv/,
  ],
  [
    'bird.png',
    '\x89PNG\r\n\x1a\n',
    /bird\.png has no records: it is a PNG picture\. Upload it with gannet media put .* of the kind image\.$/,
  ],
  [
    'birds.xlsx',
    'PK\x03\x04\x14\0',
    /birds\.xlsx has no records: it is a ZIP archive.* Save it as CSV in your spreadsheet program\.$/,
  ],
  ['birds.csv.gz', '\x1f\x8b\x08\0', /it is a packed file \(gzip\)\. Unpack it first, or pipe it: zcat /],
  ['birds.PDF', 'no beginning that is known', /Cannot tell the format.* To import PDF files, use --pdf\.$/],
  ['birds.pdf', '%PDF-1.7\n', /it is a PDF\. To import a PDF file, .* use --pdf\./],
])('formatOf tells what to do with %s instead', (name, content, told) => {
  const file = join(mkdtempSync(join(tmpdir(), 'gannet-no-text-')), name);
  onTestFinished(() => rmSync(dirname(file), { recursive: true }));
  writeFileSync(file, content, 'latin1');
  expect(() => formatOf(file, undefined)).toThrow(told);
});

it('readMore returns the beginning of a stream, and a stream with nothing lost', async () => {
  for (const [text, bytesMin, seen] of [
    ['', 0, ''],
    ['abcdefg', 0, 'abc'],
    ['abcdefg', 4, 'abcdef'],
    ['abcdefg', 8, 'abcdefg'],
  ] as const) {
    const { begin, isWhole, stream } = await readMore(inPieces(text, 3), ({ length }) => length < bytesMin);
    const read: Uint8Array[] = [];
    for await (const chunk of stream) read.push(chunk);
    expect([Buffer.from(begin).toString(), Buffer.concat(read).toString()]).toEqual([seen, text]);
    expect(isWhole).toBe(seen === text);
  }
});

it('formatOf does not wait for a pipe that is not written yet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-import-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'records');
  expect(spawnSync('mkfifo', [pipe]).status).toBe(0);
  expect(() => formatOf(pipe, undefined)).toThrow('Cannot tell the format');
});
