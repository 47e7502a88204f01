import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { foldedQuery } from '../suggest/query-words.js';
import { EarlierSearches, type EarlierQuery } from './earlier-searches.js';
import { prefixDistance } from './prefix-distance.js';

const query = (text: string, searches: number, clicks = 0) => ({ text, searches, clicks });
const fold = (text: string) => foldedQuery(kernel, text);
const learnedOf = (...queries: readonly EarlierQuery[]) => new EarlierSearches({ queries, clicks: [], fold });
const texts = (queries: readonly { text: string }[]) => queries.map(({ text }) => text);

describe('EarlierSearches', () => {
  const earlier = learnedOf(
    query('red sea', 5, 1),
    query('red', 9),
    query('réd kite', 7, 2),
    query('blue', 20),
    query('reef', 1),
  );
  const options = { max: 10, requireClick: false };

  it('completes by popularity, ignoring case and diacritics', () => {
    expect(texts(earlier.completions('re', options))).toEqual(['red', 'réd kite', 'red sea', 'reef']);
    expect(texts(earlier.completions('RÉD ', options))).toEqual(['réd kite', 'red sea']);
    expect(texts(earlier.completions('re', { ...options, max: 2 }))).toEqual(['red', 'réd kite']);
    expect(texts(earlier.completions('x', options))).toEqual([]);
  });

  it.each([
    ['lodz', 'łódź'],
    ['smorre', 'smørrebrød'],
    ['strass', 'Straße'],
    ["l'ete", 'l’été'],
    ['οδος', 'οδόσ'],
    // A syllable that is not yet complete.
    ['하', '한국'],
  ])('completes %s to %s, as searches fold them', (typed, text) => {
    expect(texts(learnedOf(query(text, 1)).completions(typed, options))).toEqual([text]);
  });

  it('completes no search with other vowels, where these are marks', () => {
    expect(texts(learnedOf(query('हिन्दी', 1), query('हनद', 1)).completions('हिन', options))).toEqual(['हिन्दी']);
  });

  it('folds the searches of a list again only if they are new', () => {
    const folded: string[] = [];
    const counted = (text: string) => (folded.push(text), fold(text));
    const before = new EarlierSearches({ queries: [query('réd', 1)], clicks: [], fold: counted });
    const queries = [query('réd', 2), query('rëef', 1)];
    const after = new EarlierSearches({ queries, clicks: [], fold: counted, before });
    expect(folded).toEqual(['réd', 'rëef']);
    expect(after.completions('re', options).map(({ searches }) => searches)).toEqual([2, 1]);
  });

  it('completes only searches with clicks if clicks are required, the most clicked first', () => {
    expect(texts(earlier.completions('re', { ...options, requireClick: true }))).toEqual(['réd kite', 'red sea']);
    expect(texts(earlier.nearCompletions('rde', 1, { ...options, requireClick: true }))).toEqual([
      'réd kite',
      'red sea',
    ]);
  });

  it('tolerates typos, with the nearest completions first', () => {
    expect(texts(earlier.nearCompletions('rde', 1, options))).toEqual(['red', 'réd kite', 'red sea', 'reef']);
    expect(texts(earlier.nearCompletions('bleu', 1, options))).toEqual(['blue']);
    expect(texts(earlier.nearCompletions('green', 1, options))).toEqual([]);
  });

  it('completes the same texts as a linear scan over all searches', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 });
    fc.assert(
      fc.property(fc.uniqueArray(word), word, (all, typed) => {
        const found = learnedOf(...all.map((text) => query(text, 1))).completions(typed, { ...options, max: 1000 });
        expect(texts(found).sort()).toEqual(all.filter((text) => text.startsWith(typed)).sort());
      }),
    );
  });

  it('finds records that were clicked for the same searches, ignoring pairs with a single click', () => {
    const clicks = [
      { query: 'red', record: 'a', clicks: 5 },
      { query: 'red', record: 'b', clicks: 4 },
      { query: 'red', record: 'c', clicks: 1 },
      { query: 'sea', record: 'a', clicks: 2 },
      { query: 'sea', record: 'd', clicks: 2 },
      { query: 'sky', record: 'e', clicks: 9 },
    ];
    const learned = new EarlierSearches({ queries: [], clicks, fold });
    expect(learned.clickedTogether('a', 10)).toEqual(['b', 'd']);
    expect(learned.clickedTogether('a', 1)).toEqual(['b']);
    expect(learned.clickedTogether('e', 10)).toEqual([]);
    expect(learned.clickedTogether('unknown', 10)).toEqual([]);
  });
});

describe('prefixDistance', () => {
  /** Returns the optimal string alignment distance, straight from its definition. */
  function distance(a: string, b: string): number {
    const rows = Array.from({ length: a.length + 1 }, (_, i) =>
      Array.from({ length: b.length + 1 }, (_, j) => (i === 0 ? j : i)),
    );
    for (let i = 1; i <= a.length; ++i) {
      for (let j = 1; j <= b.length; ++j) {
        const change = (rows[i - 1]?.[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
        let least = Math.min((rows[i - 1]?.[j] ?? 0) + 1, (rows[i]?.[j - 1] ?? 0) + 1, change);
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
          least = Math.min(least, (rows[i - 2]?.[j - 2] ?? 0) + 1);
        (rows[i] as number[])[j] = least;
      }
    }
    return rows[a.length]?.[b.length] ?? 0;
  }

  it('returns the least distance to any prefix of the text', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 9 });
    fc.assert(
      fc.property(word, word, fc.nat(2), (typed, text, max) => {
        const beginnings = Array.from({ length: text.length + 1 }, (_, length) => text.slice(0, length));
        const least = Math.min(...beginnings.map((beginning) => distance(typed, beginning)));
        expect(prefixDistance(typed, text, max)).toBe(Math.min(least, max + 1));
      }),
      { numRuns: 2000 },
    );
  });
});
