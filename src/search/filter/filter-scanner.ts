/**
 * Splits filter text into tokens, one at a time, in linear time.
 *
 * A word is a run of characters that are neither blank nor one of ( ) ' " ` , = < > ! — so field names may contain
 * letters of any script, digits, dots, dashes and more without quotes. Whether a word is a keyword, a name, a number or
 * a date depends on its position, so the parser decides.
 */
import type { ComparisonOperator } from './filter-nodes.js';
import { excerpt, filterError } from './filter-error.js';

export type Token =
  | { readonly kind: 'word'; readonly text: string; readonly at: number }
  /** In single or double quotes; `text` is unescaped. */
  | { readonly kind: 'string'; readonly text: string; readonly at: number }
  /** In backticks: a field name, never a keyword. */
  | { readonly kind: 'name'; readonly text: string; readonly at: number }
  | { readonly kind: 'operator'; readonly operator: ComparisonOperator; readonly text: string; readonly at: number }
  | { readonly kind: '(' | ')' | ','; readonly text: string; readonly at: number }
  | { readonly kind: 'end'; readonly text: string; readonly at: number };

const BLANKS = /\s*/y;
const WORD = /[^\s()'"`,=<>!]+/y;
const OPERATOR = /[=<>!]+/y;
const OPERATORS: ReadonlyMap<string, ComparisonOperator> = new Map([
  ['=', '='],
  ['==', '='],
  ['!=', '!='],
  ['<>', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
]);

export class FilterScanner {
  private offset = 0;

  constructor(private readonly text: string) {}

  next(): Token {
    this.match(BLANKS);
    const at = this.offset;
    if (at >= this.text.length) return { kind: 'end', text: '', at };
    const character = this.text[at] as string;
    switch (character) {
      case '(':
      case ')':
      case ',':
        this.offset += 1;
        return { kind: character, text: character, at };
      case "'":
      case '"':
        return { kind: 'string', text: this.quoted(character, 'string'), at };
      case '`':
        return { kind: 'name', text: this.quoted(character, 'field name'), at };
      default:
        return this.operatorOrWord(at);
    }
  }

  private operatorOrWord(at: number): Token {
    const word = this.match(WORD);
    if (word !== '') return { kind: 'word', text: word, at };
    const text = this.match(OPERATOR);
    const operator = OPERATORS.get(text);
    if (operator === undefined) {
      throw filterError(at, `${excerpt(text)} is no operator; expected =, !=, <, <=, > or >=`);
    }
    return { kind: 'operator', operator, text, at };
  }

  /**
   * Returns the text between quotes, with doubled quotes replaced by one. Throws `invalid-filter` if the closing quote
   * is missing.
   */
  private quoted(quote: string, what: string): string {
    const begin = this.offset;
    let from = begin + 1;
    let unescaped = '';
    for (;;) {
      const end = this.text.indexOf(quote, from);
      if (end < 0) throw filterError(begin, `the ${what} that begins here has no closing ${quote}`);
      unescaped += this.text.slice(from, end);
      this.offset = end + 1;
      if (this.text[end + 1] !== quote) return unescaped;
      unescaped += quote;
      from = end + 2;
    }
  }

  private match(pattern: RegExp): string {
    pattern.lastIndex = this.offset;
    const matched = pattern.exec(this.text)?.[0] ?? '';
    this.offset += matched.length;
    return matched;
  }
}
