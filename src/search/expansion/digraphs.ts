/**
 * Letters that are written as two where a keyboard has them not: Müller and Mueller, Århus and Aarhus. A folded term has neither ring nor
 * points, so the two are not the same term.
 */
import type { QueryWord } from './query-words.js';

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

const MARKS = /\p{M}/gu;

/** The word, folded, as it is written in the other way; in languages without such letters, nothing. */
export function digraphSpellings(word: QueryWord, language: string): readonly string[] {
  const digraphs = BY_LANGUAGE.get(language);
  return digraphs === undefined ? [] : spellingsOf(word, digraphs);
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
