/** Words as documented: how a text is split, which words are a typo apart, and when a query matches a text. */
import type { Scalar } from './reference-values.js';

export type Match = 'any' | 'all' | 'phrase';
export interface SynonymRule {
  readonly kind: 'equivalent' | 'rewrite';
  readonly terms: readonly string[];
  readonly replace_with?: readonly string[];
}

/**
 * Rule for queries that have the word `word`: restricts results to records where `field` has the value and, unless
 * `keep`, removes the word from the query.
 */
export interface QueryRule {
  readonly name: string;
  readonly word: string;
  readonly field: string;
  readonly value: Scalar;
  /**
   * If set, the word after `word` is captured, converted to the facet's type, and removed with it. The filter is this
   * value, or either it or `value`.
   */
  readonly captures?: 'alone' | 'or-value';
  readonly keep: boolean;
}

/**
 * Returns the folded words of a text, with ß as ss. Only exact for words separated by blanks and punctuation, which is
 * all that sequences search for.
 */
export function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().toUpperCase().toLowerCase();
  // Han characters are separate from adjacent words and numbers; an emoji is a word; underscores and inner apostrophes
  // join (UAX 29).
  const parted = folded.replaceAll(/\p{Script=Han}+/gu, ' $& ');
  return parted.match(/[\p{L}\p{N}]+(?:(?:_+|(?<=\p{L})'(?=\p{L}))[\p{L}\p{N}]+)*|\p{Extended_Pictographic}/gu) ?? [];
}

/**
 * Returns the parts of a word that underscores separate, which are words behind the fields, too: those of two characters
 * or more, and single digits.
 */
export function partsOf(word: string): string[] {
  return word.includes('_') ? word.split(/_+/).filter((part) => part.length > 1 || /^\p{N}$/u.test(part)) : [];
}

const ONE_EDIT_LETTERS = 4;
const TWO_EDITS_LETTERS = 8;

export function editsAllowed(word: string): number {
  if (/\p{N}/u.test(word) || word.length < ONE_EDIT_LETTERS) return 0;
  return word.length < TWO_EDITS_LETTERS ? 1 : 2;
}

/** Optimal string alignment distance: insertions, deletions, substitutions and transpositions of neighbours. */
export function editsBetween(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= left.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      let edits = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + same);
      const crossed = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && crossed) edits = Math.min(edits, at(row - 2, column - 2) + 1);
      rows[row]?.push(edits);
    }
  }
  return at(left.length, right.length);
}

export interface WordQuery {
  readonly words: readonly string[];
  readonly match: Match;
  readonly typos: boolean;
}

/** Query words from `begin` to before `end`, with the synonyms that may replace them. */
interface Span {
  readonly begin: number;
  readonly end: number;
  readonly others: readonly (readonly string[])[];
}

/** True if a query matches a record that has these words in its fields. */
export function findsWords(query: WordQuery, fields: readonly (readonly string[])[], rules: readonly SynonymRule[]) {
  const { words, match } = query;
  if (words.length === 0) return true;
  const spans = spansOf(words, rules);
  if (match === 'phrase')
    return fields.some((field) => field.some((_, start) => startsPhrase({ words, spans }, 0, field.slice(start))));
  const hasSpan = ({ others }: Span) => others.some((other) => fields.some((field) => hasInOrder(field, other)));
  const hasWord = (word: string) =>
    fields.some((field) => field.some((each) => equals(query, word, each))) ||
    spans.some((span) => words.slice(span.begin, span.end).includes(word) && hasSpan(span));
  return match === 'any' ? words.some(hasWord) : words.every(hasWord);
}

/** True if each word of a facet query begins a word of the value. */
export function matchesFacetQuery(query: readonly string[], value: string): boolean {
  const words = wordsOf(value);
  return query.every((typed) => wordsOf(typed).every((begin) => words.some((word) => word.startsWith(begin))));
}

/** True if a typed word matches, with typos if allowed. Synonyms match only exactly (see `hasInOrder`). */
function equals(query: WordQuery, wanted: string, word: string): boolean {
  return wanted === word || (query.typos && editsBetween(wanted, word) <= editsAllowed(wanted));
}

function hasInOrder(field: readonly string[], wanted: readonly string[]): boolean {
  return field.some((_, start) => wanted.every((word, at) => field[start + at] === word));
}

/** True if the text begins with the query words from `at` on, each as typed or replaced by a synonym. */
function startsPhrase(
  query: { readonly words: readonly string[]; readonly spans: readonly Span[] },
  at: number,
  text: readonly string[],
): boolean {
  if (at === query.words.length) return true;
  if (text[0] === query.words[at] && startsPhrase(query, at + 1, text.slice(1))) return true;
  const span = query.spans.find(({ begin }) => begin === at);
  return (
    span?.others.some(
      (other) =>
        other.every((word, index) => text[index] === word) && startsPhrase(query, span.end, text.slice(other.length)),
    ) ?? false
  );
}

/** Finds synonym terms from left to right, longest first: a phrase takes precedence over the words in it. */
function spansOf(words: readonly string[], rules: readonly SynonymRule[]): Span[] {
  const spans: Span[] = [];
  const terms = rules.flatMap((rule) => rule.terms.map((term) => ({ rule, parts: term.split(' ') })));
  for (let begin = 0; begin < words.length;) {
    const here = terms.filter(({ parts }) => parts.every((part, at) => words[begin + at] === part));
    const length = Math.max(0, ...here.map(({ parts }) => parts.length));
    const longest = here.filter(({ parts }) => parts.length === length);
    const others = longest.flatMap(({ rule }) => (rule.kind === 'rewrite' ? (rule.replace_with ?? []) : rule.terms));
    if (length > 0) spans.push({ begin, end: begin + length, others: others.map((other) => other.split(' ')) });
    begin += Math.max(1, length);
  }
  return spans;
}
