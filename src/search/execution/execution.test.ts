import { describe, expect, it } from 'vitest';
import { mergeFacets, mergeRanges } from './facet-merge.js';
import { compareSortValues } from './sort-values.js';

describe('facets merged over a group', () => {
  it('adds the counts of equal values and lists the most frequent first', () => {
    const merged = mergeFacets(
      [
        '{"brand":[{"value":"Acme","count":3},{"value":"Zoo","count":2}],"year":[{"value":1999,"count":1}]}',
        '{"brand":[{"value":"zoo","count":2},{"value":"Bee","count":3}]}',
      ],
      ['brand', 'year'],
      2,
    );
    expect(merged).toBe(
      '{"brand":[{"value":"Zoo","count":4},{"value":"Acme","count":3}],"year":[{"value":1999,"count":1}]}',
    );
  });

  it('keeps values of different types apart and orders equal counts by value', () => {
    const merged = mergeFacets(
      [
        '{"x":[{"value":10,"count":1},{"value":9,"count":1}]}',
        '{"x":[{"value":"9","count":1},{"value":true,"count":1}]}',
      ],
      ['x', 'none'],
      10,
    );
    expect((JSON.parse(merged) as { x: { value: unknown }[] }).x.map(({ value }) => value)).toEqual([true, 9, 10, '9']);
    expect(merged).toContain('"none":[]');
  });

  it('merges ranges to the least minimum and the greatest maximum', () => {
    expect(mergeRanges(['{"p":{"min":2,"max":5}}', '{"p":{"min":-1,"max":3},"d":{"min":"2001","max":"2002"}}'])).toBe(
      '{"p":{"min":-1,"max":5},"d":{"min":"2001","max":"2002"}}',
    );
    expect(mergeRanges([])).toBeUndefined();
  });
});

describe('compareSortValues', () => {
  it('puts missing values last in both directions', () => {
    const values = [undefined, 2, Buffer.from('b'), 1, Buffer.from('a')];
    const sorted = (descending: boolean) =>
      [...values, undefined]
        .sort((left, right) => compareSortValues(left, right, descending))
        .map((value) => value?.toString());
    // Array.prototype.sort itself puts undefined last, so the comparison is also called directly.
    expect(sorted(false)).toEqual(['1', '2', 'a', 'b', undefined, undefined]);
    expect(sorted(true)).toEqual(['2', '1', 'b', 'a', undefined, undefined]);
    expect(compareSortValues(undefined, 1, true)).toBe(1);
    expect(compareSortValues(1, undefined, true)).toBe(-1);
    expect(compareSortValues(undefined, undefined, true)).toBe(0);
  });
});
