/** What the documents say of words: which are in a text, which are a typo away, and when a query finds a text. */
import type { Scalar } from './reference-values.js';

export type Match = 'any' | 'all' | 'phrase';
export interface SynonymRule {
  readonly kind: 'equivalent' | 'rewrite';
  readonly terms: readonly string[];
  readonly replace_with?: readonly string[];
}

/** Of a query whose text has the word `word`: the records where `field` has the value, and, unless it is kept, without the word. */
export interface QueryRule {
  readonly name: string;
  readonly word: string;
  readonly field: string;
  readonly value: Scalar;
  /** The word behind `word` is captured: `field` has it, as it is or as a number or a truth, or `value`. It goes with the word. */
  readonly captures?: 'alone' | 'or-value';
  readonly keep: boolean;
}

/** Words of a text, folded, with the double s of a sharp one, large or small: for texts of words between blanks and punctuation, which is all that is searched for here. */
export function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().toUpperCase().toLowerCase();
  // Signs that stand without blanks are no part of a word or a number beside them; a picture is a word by itself, and what low lines connect is one, as is what has an apostrophe inside (UAX 29).
  const parted = folded.replaceAll(/\p{Script=Han}+/gu, ' $& ');
  return parted.match(/[\p{L}\p{N}]+(?:(?:_+|(?<=\p{L})'(?=\p{L}))[\p{L}\p{N}]+)*|\p{Extended_Pictographic}/gu) ?? [];
}

const ONE_EDIT_LETTERS = 4;
const TWO_EDITS_LETTERS = 8;

export function editsAllowed(word: string): number {
  if (/\p{N}/u.test(word) || word.length < ONE_EDIT_LETTERS) return 0;
  return word.length < TWO_EDITS_LETTERS ? 1 : 2;
}

/** Insertions, deletions, substitutions and transpositions of neighbours (optimal string alignment). */
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

/** Words of a query from `begin` to before `end`, and what stands for them as well. */
interface Span {
  readonly begin: number;
  readonly end: number;
  readonly others: readonly (readonly string[])[];
}

/** Whether a query finds a record by the words of its fields. */
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

/** A synonym is looked for as it is written, the word that was typed with its typos. */
function equals(query: WordQuery, wanted: string, word: string): boolean {
  return wanted === word || (query.typos && editsBetween(wanted, word) <= editsAllowed(wanted));
}

function hasInOrder(field: readonly string[], wanted: readonly string[]): boolean {
  return field.some((_, start) => wanted.every((word, at) => field[start + at] === word));
}

/** Whether a text begins with the words from `at` on, each as it is or what stands for it. */
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

/** From the first word on, the longest term that begins there: a phrase goes before the words in it. */
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
