/** What the documents say of words: which are in a text, which are a typo away, and when a query finds a text. */
export type Match = 'any' | 'all' | 'phrase';
export interface SynonymRule {
  readonly kind: 'equivalent' | 'rewrite';
  readonly terms: readonly string[];
  readonly replace_with?: readonly string[];
}

/** Words of a text, folded: for texts of words between blanks and punctuation, which is all that is searched for here. */
export function wordsOf(text: string): string[] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  // A picture is a word by itself.
  return folded.match(/[\p{L}\p{N}]+|\p{Extended_Pictographic}/gu) ?? [];
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

/** Whether a query finds a record by the words of its fields; rules here have terms of one word. */
export function findsWords(query: WordQuery, fields: readonly (readonly string[])[], rules: readonly SynonymRule[]) {
  if (query.words.length === 0) return true;
  const hasWord = (word: string) => {
    const wanted = [word, ...synonymsOf(word, rules)];
    return fields.some((words) => words.some((each) => wanted.some((one, at) => equals(query, one, each, at))));
  };
  if (query.match === 'any') return query.words.some(hasWord);
  if (query.match === 'all') return query.words.every(hasWord);
  return fields.some((words) => words.some((_, start) => startsPhrase(query.words, words.slice(start), rules)));
}

/** A synonym is looked for as it is written, the word that was typed with its typos. */
function equals(query: WordQuery, wanted: string, word: string, at: number): boolean {
  if (wanted === word) return true;
  return at === 0 && query.typos && query.match !== 'phrase' && editsBetween(wanted, word) <= editsAllowed(wanted);
}

function startsPhrase(query: readonly string[], words: readonly string[], rules: readonly SynonymRule[]): boolean {
  return query.every((word, at) => words[at] === word || synonymsOf(word, rules).includes(words[at] ?? ''));
}

function synonymsOf(word: string, rules: readonly SynonymRule[]): string[] {
  const having = rules.filter(({ terms }) => terms.includes(word));
  return having.flatMap(({ kind, terms, replace_with: other }) => (kind === 'rewrite' ? (other ?? []) : terms));
}
