import fc from 'fast-check';
import { expect, it } from 'vitest';
import { numberWritings } from './number-writings.js';

/** Returns words that are separated by spaces. */
const words = (text: string) => text.split(' ').map((term) => ({ term, joint: 'blank', isCut: false }) as const);
const written = (text: string, language: string) =>
  numberWritings(words(text), language).map(({ begin, end, terms }) => `${begin}-${end} ${terms.join(' ')}`);

it("numberWritings writes thousands with the separators of the list's language, and without", () => {
  expect(written('1000', 'en')).toEqual(['0-1 1,000']);
  expect(written('1,000,000', 'en')).toEqual(['0-1 1000000']);
  expect(written('1000', 'de')).toEqual(['0-1 1.000']);
  expect(written('1.000', 'de')).toContain('0-1 1000');
  // The Spanish locale groups from 10,000 on, but writers also do so below.
  expect(written('1000', 'es')).toEqual(['0-1 1.000']);
  expect(written('1000000', 'hi')).toEqual(['0-1 10,00,000']);
  expect(written('1000000', 'fr')).toEqual(['0-1 1 000 000']);
  expect(written('x 1 000 000 euros', 'fr')).toEqual(['1-4 1000000']);
  expect(written('1000', 'none')).toEqual(['0-1 1,000']);
});

it('numberWritings leaves alone what is no number of thousands', () => {
  for (const text of ['999', '0123', '1234567890123456789', '1,00', '10,00,000', '1,0000', 'a1000', '1 000', 'one'])
    expect(written(text, 'en'), text).toEqual([]);
  // In German that is the number one, with decimals.
  expect(written('1,000', 'de')).toEqual([]);
  expect(written('1 000 5', 'fr')).toEqual(['0-2 1000']);
  expect(written('0 000', 'fr')).toEqual([]);
});

it('numberWritings writes versions with and without the letter v', () => {
  expect(written('1.2.3', 'en')).toEqual(['0-1 v1.2.3']);
  expect(written('v1.2', 'en')).toEqual(['0-1 1.2']);
  expect(written('v1', 'en')).toEqual([]);
});

it('numberWritings leads from each spelling back to the digits, in every language', () => {
  const number = fc.bigInt({ min: 1000n, max: 10n ** 18n - 1n }).map(String);
  const language = fc.constantFrom(
    'en',
    'de',
    'fr',
    'es',
    'pl',
    'pt',
    'hi',
    'ar',
    'fa',
    'he',
    'ja',
    'th',
    'sw',
    'none',
  );
  fc.assert(
    fc.property(number, language, (digits, inLanguage) => {
      const [terms] = numberWritings(words(digits), inLanguage).map((way) => way.terms.join(' '));
      expect(terms).toBeDefined();
      expect(written(terms ?? '', inLanguage).map((way) => way.split(' ')[1])).toContain(digits);
    }),
  );
});
