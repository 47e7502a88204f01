import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import type { FilterNode, SyntaxNode } from './filter-nodes.js';
import {
  FILTER_CONDITIONS_MAX,
  FILTER_LIST_VALUES_MAX,
  FILTER_NESTING_MAX,
  parseFilterSyntax,
} from './filter-parser.js';
import { parseFilter, parseFilters } from './filter-resolver.js';

const DEFINITION = definition([
  ['brand', 'string', 'Single'],
  ['tags', 'string', 'Many'],
  ['price', 'number', 'Single'],
  ['in_stock', 'boolean', 'Single'],
  ['released', 'date', 'Single'],
  ['part-of-speech', 'string', 'Single'],
  ['two words', 'string', 'Single'],
  ['not', 'number', 'Single'],
]);

function definition(facets: readonly (readonly [string, string, string])[]): FieldDefinition {
  return {
    searchable_fields: [],
    facets: facets.map(([name, type, cardinality]) => ({ name, type, cardinality })) as FieldDefinition['facets'],
    resources: [],
    location_field: null,
    inferred: 'no',
  };
}

const text = (key: string) => ({ kind: 'string', key }) as const;
const num = (value: number) => ({ kind: 'number', value }) as const;
const compare = (field: string, operator: string, value: object) => ({ kind: 'compare', field, operator, value });

function parse(filter: string): FilterNode {
  return parseFilter(filter, DEFINITION);
}

