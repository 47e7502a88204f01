/**
 * What signs tell beside and between words: `C#`, `C++`, `.NET`, `#tag` and `@name` are indexed besides the words alone
 * (kernel/analysis/signed_words.h), and in `A/B` and `R&D` two words are neighbours. They count in addition to the
 * words: `C#` finds what `C` finds, and ranks records with `C#` first.
 */
import type { QueryGroup } from '../plan/plan-nodes.js';
import type { Dictionary } from './dictionary.js';
import { ABBREVIATION_LETTERS_MAX } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';

const NONE: readonly never[] = Object.freeze([]);
const DIGIT = /\p{N}/u;
const SIGNED = /^[#@.].|.[#+]$/u;

/** True for a term with signs: it is another word than the one that it begins or ends with, not a form of it. */
export function isSigned(term: string): boolean {
  return SIGNED.test(term);
}

/**
 * Returns a group for each different word with signs, and for each abbreviation or number of several words that marks
 * join, if the list has their terms; at most `groupsMax`.
 */
export function signedGroups(
  words: readonly QueryWord[],
  dictionary: Dictionary,
  groupsMax: number,
): readonly QueryGroup[] {
  // Most queries have none.
  if (!words.some(({ signed, joint }) => signed !== undefined || joint === 'tight')) return NONE;
  const signed = words.flatMap((word) => (word.signed === undefined ? [] : [[word.signed]]));
  const different = new Map([...signed, ...joinedRuns(words)].map((terms) => [terms.join(' '), terms]));
  return [...different.values()]
    .filter((terms) => hasAll(terms, dictionary))
    .slice(0, groupsMax)
    .map(signedGroup);
}

/**
 * Returns abbreviations such as `A/B`, `R&D` and `AT&T`, and numbers such as `AB-123/4`, as the words between their
 * marks. Their other spellings (`rd`) count like all of these words, so that they would rank before them in a shorter
 * text; and `a` alone is a function word.
 */
function joinedRuns(words: readonly QueryWord[]): readonly (readonly string[])[] {
  const runs: string[][] = [];
  for (let begin = 0; begin < words.length; begin += 1) {
    let last = begin;
    while (words[last]?.joint === 'tight' && last + 1 < words.length) last += 1;
    const terms = words.slice(begin, last + 1).map(({ term }) => term);
    const letters = terms.join('');
    if (terms.length > 1 && (letters.length <= ABBREVIATION_LETTERS_MAX || DIGIT.test(letters))) runs.push(terms);
    begin = last;
  }
  return runs;
}

/** Returns a group for the phrase with its signs. None if no word has any, or the list lacks one of these. */
export function signedPhraseGroups(words: readonly QueryWord[], dictionary: Dictionary): readonly QueryGroup[] {
  const signed = words.flatMap(({ signed: term = '' }) => (term === '' ? [] : [term]));
  if (signed.length === 0 || !hasAll(signed, dictionary)) return NONE;
  return [signedGroup(words.map(({ term, signed: withSigns = term }) => withSigns))];
}

function hasAll(terms: readonly string[], dictionary: Dictionary): boolean {
  return Array.from(dictionary.documentFrequencies(terms)).every((count) => count > 0);
}

function signedGroup(terms: readonly string[]): QueryGroup {
  const alternative = Object.freeze({ kind: 'typed', weight: 1, terms: Object.freeze(terms) } as const);
  return Object.freeze({ occur: 'should', boost: 1, alternatives: Object.freeze([alternative]) });
}
