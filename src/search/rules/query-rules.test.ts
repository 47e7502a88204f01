import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import type { QueryRule } from './query-rule.js';
import { applyQueryRules, compileQueryRules, usableQueryRules } from './query-rules.js';
import { processorMs } from '../../../test/support/processor-time.js';

const SHOP: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [
    { name: 'postcode', type: 'string', cardinality: 'Single' },
    { name: 'barcode', type: 'string', cardinality: 'Many' },
    { name: 'order', type: 'number', cardinality: 'Single' },
    { name: 'sold', type: 'boolean', cardinality: 'Single' },
    { name: 'day', type: 'date', cardinality: 'Single' },
  ],
  resources: [],
  location_field: null,
  inferred: 'no',
};
const POSTCODE = {
  name: 'postcode',
  pattern: String.raw`\b([A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})\b`,
  filter: 'postcode = $1',
};
const BARCODE = { name: 'barcode', pattern: String.raw`\b(?P<code>\d{13})\b`, filter: 'barcode = ${code}' };
const ORDER = { name: 'order', pattern: String.raw`\border (?:no\.? )?#?(\w+)`, filter: 'order = $1 and sold = true' };

const apply = (query: string, ...rules: QueryRule[]) => applyQueryRules(compileQueryRules(rules, SHOP), query);
const equal = (field: string, value: string | number) => ({
  kind: 'compare',
  field,
  operator: '=',
  value: typeof value === 'string' ? { kind: 'string', key: value } : { kind: 'number', value },
});

describe('query rules', () => {
  it('turn a postcode, a barcode or an order number into a filter', () => {
    expect(apply('pizza near sw1a 1aa please', POSTCODE)).toEqual({
      query: 'pizza near please',
      filter: equal('postcode', 'sw1a 1aa'),
      applied: ['postcode'],
    });
    expect(apply('4006381333931', BARCODE)).toEqual({
      query: '',
      filter: equal('barcode', '4006381333931'),
      applied: ['barcode'],
    });
    expect(apply('Order no. #1234 shoes', ORDER)).toEqual({
      query: 'shoes',
      filter: { kind: 'and', nodes: [equal('order', 1234), equal('sold', 1)] },
      applied: ['order'],
    });
  });

  it('filter by fields that every record has, and do not apply if a capture does not fit them', () => {
    const since = { name: 'since', pattern: String.raw`\bsince (\S+)`, filter: 'created_utc >= $1' };
    expect(apply('birds since 2024-05-01', since)).toMatchObject({ query: 'birds', applied: ['since'] });
    expect(apply('birds since yesterday', since)).toEqual({
      query: 'birds since yesterday',
      filter: { kind: 'all' },
      applied: [],
    });
  });

  it('leave a query without a match, and an empty query, as it is', () => {
    expect(apply('red shoes', POSTCODE, BARCODE, ORDER)).toEqual({
      query: 'red shoes',
      filter: { kind: 'all' },
      applied: [],
    });
    expect(apply('', { name: 'any', pattern: '', filter: 'sold = true' }).applied).toEqual([]);
  });

  it('keep the matched part if keep is true', () => {
    expect(apply('order 7', { ...ORDER, keep: true })).toMatchObject({ query: 'order 7', applied: ['order'] });
  });

  it('apply in their order, each to what the ones before left of the query', () => {
    const ruled = apply('order 12 4006381333931 blue', ORDER, BARCODE);
    expect(ruled).toMatchObject({ query: 'blue', applied: ['order', 'barcode'] });
    expect(apply('order 12', ORDER, { ...ORDER, name: 'again' }).applied).toEqual(['order']);
  });

  it('do not apply if a capture does not fit the facet, or did not match', () => {
    expect(apply('order twelve', ORDER)).toMatchObject({ query: 'order twelve', filter: { kind: 'all' }, applied: [] });
    expect(apply('order 1e999', ORDER).applied).toEqual([]);
    const day = { name: 'day', pattern: String.raw`on (\d+)-(\d+)-(\d+)`, filter: "day = '$3-$2-$1'" };
    expect(apply('on 21-11-2026', day).filter).toEqual(equal('day', Date.UTC(2026, 10, 21)));
    expect(apply('on 21-13-2026', day).applied).toEqual([]);
    const optional = { name: 'o', pattern: 'x(y)?', filter: 'postcode = $1' };
    expect(apply('x', optional).applied).toEqual([]);
    expect(apply('xy', optional).applied).toEqual(['o']);
  });

  it('insert captures into quoted texts and lists', () => {
    const rule = { name: 'in', pattern: String.raw`(\w+)/(\w+)`, filter: "postcode in ($1, 'GB-$2', 'a$$1', '5$')" };
    expect(apply('AB/cd', rule).filter).toEqual({
      kind: 'in',
      field: 'postcode',
      values: ['ab', 'gb-cd', 'a$1', '5$'].map((key) => ({ kind: 'string', key })),
    });
  });

  it.each([
    "x' or postcode != 'y",
    'x" or sold = true or postcode = "',
    "') or (sold = false",
    '$1 ${code} $0',
    "\\' or 1 = 1 --",
    'null',
    "a', 'b",
  ])('never read a capture as syntax: %s', (text) => {
    for (const filter of ['postcode = $1', "postcode = '$1'", 'postcode = "$1"']) {
      const rule = { name: 'all', pattern: '^(.*)$', filter };
      expect(apply(text, rule).filter).toEqual(equal('postcode', text.toLowerCase()));
    }
    const number = { name: 'number', pattern: '^(.*)$', filter: 'order = $1' };
    expect(apply(text, number).applied).toEqual([]);
  });

  it('take linear time whatever the pattern', () => {
    const rule = { name: 'slow', pattern: '(a*)*b', filter: 'postcode = $0' };
    expect(processorMs(() => apply('a'.repeat(10_000), rule))).toBeLessThan(2000);
  });
});

