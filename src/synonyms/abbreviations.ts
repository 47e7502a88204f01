/**
 * Abbreviations and their long forms in running text, by the algorithm of A. S. Schwartz and M. A. Hearst, "A Simple
 * Algorithm for Identifying Abbreviation Definitions in Biomedical Text" (Pacific Symposium on Biocomputing, 2003):
 * candidates are parentheses, `long form (ABC)` or `ABC (long form)`, and the long form is the shortest one whose
 * characters hold those of the abbreviation from right to left, the first at the beginning of a word.
 * Pure functions.
 */

export interface Definition {
  readonly abbreviation: string;
  readonly longForm: string;
}

const ABBREVIATION_CHARACTERS_MIN = 2;
const ABBREVIATION_CHARACTERS_MAX = 10;
const ABBREVIATION_WORDS_MAX = 2;
/** A parenthesis that is never closed, or far away, is none. */
const PARENTHESIS_CHARACTERS_MAX = 200;
/** Words before a parenthesis that are looked at: the abbreviation's characters and five more, or twice as many. */
const EXTRA_WORDS_MAX = 5;
/** Definitions of one text; more are a glossary, of which these are a sample. */
const DEFINITIONS_MAX = 200;

const PARENTHESIS = new RegExp(`[(\\[]([^()\\[\\]]{1,${PARENTHESIS_CHARACTERS_MAX}})[)\\]]`, 'gu');
const SENTENCE_END = /[.!?;:]\s/u;
const LETTER = /\p{L}/u;
const UPPER = /\p{Lu}/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** In the order of the text, with repetitions. */
export function findDefinitions(text: string): Definition[] {
  const definitions: Definition[] = [];
  for (const match of text.matchAll(PARENTHESIS)) {
    if (definitions.length >= DEFINITIONS_MAX) break;
    const definition = definitionAt(text.slice(0, match.index), match[1] ?? '');
    if (definition !== undefined) definitions.push(definition);
  }
  return definitions;
}

function definitionAt(before: string, parenthesis: string): Definition | undefined {
  // What follows a comma or semicolon is a remark: "(ABC; see below)".
  const inside = (parenthesis.split(/[,;]/u)[0] ?? '').trim();
  if (isAbbreviation(inside)) {
    const longForm = longFormOf(inside, wordsBefore(before, inside));
    if (longForm !== undefined) return { abbreviation: inside, longForm };
  }
  const word =
    /\S+$/u.exec(before.slice(-ABBREVIATION_CHARACTERS_MAX - 8).trimEnd())?.[0].replace(/^[("'[]+/u, '') ?? '';
  if (!isAbbreviation(word) || word.length >= parenthesis.length) return undefined;
  const longForm = longFormOf(word, parenthesis.trim());
  return longForm === undefined ? undefined : { abbreviation: word, longForm };
}

/** 2 to 10 characters of at most two words, begun by a letter or digit, with a capital: "ABC", "mRNA", "H5N1". */
function isAbbreviation(text: string): boolean {
  const { length } = text;
  if (length < ABBREVIATION_CHARACTERS_MIN || length > ABBREVIATION_CHARACTERS_MAX) return false;
  if (text.split(/\s+/u).length > ABBREVIATION_WORDS_MAX) return false;
  return LETTER_OR_DIGIT.test(text[0] ?? '') && LETTER.test(text) && UPPER.test(text);
}

/** The last words of the sentence that ends there, as many as the long form may have. */
function wordsBefore(text: string, abbreviation: string): string {
  const wordsMax = Math.min(abbreviation.length + EXTRA_WORDS_MAX, abbreviation.length * 2);
  let near = text.slice(-PARENTHESIS_CHARACTERS_MAX);
  for (let end = SENTENCE_END.exec(near); end !== null; end = SENTENCE_END.exec(near)) {
    near = near.slice(end.index + end[0].length);
  }
  return near.trim().split(/\s+/u).slice(-wordsMax).join(' ');
}

/** Undefined where the characters are not there, or the form is no more than the abbreviation itself. */
function longFormOf(abbreviation: string, text: string): string | undefined {
  const lowerCase = text.toLowerCase();
  // A few characters have another length in lower case: places in one text would not be those of the other.
  if (lowerCase.length !== text.length) return undefined;
  const begin = matchFromRight(abbreviation.toLowerCase(), lowerCase);
  if (begin === undefined) return undefined;
  const longForm = text.slice(begin).replace(/^["'(]+|["')]+$/gu, '');
  const words = longForm.split(/[\s-]+/u);
  const isItself = words.some((word) => word.toLowerCase() === abbreviation.toLowerCase());
  return longForm.length <= abbreviation.length || isItself || !isPlausible(abbreviation, words) ? undefined : longForm;
}

/** As many words as Schwartz and Hearst allow, and a single word only for an abbreviation of few characters. */
function isPlausible(abbreviation: string, words: readonly string[]): boolean {
  const { length } = [...abbreviation].filter((character) => LETTER_OR_DIGIT.test(character)).join('');
  return words.length <= Math.min(length + EXTRA_WORDS_MAX, length * 2);
}

/** Where the shortest long form begins. Both in lower case, of the same length as the original. */
function matchFromRight(abbreviation: string, text: string): number | undefined {
  let at = text.length;
  for (let index = abbreviation.length - 1; index >= 0; --index) {
    const character = abbreviation[index] ?? '';
    if (!LETTER_OR_DIGIT.test(character)) continue;
    at -= 1;
    while (at >= 0 && !(text[at] === character && (index > 0 || isWordBegin(text, at)))) at -= 1;
    if (at < 0) return undefined;
  }
  return text.lastIndexOf(' ', at) + 1;
}

function isWordBegin(text: string, at: number): boolean {
  return at === 0 || !LETTER_OR_DIGIT.test(text[at - 1] ?? '');
}
