/**
 * Letters that are written as two when a keyboard lacks them: Müller and Mueller, Århus and Aarhus. Folding removes
 * ring and dots, so the two spellings are different terms.
 */
import type { QueryWord } from './query-words.js';

interface Digraphs {
  /** Matches such letters in a lower-case word in NFC. */
  readonly letters: RegExp;
  readonly written: ReadonlyMap<string, string>;
  /** Matches pairs of letters in a folded term. */
  readonly pairs: RegExp;
}

const GERMAN: Digraphs = {
  letters: /[äöü]/gu,
  written: new Map([
    ['ä', 'ae'],
    ['ö', 'oe'],
    ['ü', 'ue'],
  ]),
  // After a vowel or q, the two letters are two sounds: Feuer, Quelle.
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

/** Returns the folded word in the other spelling. Empty for languages without such letters. */
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
  // A word typed with the letter itself has no pair to join.
  const together = typed === undefined ? term.replace(pairs, (_, letter?: string) => letter ?? '') : term;
  return [...new Set([apart, together])].filter((spelling) => spelling !== term);
}
