import { expect, it } from 'vitest';
import { importedFile } from './imported-file.js';

async function* inPieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let begin = 0; begin < all.length; begin += bytes)
    yield await Promise.resolve(all.subarray(begin, begin + bytes));
}

it.each([
  ['a.json', '[{"a": 1}, {"b": 2}]', 'json'],
  ['a.json', '[\n  {"a": 1}\n]\n', 'json'],
  ['a.json', '{"a": 1}\n{"a": 2}\n', 'ndjson'],
  ['a.json', '{\n  "items": [] }\n', 'json'],
  ['a.ndjson', '{"a": 1}\n', 'ndjson'],
  ['a.jsonl', '[{"a": 1}]', 'json'],
  ['a.csv', '[a,b\n1,2\n', 'csv'],
] as const)(
  'importedFile reads %s that begins with %j as %s, complete, in parts of any size',
  async (path, text, format) => {
    for (const bytes of [1, 5, 1000]) {
      const file = await importedFile(path, inPieces(text, bytes));
      expect([file.format, file.fields]).toEqual([format, undefined]);
      const read: Uint8Array[] = [];
      for await (const piece of file.pieces) read.push(piece);
      expect(Buffer.concat(read).toString()).toBe(text);
    }
  },
);
