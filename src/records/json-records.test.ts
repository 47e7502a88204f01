import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arrayOfObjects, memberPath, memberName, recordLines } from './json-records.js';

/** Yields the text in parts of this number of bytes. */
async function* pieces(text: string, bytes: number): AsyncGenerator<Uint8Array> {
  const all = Buffer.from(text);
  for (let at = 0; at < all.length; at += bytes) yield await Promise.resolve(all.subarray(at, at + bytes));
}

async function linesOf(text: string, path: readonly string[], bytes = 7): Promise<string> {
  const lines: Uint8Array[] = [];
  for await (const part of recordLines(pieces(text, bytes), path, Buffer.from(text))) lines.push(part);
  return Buffer.concat(lines).toString();
}

describe('recordLines', () => {
  it('makes a line of each record in an array, whatever is around it', async () => {
    const text = `{
      "count": 2, "items": "no [", "data": {"a": [[{"items": [1]}]], "it\\u0065ms": [
        {"id": 1, "text": "a \\"]}\\\\", "tags": ["x",
          "y"]},
        {"id": 2}, 3 , []
      ]}, "next": [{}]
    }`;
    expect(await linesOf(text, ['data', 'items'])).toBe(
      '{"id": 1, "text": "a \\"]}\\\\", "tags": ["x",           "y"]}\n{"id": 2}\n3\n[]\n',
    );
    expect(await linesOf('[{"a":1}\n,{"a":2}]', [])).toBe('{"a":1}\n{"a":2}\n');
    expect(await linesOf('{"items": [ ]}', ['items'])).toBe('\n');
  });

  it('yields the records that JSON.parse finds there, in parts of any size (property)', async () => {
    const document = fc.tuple(fc.array(fc.jsonValue()), fc.jsonValue(), fc.string()).map(([records, other, name]) => ({
      records,
      text: { other, [`x${name}`]: [other], within: { other, [`n${name}`]: records }, behind: [other] },
      path: ['within', `n${name}`],
    }));
    await fc.assert(
      fc.asyncProperty(
        document,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 2),
        async (made, bytes, blanks) => {
          const lines = await linesOf(JSON.stringify(made.text, null, blanks), made.path, bytes);
          const read = lines.split('\n').filter((line) => line !== '');
          expect(read.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(made.records)));
          expect(memberPath(memberName(made.path))).toEqual(made.path);
        },
      ),
    );
  });

  it('fails if the array is missing or incomplete', async () => {
    await expect(linesOf('{"items": {"a": []}}', ['items'])).rejects.toThrow(/^has no array at items\.$/);
    await expect(linesOf('{"a": [1]}', [])).rejects.toThrow(/^is not a JSON array\.$/);
    await expect(linesOf('{"a": {"b.c": [{}]}}', ['items'])).rejects.toThrow('no array at items: one is at /a/b.c.');
    await expect(linesOf('', ['items'])).rejects.toThrow('no array at items');
    await expect(linesOf('{"items": [{"a": 1}, {"b', ['items'])).rejects.toThrow(
      'ends before its array of records is complete',
    );
  });
});

it('arrayOfObjects finds the place of the first array of objects', () => {
  const found = (text: string) => arrayOfObjects(Buffer.from(text));
  expect(found('{"n": [1, 2], "t": "[{", "data": {"rows": [ {"a": [{}]}')).toEqual(['data', 'rows']);
  expect(found('[{"a": 1}]')).toEqual([]);
  expect(found('{"a": [[{}]]}')).toBeUndefined();
  expect(found('{"a": {}, "b": [')).toBeUndefined();
});

it('memberPath reads a path with points or a JSON pointer', () => {
  expect(memberPath('data.items')).toEqual(['data', 'items']);
  expect(memberPath('/a.b/c~1d~0')).toEqual(['a.b', 'c/d~']);
});
