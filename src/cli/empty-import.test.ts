import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RecordFormat } from '../records/index.js';
import { importText } from './empty-import.js';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function emptinessOf(named: RecordFormat, bytes: Uint8Array, size: number) {
  const { emptiness, stream } = await importText(inPieces(bytes, size), { given: undefined, named });
  const read: Uint8Array[] = [];
  for await (const piece of stream) read.push(piece);
  expect(Buffer.concat(read).equals(bytes)).toBe(true);
  return emptiness;
}

const MARK = '\ufeff';

it.each([
  ['ndjson', '', 'is empty'],
  ['ndjson', '\r\n \n', 'is empty'],
  ['ndjson', MARK, 'is empty'],
  ['ndjson', '{}', undefined],
  ['ndjson', '[]', 'is an empty array'],
  ['ndjson', 'no JSON', undefined],
  ['json', '', 'is empty'],
  ['json', ' [\n]\n', 'is an empty array'],
  ['json', '[{}]', undefined],
  ['json', 'no JSON', undefined],
  ['csv', '', 'is empty'],
  ['csv', '\r\n\r\n', 'is empty'],
  ['csv', 'name,title', 'has only a header line'],
  ['csv', `${MARK}name,title\n`, 'has only a header line'],
  ['csv', 'name;title\r\n\r\n', 'has only a header line'],
  ['csv', 'name\ttitle\r', 'has only a header line'],
  ['csv', 'sep=;\r\nname;title\r\n', 'has only a header line'],
  ['csv', '"of two\nlines",title\n', 'has only a header line'],
  ['csv', 'name,title\na,b', undefined],
  ['csv', 'name,title\ra,b', undefined],
  ['csv', 'sep=;\r\nname;title\r\na;b', undefined],
  ['csv', '"never closed', undefined],
] as const)('importText reports of %s %j: %s', async (named, text, emptiness) => {
  for (const size of [1, 3, 1000]) expect(await emptinessOf(named, Buffer.from(text), size)).toBe(emptiness);
});

it('importText recognizes a header in UTF-16', async () => {
  const wide = (text: string) => Buffer.from(MARK + text, 'utf16le');
  expect(await emptinessOf('csv', wide('name;title\r\n'), 5)).toBe('has only a header line');
  expect(await emptinessOf('csv', wide('name;title\r\na;b\r\n'), 5)).toBeUndefined();
});

it('importText does not report a text with a record as empty, in parts of any size and with a header of any length', async () => {
  const cell = fc.string({ minLength: 1 }).map((text) => `"${text.replaceAll('"', '""')}"`);
  await fc.assert(
    fc.asyncProperty(
      fc.array(cell, { minLength: 1 }),
      cell,
      fc.integer({ min: 1, max: 50 }),
      async (heading, record, size) => {
        const text = `${heading.join(',')}\n${record}\n`;
        expect(await emptinessOf('csv', Buffer.from(text), size)).toBeUndefined();
      },
    ),
  );
  const long = `${'name,'.repeat(30_000)}last\na\n`;
  expect(await emptinessOf('csv', Buffer.from(long), 262_144)).toBeUndefined();
});

it('importText does not read beyond the first record to report emptiness', async () => {
  async function* open(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('\n');
    yield await Promise.resolve(Buffer.from('{"a":1}\n'));
    throw new Error('read on');
  }
  expect((await importText(open(), { given: undefined, named: 'ndjson' })).emptiness).toBeUndefined();
});