describe('compileQueryRules', () => {
  it.each<[string, Partial<QueryRule>, string, RegExp]>([
    ['a pattern that is no expression', { pattern: '(a' }, 'pattern', /RE2/],
    ['a pattern beyond RE2', { pattern: '(?=a)' }, 'pattern', /RE2/],
    ['a reference back', { pattern: String.raw`(a)\1` }, 'pattern', /RE2/],
    ['an unknown facet', { filter: 'postcod = $1' }, 'filter', /position 0.*postcode/],
    ['an unknown group', { filter: 'postcode = $2' }, 'filter', /position 11.*no group "2"/],
    ['an unknown name', { filter: "sold = true or postcode = '${code}'" }, 'filter', /position 26.*no group "code"/],
    ['a broken filter', { filter: 'postcode = $1 and' }, 'filter', /position 17/],
    ['a value of the wrong type', { filter: "order = 'x'" }, 'filter', /number facet/],
    ['an order of booleans', { filter: 'sold > $1' }, 'filter', /boolean/],
    ['a capture as a field', { filter: '$1 = postcode' }, 'filter', /./],
    ['an empty filter', { filter: ' ' }, 'filter', /position/],
  ])('refuses %s', (_what, change, member, detail) => {
    const rules = [BARCODE, { name: 'r', pattern: '(a)', filter: 'postcode = $1', ...change }];
    const check = () => compileQueryRules(rules, SHOP);
    expect(check).toThrow(ServiceError);
    expect(check).toThrow(
      expect.objectContaining({
        code: 'invalid-parameter',
        errors: [{ pointer: `/query_rules/1/${member}`, detail: expect.stringMatching(detail) as string }],
      }),
    );
    expect(usableQueryRules(rules, SHOP).map(({ name }) => name)).toEqual(['barcode']);
  });

  it('allows filters beyond the limit only if the list already has as many', () => {
    const long = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: `r${index}`,
        pattern: '(a)',
        filter: `postcode = '${'x'.repeat(9000)}'`,
      }));
    expect(() => compileQueryRules(long(60), SHOP)).toThrow(/500000/);
    expect(() => compileQueryRules(long(59), SHOP, long(60))).not.toThrow();
    expect(() => compileQueryRules(long(61), SHOP, long(60))).toThrow(/500000/);
  });

  it('is needed for captures: the filter of a search takes none', async () => {
    const { parseFilter } = await import('../filter/filter-resolver.js');
    expect(() => parseFilter('postcode = $1', SHOP)).toThrow(/text has to be in quotes/);
    expect(parseFilter("postcode = '$1'", SHOP)).toEqual(equal('postcode', '$1'));
  });
});

describe('the cost of query rules', () => {
  const rule = (pattern: string, name = 'costly'): QueryRule => ({ name, pattern, filter: 'order = 1' });

  it('is limited by the size of a compiled pattern', () => {
    for (const pattern of ['(?:(?:a?){30}){30}b', String.raw`(?:\w{1,30}\s?){30}z`, 'a{0,1000}b']) {
      expect(() => apply('a', rule(pattern))).toThrow(/compiles to \d+ instructions; at most 500 are allowed/);
      expect(usableQueryRules([rule(pattern)], SHOP)).toEqual([]);
    }
    expect(apply('aaab', rule('a{0,100}b')).applied).toEqual(['costly']);
  });

  it('is limited for all rules of a list together', () => {
    const rules = Array.from({ length: 120 }, (_, index) => rule('a{0,200}b', `rule ${index}`));
    expect(() => compileQueryRules(rules, SHOP)).toThrow(/all rules together compile to \d+ instructions/);
    expect(compileQueryRules(rules.slice(0, 20), SHOP)).toHaveLength(20);
    // A thousand rules of the usual size fit.
    const plain = Array.from({ length: 1000 }, (_, index) => ({ ...POSTCODE, name: `rule ${index}` }));
    expect(() => compileQueryRules(plain, SHOP)).not.toThrow();
  });

  it('is limited by the total length of filters', () => {
    const filter = `postcode in (${'"a", '.repeat(1900)}"b")`;
    const rules = Array.from({ length: 54 }, (_, number) => ({ name: `r${number}`, pattern: 'a', filter }));
    expect(() => compileQueryRules(rules.slice(0, 50), SHOP)).not.toThrow();
    expect(() => compileQueryRules(rules, SHOP)).toThrow(/filters of all rules together have \d+ characters/);
  });

  it('may be reduced, but not raised, if a list is already beyond the limit', () => {
    const costly = Array.from({ length: 120 }, (_, index) => rule('a{0,200}b', `rule ${index}`));
    expect(compileQueryRules(costly.slice(1), SHOP, costly)).toHaveLength(119);
    expect(() => compileQueryRules([...costly, rule('a')], SHOP, costly)).toThrow(/all rules together compile/);
    const filter = `postcode in (${'"a", '.repeat(1900)}"b")`;
    const long = Array.from({ length: 54 }, (_, number) => ({ name: `r${number}`, pattern: 'a', filter }));
    expect(compileQueryRules(long.slice(1), SHOP, long)).toHaveLength(53);
    expect(() => compileQueryRules([...long, rule('a')], SHOP, long)).toThrow(/filters of all rules/);
  });

  it('is limited by the length of the query that is matched; the rest is searched as sent', () => {
    const filler = 'word '.repeat(198);
    expect(apply(`${filler}sw1a 1aa`, POSTCODE).applied).toEqual(['postcode']);
    const late = `${filler}word word sw1a 1aa`;
    expect(apply(late, POSTCODE)).toEqual({ query: late, filter: { kind: 'all' }, applied: [] });
  });
});
