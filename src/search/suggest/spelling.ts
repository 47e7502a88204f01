/** Spelling of suggested words. Pure functions. */

const DOTTED_CAPITAL_I = '\u0130';
const DOTLESS_LANGUAGES: ReadonlySet<string> = new Set(['tr', 'az']);
const CAPITALS = /\p{Lu}.*\p{Lu}/su;
/** What cannot be seen, and is no part of a word's spelling: soft hyphens, marks of direction, joints of words. */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/gu;
/** Ligatures of typesetters, and letters of full width. */
const TYPESET = /[\ufb00-\ufb06\uff01-\uff5e]/gu;
const APOSTROPHE = /[\u2018\u2019\u201b]/gu;
/** Quotes or emphasis beside a word, which are no part of it. */
const AROUND = /^['_]+|['_]+$/gu;

/** Returns true for languages where I is the capital of an i without a dot. */
export function hasDotlessI(language: string): boolean {
  return DOTLESS_LANGUAGES.has(language);
}

/** Returns true for a word of two or more letters in capitals. */
export function isInCapitals(word: string): boolean {
  return CAPITALS.test(word) && word.toUpperCase() === word;
}

/** Returns the text in the small letters of the language. */
export function inLowerCase(text: string, language: string): string {
  if (hasDotlessI(language)) return text.toLocaleLowerCase('tr');
  // Otherwise it would become an i with two dots, one above the other.
  return text.replaceAll(DOTTED_CAPITAL_I, 'i').toLowerCase();
}

/** Returns a word of a record as it is written in searches: in small letters, composed (NFC), with plain apostrophes. */
export function ofSearches(word: string, language: string): string {
  const plain = word
    .replace(INVISIBLE, '')
    .replace(TYPESET, (letter) => letter.normalize('NFKC'))
    .replace(APOSTROPHE, "'")
    .replace(AROUND, '')
    .normalize('NFC');
  return inLowerCase(plain, language).normalize('NFC');
}
