/**
 * Recursive-descent parser of filters with one token of look-ahead. Grammar:
 *
 *   filter     = conjunction { "or" conjunction }
 *   conjunction= unary { "and" unary }
 *   unary      = { "not" } ( "(" filter ")" | comparison )
 *   comparison = field operator value
 *              | field ( "=" | "!=" ) "null"
 *              | field [ "not" ] "in" "(" value { "," value } ")"
 *   operator   = "=" | "!=" | "<" | "<=" | ">" | ">=" | "eq" | "ne" | "lt" | "le" | "gt" | "ge"
 *   field      = a word, or anything in backticks (a doubled backtick stands for one)
 *   value      = 'text' | "text" (a doubled quote stands for one) | number | true | false | ISO date, bare or quoted
 *
 * Keywords are case-insensitive. A field name needs backticks if it contains blanks or is a keyword in that position
 * (`not`).
 */
import { isNumber, NO_DATE, parseDate, parseNumber } from '../../fields/index.js';
import { excerpt, filterError } from './filter-error.js';
import type { CaptureReference, ComparisonOperator, FieldReference, Literal, SyntaxNode } from './filter-nodes.js';
import { FilterScanner, type Token } from './filter-scanner.js';

/** Nesting depth of parentheses and `not`s. Each takes two levels of the plan, within the kernel's limit of 64. */
export const FILTER_NESTING_MAX = 28;
/**
 * Conditions of a whole filter. Together with the nodes that join and negate them, within the kernel's limit of 65,536.
 */
export const FILTER_CONDITIONS_MAX = 20_000;
/** Values in one `in (…)`: a u16 in the plan. */
export const FILTER_LIST_VALUES_MAX = 65_535;
/** Values in all `in (…)` of a filter. */
const FILTER_VALUES_MAX = 1_000_000;

const WORD_OPERATORS: ReadonlyMap<string, ComparisonOperator> = new Map([
  ['eq', '='],
  ['ne', '!='],
  ['lt', '<'],
  ['le', '<='],
  ['gt', '>'],
  ['ge', '>='],
]);
const DATE_LIKE = /^\d{4}-\d{2}/;
const VALUE_EXPECTED = 'a value: text in quotes, a number, true, false, null or an ISO date';

/**
 * Parses a filter. Throws `invalid-filter` only, also for a blank text: an absent filter is given by leaving the option
 * out.
 */
export function parseFilterSyntax(text: string): SyntaxNode {
  return new FilterParser(text, false).parse();
}

/**
 * Parses the filter of a query rule, where `$1` and `${name}` may stand for a value or within a quoted one (`$$` is a
 * dollar there). Throws `invalid-filter` only.
 */
export function parseFilterTemplate(text: string): SyntaxNode {
  return new FilterParser(text, true).parse();
}

const CAPTURE = /\$(?:(\d{1,3})|\{(\w{1,100})\}|\$)/g;
const ONE_CAPTURE = /^\$(?:(\d{1,3})|\{(\w{1,100})\})$/;

class FilterParser {
  private readonly scanner: FilterScanner;
  private token: Token;
  private depth = 0;
  private conditions = 0;
  private values = 0;

  constructor(
    text: string,
    private readonly isTemplate: boolean,
  ) {
    this.scanner = new FilterScanner(text);
    this.token = this.scanner.next();
  }

  parse(): SyntaxNode {
    const node = this.disjunction();
    if (this.at(')')) throw filterError(this.token.at, 'this ")" closes nothing');
    if (!this.at('end')) throw this.unexpected('"and", "or" or the end of the filter');
    return node;
  }

  private disjunction(): SyntaxNode {
    return this.row('or', () => this.row('and', () => this.unary()));
  }

  /** Parses operands with the keyword between them. A single operand is returned as it is. */
  private row(kind: 'and' | 'or', operand: () => SyntaxNode): SyntaxNode {
    const first = operand();
    if (!this.atKeyword(kind)) return first;
    const nodes: SyntaxNode[] = [first];
    while (this.atKeyword(kind)) {
      this.take();
      nodes.push(operand());
    }
    return Object.freeze({ kind, nodes: Object.freeze(nodes) });
  }

  private unary(): SyntaxNode {
    let negated = false;
    let negations = 0;
    while (this.atKeyword('not')) {
      this.take();
      negated = !negated;
      negations += 1;
    }
    if (negations > 0) this.enter();
    const node = this.at('(') ? this.parenthesised() : this.comparison();
    if (negations > 0) this.depth -= 1;
    return negated ? Object.freeze({ kind: 'not', node }) : node;
  }

  private parenthesised(): SyntaxNode {
    const opening = this.take();
    this.enter();
    const node = this.disjunction();
    this.expect(')', `"and", "or" or the ")" for the "(" at position ${opening.at}`);
    this.depth -= 1;
    return node;
  }

