import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countedSlices } from '../../../test/support/feeds/counted-slices.js';
import { JsonTooMuchError, PARTS_MAX, parseJsonInSlices } from './json-in-slices.js';

const parsed = (text: string, pieceCharacters: number) =>
  parseJsonInSlices(text, countedSlices(), { pieceCharacters }).catch((error: unknown) => {
    if (error instanceof SyntaxError) return SyntaxError;
    throw error;
  });

function asUsual(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return SyntaxError;
  }
}

const pieceCharacters = fc.integer({ min: 0, max: 12 });

describe('parseJsonInSlices', () => {
  it('returns the same as JSON.parse, wherever the text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 6 }),
        fc.integer({ min: 0, max: 3 }),
        pieceCharacters,
        async (json, indent, piece) => {
          const text = JSON.stringify(JSON.parse(json), undefined, indent);
          expect(await parsed(text, piece)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('refuses what JSON.parse refuses', async () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"\\""',
      '"',
      '\\',
      '1',
      'null',
      ' ',
      '\u0001',
      '"__proto__":2',
      '"b":[1,2,3]',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), pieceCharacters, async (pieces, size) => {
        const text = pieces.join('');
        expect(await parsed(text, size)).toEqual(asUsual(text));
      }),
      { numRuns: 20_000 },
    );
  });

  it('keeps members of any name', async () => {
    const made = await parseJsonInSlices('{"a":1,"__proto__":{"b":[1,2]},"c":3}', countedSlices(), {
      pieceCharacters: 1,
    });
    expect(Object.keys(made as object)).toEqual(['a', '__proto__', 'c']);
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype);
  });

  it('lets other work run between two parts, and ends when it is aborted', async () => {
    const members = Array.from({ length: 200_000 }, (_, number) => `"member${number}":${number}`);
    const slices = countedSlices();
    await parseJsonInSlices(`{${members.join()}}`, slices);
    expect(slices.pauses).toBeGreaterThan(20);
    const reason = new Error('no more');
    await expect(parseJsonInSlices(`{${members.join()}}`, countedSlices(AbortSignal.abort(reason)))).rejects.toBe(
      reason,
    );
  });

  it('refuses JSON that is too deep or has too many parts', async () => {
    const deep = (levels: number) => parseJsonInSlices('['.repeat(levels) + ']'.repeat(levels), countedSlices());
    await expect(deep(100)).resolves.toBeInstanceOf(Array);
    await expect(deep(101)).rejects.toThrow(JsonTooMuchError);
    const tally = { parts: PARTS_MAX - 1, values: 0 };
    await expect(parseJsonInSlices('[]', countedSlices(), { tally })).resolves.toEqual([]);
    await expect(parseJsonInSlices('[]', countedSlices(), { tally })).rejects.toThrow('members, objects and arrays');
  });
});
