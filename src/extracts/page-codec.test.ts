/** Encoded pages: each is decoded by itself, and damaged bytes are an error. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodePage, decodePages, documentPagesOf, encodePages, pageCountOf } from './page-codec.js';

const pagesOf = (texts: readonly string[]) => texts.map((text, position) => ({ page: position + 1, text }));

it('encodePages keeps every page, readable by itself and with the others', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme', maxLength: 200 }), { maxLength: 30 }),
      fc.nat(40),
      fc.option(fc.nat(1000), { nil: undefined }),
      (texts, some, documentPages) => {
        const pages = pagesOf(texts);
        const bytes = encodePages(pages, documentPages);
        expect(documentPagesOf(bytes)).toBe(documentPages);
        expect(pageCountOf(bytes)).toBe(texts.length);
        expect(decodePages(bytes)).toEqual(pages);
        expect(decodePages(bytes, { max: some })).toEqual(pages.slice(0, some));
        expect(decodePages(bytes, { first: some + 1 })).toEqual(pages.slice(some));
        expect(decodePages(bytes, { first: 2, max: some })).toEqual(pages.slice(1, 1 + some));
        expect(decodePage(bytes, some)).toBe(texts[some - 1] ?? '');
      },
    ),
  );
});

it('decodePages reads damaged bytes as an error or as pages', () => {
  const written = pagesOf(['Gannets dive', '', 'They nest on cliffs'.repeat(100)]);
  const all = [encodePages(written), encodePages(written, 9)] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...all),
      fc.array(fc.tuple(fc.nat(all[1].length - 1), fc.nat(255)), { maxLength: 5 }),
      fc.nat(all[1].length),
      (good, changes, end) => {
        const bytes = Buffer.from(good.subarray(0, end));
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
        try {
          expect(['number', 'undefined']).toContain(typeof documentPagesOf(bytes));
          for (const { text } of decodePages(bytes, { max: 50 })) expect(typeof text).toBe('string');
        } catch (error) {
          expect((error as Error).message).toBe('the text of a file is not as it was written');
        }
      },
    ),
    { numRuns: 2000 },
  );
});

it('encodePages refuses pages that are not in order', () => {
  expect(() => encodePages([{ page: 2, text: '' }])).toThrow('page 2 is in the place of page 1');
});
