import { expect, it } from 'vitest';
import { cutSpans } from './cuts.js';
import type { Dictionary } from './dictionary.js';
import { CUT_PLACES_MAX, CUTS_LOOKED_UP_MAX, CUTS_PER_SPAN_MAX } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';

/** Parses a query: | separates words of a run, a space separates runs. */
function wordsOf(query: string): QueryWord[] {
  return query.split(' ').flatMap((run) => {
    const terms = run.split('|');
    return terms.map((term, index) => {
      return { term, isCut: !/[a-z]/.test(term), joint: index === terms.length - 1 ? 'blank' : 'cut' } as const;
    });
  });
}

function dictionaryOf(terms: readonly string[], asked: string[] = []): Dictionary {
  return {
    forms: () => [],
    completions: () => [],
    splits: () => new Uint32Array(),
    areNeighbours: () => false,
    kept: (_kind, _word, work) => work(),
    keptPair: (_first, _second, work) => work(),
    documentFrequencies: (wanted) => {
      asked.push(...wanted);
      return wanted.map((term) => terms.filter((one) => one === term).length);
    },
  };
}

/** Returns the spans as `begin-end: words, words`. */
function shapes(query: string, terms: readonly string[]): string[] {
  return cutSpans(wordsOf(query), dictionaryOf(terms)).map(
    ({ begin, end, variants }) => `${begin}-${end}: ${variants.map((variant) => variant.terms.join('|')).join(', ')}`,
  );
}

it('cutSpans finds the words of the list that have the same characters', () => {
  expect(shapes('外国|人参|政権', ['外国人', '参政権', '外国', '人参'])).toEqual(['0-3: 外国人|参政権']);
  expect(shapes('東京|タワー', ['東京タワー', '東京'])).toEqual(['0-2: 東京タワー']);
  expect(shapes('対する', ['対', 'する'])).toEqual(['0-1: 対|する']);
});

it('cutSpans cuts each part between two common boundaries by itself', () => {
  expect(shapes('対する|東京|タワー', ['対', 'する', '東京タワー'])).toEqual(['0-1: 対|する', '1-3: 東京タワー']);
});

it('cutSpans leaves words of other scripts, and what a space separates, alone', () => {
  expect(shapes('東京 タワー', ['東京タワー'])).toEqual([]);
  expect(shapes('wi fi', ['wifi', 'w', 'i'])).toEqual([]);
  expect(shapes('a|東京|タワー', ['東京タワー', 'a東京'])).toEqual(['1-3: 東京タワー']);
});

it('cutSpans finds the same words in other letters', () => {
  expect(shapes('り|ん|ご', ['リンゴ'])).toEqual(['0-3: リンゴ']);
  expect(shapes('リンゴ', ['り', 'ん', 'ご'])).toEqual(['0-1: り|ん|ご']);
  expect(shapes('人々', ['人人', '人々'])).toEqual(['0-1: 人人']);
  expect(shapes('人人', ['人々'])).toEqual(['0-1: 人々']);
  expect(shapes('渡邊|駅', ['渡辺', '駅', '驛'])).toEqual(['0-1: 渡辺', '1-2: 驛']);
  expect(shapes('高橋', ['髙橋'])).toEqual(['0-1: 髙橋']);
  // A single letter in other letters is another word.
  expect(shapes('に', ['ニ'])).toEqual([]);
});

it('cutSpans prefers few words, then frequent ones, up to a number of variants', () => {
  const letters = ['一', '二', '三', '四'];
  expect(shapes('一二三四', [...letters, '一二', '三四'])).toEqual([
    '0-1: 一二|三四, 一|二|三四, 一二|三|四, 一|二|三|四',
  ]);
  expect(shapes('一二三', ['一', '二三', '一二', '一二', '三', '三'])).toEqual(['0-1: 一二|三, 一|二三']);
  const many = Array.from('一二三四五六七八');
  const [span] = cutSpans(wordsOf(many.join('')), dictionaryOf([...many, '一二', '三四', '五六']));
  expect(span?.variants).toHaveLength(CUTS_PER_SPAN_MAX);
});

it('cutSpans cuts words at the end of a long sentence too, and in other letters', () => {
  const sentence = `${Array.from({ length: 70 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('|')}|対する|り|ん|ご`;
  expect(shapes(sentence, ['対', 'する', 'リンゴ'])).toEqual(['70-71: 対|する', '71-74: リンゴ']);
});

it('cutSpans looks up each part of a long run once', () => {
  let asked = 0;
  const dictionary = {
    forms: () => [],
    completions: () => [],
    splits: () => new Uint32Array(),
    areNeighbours: () => false,
    kept: <Value extends object>(_kind: string, _word: string, work: () => Value) => work(),
    keptPair: <Value extends object>(_first: string, _second: string, work: () => Value) => work(),
    documentFrequencies: (terms: readonly string[]) => terms.map((term) => (asked += term.length)),
  };
  const spans = cutSpans(wordsOf(Array.from({ length: 9999 }, () => 'の').join('|')), dictionary);
  expect(asked).toBe(16 * 17);
  expect(spans.length).toBeLessThan(CUT_PLACES_MAX * 8);
});

it('cutSpans looks up a bounded number of parts of a long query', () => {
  const asked: string[] = [];
  const long = Array.from({ length: 5000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
  cutSpans(wordsOf(long), dictionaryOf([], asked));
  expect(asked).toHaveLength(CUTS_LOOKED_UP_MAX);
});
