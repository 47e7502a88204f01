/**
 * Finds abbreviations and their long forms in running text, by the algorithm of A. S. Schwartz and M. A. Hearst, "A
 * Simple Algorithm for Identifying Abbreviation Definitions in Biomedical Text" (Pacific Symposium on Biocomputing,
 * 2003). Candidates are parentheses, `long form (ABC)` or `ABC (long form)`. The long form is the shortest one that
 * contains the abbreviation's characters from right to left, with the first one at the beginning of a word. Pure
 * functions.
 */

export interface Definition {
  readonly abbreviation: string;
  readonly longForm: string;
}

const ABBREVIATION_CHARACTERS_MIN = 2;
const ABBREVIATION_CHARACTERS_MAX = 10;
const ABBREVIATION_WORDS_MAX = 2;
/** Longer parentheses, and those never closed, are ignored. */
const PARENTHESIS_CHARACTERS_MAX = 200;
/**
 * Words examined before a parenthesis: the abbreviation's characters plus this many, or twice its characters if that is
 * less.
 */
const EXTRA_WORDS_MAX = 5;
/** Definitions taken from one text. A text with more is a glossary, of which these are a sample. */
const DEFINITIONS_MAX = 200;

const PARENTHESIS = new RegExp(`[(\\[]([^()\\[\\]]{1,${PARENTHESIS_CHARACTERS_MAX}})[)\\]]`, 'gu');
const SENTENCE_END = /[.!?;:]\s/u;
const LETTER = /\p{L}/u;
const UPPER = /\p{Lu}/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Returns definitions in the order of the text, with repetitions. */
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

/**
 * True for 2 to 10 characters of at most two words that begin with a letter or digit and contain a capital: "ABC",
 * "mRNA", "H5N1".
 */
function isAbbreviation(text: string): boolean {
  const { length } = text;
  if (length < ABBREVIATION_CHARACTERS_MIN || length > ABBREVIATION_CHARACTERS_MAX) return false;
  if (text.split(/\s+/u).length > ABBREVIATION_WORDS_MAX) return false;
  return LETTER_OR_DIGIT.test(text[0] ?? '') && LETTER.test(text) && UPPER.test(text);
}

/** Returns the last words of the sentence before the parenthesis, as many as the long form may have. */
function wordsBefore(text: string, abbreviation: string): string {
  const wordsMax = Math.min(abbreviation.length + EXTRA_WORDS_MAX, abbreviation.length * 2);
  let near = text.slice(-PARENTHESIS_CHARACTERS_MAX);
  for (let end = SENTENCE_END.exec(near); end !== null; end = SENTENCE_END.exec(near)) {
    near = near.slice(end.index + end[0].length);
  }
  return near.trim().split(/\s+/u).slice(-wordsMax).join(' ');
}

/** Returns the long form. Undefined if the characters are not found, or the form is just the abbreviation itself. */
function longFormOf(abbreviation: string, text: string): string | undefined {
  const lowerCase = text.toLowerCase();
  // A few characters change their length in lower case, so that offsets would differ.
  if (lowerCase.length !== text.length) return undefined;
  const begin = matchFromRight(abbreviation.toLowerCase(), lowerCase);
  if (begin === undefined) return undefined;
  const longForm = text.slice(begin).replace(/^["'(]+|["')]+$/gu, '');
  const words = longForm.split(/[\s-]+/u);
  const isItself = words.some((word) => word.toLowerCase() === abbreviation.toLowerCase());
  return longForm.length <= abbreviation.length || isItself || !isPlausible(abbreviation, words) ? undefined : longForm;
}

/** True for at most as many words as Schwartz and Hearst allow. */
function isPlausible(abbreviation: string, words: readonly string[]): boolean {
  const { length } = [...abbreviation].filter((character) => LETTER_OR_DIGIT.test(character)).join('');
  return words.length <= Math.min(length + EXTRA_WORDS_MAX, length * 2);
}

/** Returns where the shortest long form begins. Both texts are in lower case, of the same length as the originals. */
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