  private comparison(): SyntaxNode {
    const field = this.field();
    this.conditions += 1;
    if (this.conditions > FILTER_CONDITIONS_MAX) {
      throw filterError(
        field.at,
        `the filter has more than ${FILTER_CONDITIONS_MAX} conditions; use "in (…)" for many values`,
      );
    }
    if (this.atKeyword('in')) return this.membership(field);
    if (this.atKeyword('not')) {
      this.take();
      if (!this.atKeyword('in')) throw this.unexpected('"in" after "not"');
      return Object.freeze({ kind: 'not', node: this.membership(field) });
    }
    const operatorAt = this.token.at;
    const operator = this.operator(field);
    if (this.atKeyword('null')) {
      if (operator !== '=' && operator !== '!=') {
        throw filterError(this.token.at, 'null can only be compared with = and !=');
      }
      this.take();
      const isNull = Object.freeze({ kind: 'is-null', field } as const);
      return operator === '=' ? isNull : Object.freeze({ kind: 'not', node: isNull });
    }
    return Object.freeze({ kind: 'compare', field, operator, operatorAt, literal: this.literal() });
  }

  private membership(field: FieldReference): SyntaxNode {
    this.take();
    this.expect('(', '"(" and a list of values after "in"');
    const literals: Literal[] = [];
    for (;;) {
      if (this.atKeyword('null')) {
        throw filterError(
          this.token.at,
          `null cannot stand in a list of values; add "or ${field.name} = null" instead`,
        );
      }
      this.values += 1;
      if (literals.length >= FILTER_LIST_VALUES_MAX || this.values > FILTER_VALUES_MAX) {
        throw filterError(
          this.token.at,
          `more than ${FILTER_LIST_VALUES_MAX} values in one list, or ${FILTER_VALUES_MAX} in the whole filter`,
        );
      }
      literals.push(this.literal());
      if (!this.at(',')) break;
      this.take();
    }
    this.expect(')', '"," or ")"');
    return Object.freeze({ kind: 'in', field, literals: Object.freeze(literals) });
  }

  private field(): FieldReference {
    const token = this.token;
    if (token.kind === 'name' || (token.kind === 'word' && !this.atKeyword('and') && !this.atKeyword('or'))) {
      this.take();
      return Object.freeze({ name: token.text, at: token.at });
    }
    if (token.kind === 'string') {
      throw filterError(
        token.at,
        `expected a field name, found the text ${excerpt(token.text)}; names with unusual characters go in backticks`,
      );
    }
    throw this.unexpected('a field name, "not" or "("');
  }

  private operator(field: FieldReference): ComparisonOperator {
    const token = this.token;
    const operator =
      token.kind === 'operator'
        ? token.operator
        : token.kind === 'word'
          ? WORD_OPERATORS.get(token.text.toLowerCase())
          : undefined;
    if (operator === undefined) {
      throw this.unexpected(
        `an operator after ${excerpt(field.name)} (=, !=, <, <=, >, >=, eq, ne, lt, le, gt, ge or in)`,
      );
    }
    this.take();
    return operator;
  }

  private literal(): Literal {
    const { kind, text, at } = this.token;
    if (kind === 'string') {
      this.take();
      return this.isTemplate && text.includes('$') ? template(text, at) : Object.freeze({ kind: 'string', text, at });
    }
    if (kind !== 'word') throw this.unexpected(VALUE_EXPECTED);
    const literal = this.isTemplate && ONE_CAPTURE.test(text) ? template(text, at) : wordLiteral(text, at);
    if (literal === undefined) {
      throw filterError(at, `expected ${VALUE_EXPECTED}; found ${excerpt(text)} (text has to be in quotes)`);
    }
    this.take();
    return literal;
  }

  private enter(): void {
    this.depth += 1;
    if (this.depth > FILTER_NESTING_MAX) {
      throw filterError(
        this.token.at,
        `parentheses and "not" lie more than ${FILTER_NESTING_MAX} levels inside each other`,
      );
    }
  }

  private at(kind: Token['kind']): boolean {
    return this.token.kind === kind;
  }

  private expect(kind: Token['kind'], expected: string): void {
    if (!this.at(kind)) throw this.unexpected(expected);
    this.take();
  }

  private atKeyword(keyword: string): boolean {
    const { kind, text } = this.token;
    return kind === 'word' && text.length === keyword.length && text.toLowerCase() === keyword;
  }

  private take(): Token {
    const taken = this.token;
    this.token = this.scanner.next();
    return taken;
  }

  private unexpected(expected: string): Error {
    const { kind, text, at } = this.token;
    return filterError(at, `expected ${expected}; found ${kind === 'end' ? 'the end of the filter' : excerpt(text)}`);
  }
}

/** Splits a text at its captures. A dollar that begins no capture stands for itself. */
function template(text: string, at: number): Literal {
  const parts: (string | CaptureReference)[] = [];
  let from = 0;
  for (const found of text.matchAll(CAPTURE)) {
    parts.push(text.slice(from, found.index));
    const group = found[1] ?? found[2];
    parts.push(group === undefined ? '$' : Object.freeze({ group }));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  return Object.freeze({ kind: 'template', parts: Object.freeze(parts.filter((part) => part !== '')), at });
}

function wordLiteral(text: string, at: number): Literal | undefined {
  if (isNumber(text)) {
    const value = parseNumber(text);
    if (value === undefined) throw filterError(at, `${excerpt(text)} is too large a number`);
    return Object.freeze({ kind: 'number', value, at });
  }
  const lower = text.length <= 5 ? text.toLowerCase() : '';
  if (lower === 'true' || lower === 'false') return Object.freeze({ kind: 'boolean', value: lower === 'true', at });
  if (DATE_LIKE.test(text)) {
    if (parseDate(text) === undefined) throw filterError(at, `${excerpt(text)} ${NO_DATE}`);
    return Object.freeze({ kind: 'date', text, at });
  }
  return undefined;
}
