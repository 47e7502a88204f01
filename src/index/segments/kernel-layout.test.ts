import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WEIGHT_UNITS_MAX, kernelLayout, weightUnits } from './kernel-layout.js';

describe('weightUnits', () => {
  it.each([
    [
      [1, 1, 1],
      [1, 1, 1],
    ],
    [
      [2, 1],
      [2, 1],
    ],
    [
      [1, 0.5, 0.25],
      [4, 2, 1],
    ],
    [
      [1.5, 1],
      [3, 2],
    ],
    [
      [10, 5, 5],
      [2, 1, 1],
    ],
    [
      [100_000, 1],
      [1000, 1],
    ],
  ])('represents %j as %j', (weights, units) => {
    expect(weightUnits(weights)).toEqual(units);
  });

  it('stays within 1 % and 1..1000 for weights up to 20 apart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 50, max: 1000 }), { minLength: 1, maxLength: 8 }), (weights) => {
        const units = weightUnits(weights);
        const scale = (units[0] as number) / (weights[0] as number);
        units.forEach((unit, index) => {
          expect(Number.isInteger(unit) && unit >= 1 && unit <= WEIGHT_UNITS_MAX).toBe(true);
          expect(Math.abs(unit / scale / (weights[index] as number) - 1)).toBeLessThan(0.021);
        });
      }),
    );
  });
});

describe('kernelLayout', () => {
  it('puts the facets first, then the columns of the record itself', () => {
    const layout = kernelLayout({
      searchable_fields: [
        { name: 'title', weight: 2 },
        { name: 'name', weight: 1 },
      ],
      facets: [{ name: 'tags', type: 'string', cardinality: 'Many' }],
      resources: [],
      location_field: 'place',
      inferred: 'no',
    });
    expect(layout.schema.columns.map((column) => column.name)).toEqual([
      'tags',
      '@name',
      '@created',
      '@modified',
      '@location',
    ]);
    expect([layout.column('tags'), layout.column('@location'), layout.column('title')]).toEqual([0, 4, undefined]);
    expect([layout.textField('name'), layout.textFields]).toEqual([1, ['title', 'name']]);
  });
});
