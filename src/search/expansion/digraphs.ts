/**
 * Letters that are written as two where a keyboard has them not: Müller and Mueller, Århus and Aarhus. A folded term has neither ring nor
 * points, so the two are not the same term. Only what the list has is looked for.
 */
import type { Dictionary } from './dictionary.js';
import { SPELLING_WEIGHT } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import type { Span } from './spans.js';

interface Digraphs {
  /** Of a word in small letters, composed. */
  readonly letters: RegExp;
  readonly written: ReadonlyMap<string, string>;
  /** In a folded term. */
  readonly pairs: RegExp;
}

const GERMAN: Digraphs = {
  letters: /[äöü]/gu,
  written: new Map([
    ['ä', 'ae'],
    ['ö', 'oe'],
    ['ü', 'ue'],
  ]),
  // Behind a vowel or q they are two sounds: Feuer, Quelle.
  pairs: /(?<![aeouq])([aou])e/gu,
};
const NORDIC: Digraphs = {
  letters: /[åäöæø]/gu,
  written: new Map([
    ['å', 'aa'],
    ['ä', 'ae'],
    ['æ', 'ae'],
    ['ö', 'oe'],
    ['ø', 'oe'],
  ]),
  pairs: /(?<![aeo])(?:a(?=a)|([ao])e)/gu,
};
const BY_LANGUAGE = new Map<string, Digraphs>([
  ['de', GERMAN],
  ...['da', 'no', 'nb', 'nn', 'sv'].map((language) => [language, NORDIC] as const),
]);

/** Words of one query that are looked up so. */
const WORDS_MAX = 64;
const MARKS = /\p{M}/gu;

export function digraphSpans(words: readonly QueryWord[], language: string, dictionary: Dictionary): readonly Span[] {
  const digraphs = BY_LANGUAGE.get(language);
  if (digraphs === undefined) return [];
  const candidates = words.flatMap((word, begin) =>
    spellingsOf(word, digraphs).map((term) => ({ begin, end: begin + 1, term })),
  );
  const looked = candidates.slice(0, WORDS_MAX);
  if (looked.length === 0) return [];
  const counts = dictionary.documentFrequencies(looked.map(({ term }) => term));
  return looked.flatMap(({ begin, end, term }, index) =>
    (counts[index] ?? 0) === 0
      ? []
      : [{ begin, end, variants: [{ kind: 'spelling', weight: SPELLING_WEIGHT, terms: [term] }] }],
  );
}

function spellingsOf({ term, typed }: QueryWord, { letters, written, pairs }: Digraphs): string[] {
  const apart = (typed ?? term)
    .normalize('NFC')
    .toLowerCase()
    .replace(letters, (letter) => written.get(letter) as string)
    .replaceAll('ß', 'ss')
    .normalize('NFD')
    .replace(MARKS, '');
  // Where the letter has been typed, it is no pair of letters.
  const together = typed === undefined ? term.replace(pairs, (_, letter?: string) => letter ?? '') : term;
  return [...new Set([apart, together])].filter((spelling) => spelling !== term);
}