function refusal(filter: string, of: FieldDefinition = DEFINITION): ServiceError {
  try {
    parseFilter(filter, of);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error(`accepted: ${filter}`);
}

describe('a condition', () => {
  it.each([
    ["brand = 'Acme'", compare('brand', '=', text('acme'))],
    ['brand="ACME"', compare('brand', '=', text('acme'))],
    ["brand eq 'it''s'", compare('brand', '=', text("it's"))],
    ['brand EQ "say ""hi"""', compare('brand', '=', text('say "hi"'))],
    ["brand != 'a'", compare('brand', '!=', text('a'))],
    ["brand ne 'a'", compare('brand', '!=', text('a'))],
    ['price<5', compare('price', '<', num(5))],
    ['price <= 5.25', compare('price', '<=', num(5.25))],
    ['price > -1e3', compare('price', '>', num(-1000))],
    ['price >= .5', compare('price', '>=', num(0.5))],
    ['price lt 1', compare('price', '<', num(1))],
    ['price le 1', compare('price', '<=', num(1))],
    ['price gt 1', compare('price', '>', num(1))],
    ['price ge 1', compare('price', '>=', num(1))],
    ['in_stock = TRUE', compare('in_stock', '=', num(1))],
    ['in_stock != false', compare('in_stock', '!=', num(0))],
    ['released >= 2026-11-21', compare('released', '>=', num(Date.UTC(2026, 10, 21)))],
    ["released = '2026-11-21T05:54:00.000Z'", compare('released', '=', num(Date.UTC(2026, 10, 21, 5, 54)))],
    ['released < 2026-11-21T05:54:00+01:00', compare('released', '<', num(Date.UTC(2026, 10, 21, 4, 54)))],
    ["part-of-speech = 'noun'", compare('part-of-speech', '=', text('noun'))],
    ["`two words` = 'x'", compare('two words', '=', text('x'))],
    ['`not` = 1', compare('not', '=', num(1))],
    ['brand in (\'A\', "b")', { kind: 'in', field: 'brand', values: [text('a'), text('b')] }],
    ['price IN (1,2)', { kind: 'in', field: 'price', values: [num(1), num(2)] }],
    ['price not in (1)', { kind: 'not', node: { kind: 'in', field: 'price', values: [num(1)] } }],
    ['tags = null', { kind: 'is-null', field: 'tags' }],
    ['tags eq NULL', { kind: 'is-null', field: 'tags' }],
    ['tags != null', { kind: 'not', node: { kind: 'is-null', field: 'tags' } }],
  ])('is parsed: %s', (filter, expected) => {
    expect(parse(filter)).toEqual(expected);
  });

  it('folds a string as it is folded when records are written', () => {
    expect(parse("brand = 'CAFE\u0301 STRASSE'")).toEqual(parse("brand = 'café straße'"));
  });
});

describe('the connectives and, or and not', () => {
  const [a, b, c] = [compare('price', '=', num(1)), compare('price', '=', num(2)), compare('price', '=', num(3))];

  it.each([
    ['price=1 and price=2 or price=3', { kind: 'or', nodes: [{ kind: 'and', nodes: [a, b] }, c] }],
    ['price=1 or price=2 and price=3', { kind: 'or', nodes: [a, { kind: 'and', nodes: [b, c] }] }],
    ['(price=1 or price=2) and price=3', { kind: 'and', nodes: [{ kind: 'or', nodes: [a, b] }, c] }],
    ['price=1 AND price=2 And price=3', { kind: 'and', nodes: [a, b, c] }],
    ['not price=1 and price=2', { kind: 'and', nodes: [{ kind: 'not', node: a }, b] }],
    ['not (price=1 or price=2)', { kind: 'not', node: { kind: 'or', nodes: [a, b] } }],
    ['not not price=1', a],
    ['((price=1))', a],
  ])('are parsed: %s', (filter, expected) => {
    expect(parse(filter)).toEqual(expected);
  });
});

describe('an error in a filter', () => {
  it.each([
    ['', 0, 'a field name'],
    ['brand', 5, 'an operator'],
    ['brand =', 7, 'a value'],
    ['brand = Acme', 8, 'in quotes'],
    ["brand = 'Acme", 8, "no closing '"],
    ['brand => 1', 6, 'no operator'],
    ["brand = 'a' brand", 12, '"and", "or"'],
    ["brand = 'a' and", 15, 'a field name'],
    ["(brand = 'a'", 12, '")" for the "(" at position 0'],
    ["brand = 'a')", 11, 'closes nothing'],
    ["brand in 'a'", 9, '"("'],
    ["brand in ('a' 'b')", 14, '"," or ")"'],
    ['brand in ()', 10, 'a value'],
    ['brand in (null)', 10, 'brand = null'],
    ['brand < null', 8, 'null can only'],
    ["'brand' = 'a'", 0, 'backticks'],
    ['price = 1e999', 8, 'too large'],
    ["price = '5'", 8, 'number facet'],
    ['brand = 5', 8, 'string facet'],
    ['in_stock = 1', 11, 'true or false'],
    ['in_stock < true', 9, 'boolean facet'],
    ['released = 2026-13-01', 11, 'no date'],
    ["released = 'soon'", 11, 'no date'],
    ['released = 2026', 11, 'ISO date'],
    ['price not = 1', 10, '"in" after "not"'],
  ])('is refused with its position and what was expected there: %s', (filter, position, expected) => {
    const error = refusal(filter);
    expect(error.code).toBe('invalid-filter');
    expect(error.status).toBe(400);
    expect(error.errors?.[0]?.parameter).toBe('filter');
    expect(error.errors?.[0]?.detail).toContain(`position ${position}:`);
    expect(error.errors?.[0]?.detail).toContain(expected);
  });

  it('names the facets, and the one that was probably meant', () => {
    const error = refusal("(brnd = 'x')");
    expect(error.detail).toContain('position 1: "brnd" is no facet of this list. Did you mean \'brand\'?');
    expect(error.detail).toContain('brand, tags, price, in_stock');
  });

  it('says so if the list has no facets', () => {
    expect(refusal('a = 1', definition([])).detail).toContain('none to filter by');
  });

  it('is reported for nesting that is too deep', () => {
    const nested = (levels: number) => `${'('.repeat(levels)}price=1${')'.repeat(levels)}`;
    expect(() => parse(nested(FILTER_NESTING_MAX))).not.toThrow();
    expect(refusal(nested(FILTER_NESTING_MAX + 1)).detail).toContain('levels inside each other');
    expect(refusal('not ('.repeat(100_000)).code).toBe('invalid-filter');
    expect(parse(`${'not '.repeat(100_000)}price=1`)).toEqual(parse('price=1'));
  });
});

describe('the limits of a filter', () => {
  it('hold for the number of conditions', () => {
    const row = (count: number) => Array.from({ length: count }, () => 'price=1').join(' or ');
    expect(parse(row(FILTER_CONDITIONS_MAX))).toMatchObject({ kind: 'or' });
    expect(refusal(row(FILTER_CONDITIONS_MAX + 1)).detail).toContain('more than 20000 conditions');
  });

  it('hold for the number of values of a list', () => {
    const list = (count: number) => `price in (${Array.from({ length: count }, () => '1').join()})`;
    expect(parse(list(FILTER_LIST_VALUES_MAX))).toMatchObject({ kind: 'in' });
    expect(refusal(list(FILTER_LIST_VALUES_MAX + 1)).detail).toContain('more than 65535 values');
  });
});

describe('a filter for a group of lists', () => {
  const first = definition([['brand', 'string', 'Single'], ['year', 'number', 'Single']]); // prettier-ignore
  const second = definition([['price', 'number', 'Single'], ['year', 'string', 'Single']]); // prettier-ignore

  it('treats a field that a list lacks as missing there', () => {
    expect(parseFilters("brand = 'a'", [first, second])).toEqual([compare('brand', '=', text('a')), { kind: 'none' }]);
    expect(parseFilters("brand != 'a'", [first, second])[1]).toEqual({ kind: 'all' });
    expect(parseFilters('brand = null', [first, second])[1]).toEqual({ kind: 'all' });
    expect(parseFilters('not brand = null or price > 1', [first, second])).toEqual([
      { kind: 'not', node: { kind: 'is-null', field: 'brand' } },
      compare('price', '>', num(1)),
    ]);
  });

  it('treats a field as missing in a list where its type does not fit the value', () => {
    expect(parseFilters('year = 1999', [first, second])).toEqual([compare('year', '=', num(1999)), { kind: 'none' }]);
  });

  it("reads name and created_utc as the record's own unless a list has a facet of that name", () => {
    expect(parseFilters("name = 'Puffin'", [first, second])).toEqual(
      Array(2).fill(compare('@name', '=', text('puffin'))),
    );
    const third = definition([['modified_utc', 'number', 'Single']]);
    expect(parseFilters('modified_utc = 3', [first, third])).toEqual([
      { kind: 'none' },
      compare('modified_utc', '=', num(3)),
    ]);
    expect(() => parseFilters('modified_utc = 3', [first, second])).toThrow(/"modified_utc" is a date facet: expected/);
    expect(parseFilter('not created_utc >= 2026-11-21', first)).toEqual({
      kind: 'not',
      node: compare('@created', '>=', num(Date.UTC(2026, 10, 21))),
    });
  });

  it('is refused if no list can answer it', () => {
    expect(() => parseFilters('size = 1', [first, second])).toThrow('is no facet');
    expect(() => parseFilters('modified = 1', [first, second])).toThrow(
      'each record has name, created_utc, modified_utc.',
    );
    expect(() => parseFilters('year = true', [first, second])).toThrow('number facet');
  });
});

describe('parseFilter with random filters', () => {
  const piece = fc.oneof(
    fc.constantFrom('and', 'or', 'not', 'in', '(', ')', ',', '=', '!=', '<', '>=', 'null', 'true', "'", '"', '`', ' '),
    fc.constantFrom('brand', 'price', 'released', 'in_stock', '5', '1.5e3', '2026-11-21', "'Acme'", '"x"'),
    fc.string({ maxLength: 6 }),
  );

  it('throws nothing but invalid-filter, with a position inside the text', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('', ' '), (pieces, separator) => {
        const filter = pieces.join(separator);
        try {
          parse(filter);
        } catch (error) {
          if (!(error instanceof ServiceError) || error.code !== 'invalid-filter') throw error;
          const position = Number(/^At position (\d+): /.exec(error.errors?.[0]?.detail ?? '')?.[1]);
          expect(position).toBeGreaterThanOrEqual(0);
          expect(position).toBeLessThanOrEqual(filter.length);
        }
      }),
      { numRuns: 5000 },
    );
  });

  it('parses a printed tree back to the same tree', () => {
    const name = fc.constantFrom('brand', 'two words', 'not', 'a`b', 'in');
    const literal = fc.oneof(
      fc.string().map((value) => ({ kind: 'string' as const, text: value, at: 0 })),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((value) => ({ kind: 'number' as const, value: value + 0, at: 0 })),
      fc.boolean().map((value) => ({ kind: 'boolean' as const, value, at: 0 })),
    );
    const field = name.map((value) => ({ name: value, at: 0 }));
    const operator = fc.constantFrom('=', '!=', '<', '<=', '>', '>=' as const);
    const leaf = fc.oneof(
      fc.record({ kind: fc.constant('compare'), field, operator, operatorAt: fc.constant(0), literal }),
      fc.record({ kind: fc.constant('in'), field, literals: fc.array(literal, { minLength: 1, maxLength: 4 }) }),
      fc.record({ kind: fc.constant('is-null'), field }),
    );
    const { tree } = fc.letrec<{ tree: SyntaxNode }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf as fc.Arbitrary<SyntaxNode>,
        fc.record({ kind: fc.constantFrom('and', 'or'), nodes: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }) }),
        fc.record({ kind: fc.constant('not'), node: leaf }),
      ),
    }));
    fc.assert(
      fc.property(tree, (node) => {
        expect(withoutPositions(parseFilterSyntax(print(node)))).toEqual(withoutPositions(node));
      }),
      { numRuns: 500 },
    );
  });
});

function print(node: SyntaxNode): string {
  const field = (name: string) => `\`${name.replaceAll('`', '``')}\``;
  const literal = (value: { kind: string; text?: string; value?: unknown }) =>
    value.kind === 'string' ? `'${(value.text ?? '').replaceAll("'", "''")}'` : String(value.value);
  switch (node.kind) {
    case 'and':
    case 'or':
      return node.nodes.map((operand) => `(${print(operand)})`).join(` ${node.kind} `);
    case 'not':
      return `not (${print(node.node)})`;
    case 'compare':
      return `${field(node.field.name)} ${node.operator} ${literal(node.literal)}`;
    case 'in':
      return `${field(node.field.name)} in (${node.literals.map(literal).join(', ')})`;
    case 'is-null':
      return `${field(node.field.name)} = null`;
  }
}

function withoutPositions(node: SyntaxNode): unknown {
  return JSON.parse(JSON.stringify(node, (key, value: unknown) => (/^(at|operatorAt)$/.test(key) ? undefined : value)));
}
