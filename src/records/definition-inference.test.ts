import { describe, expect, it } from 'vitest';
import { inferDefinition } from './definition-inference.js';

const sample = (fields: Record<string, unknown>, named = true) => ({ named, fields, flat: false });

describe('inferDefinition', () => {
  it('infers no more fields than a list can have, those that come first', () => {
    const fields = (index: number) =>
      Object.fromEntries(Array.from({ length: 200 }, (_, number) => [`f${number}`, index % 2 === 0 ? 'red' : 'blue']));
    const { facets, searchable_fields } = inferDefinition(
      Array.from({ length: 20 }, (_, index) => sample({ ...fields(index), last: index })),
    );
    // Each is searchable and a facet, and counts twice; one is the name.
    expect(facets.map(({ name }) => name)).toEqual(Array.from({ length: 127 }, (_, number) => `f${number}`));
    expect(searchable_fields.length + facets.length).toBe(255);
  });

  it('infers fields from their values', () => {
    const samples = Array.from({ length: 20 }, (_, index) =>
      sample({
        title: `A title that is never the same ${index}`,
        colour: index % 2 === 0 ? 'red' : 'blue',
        price: index,
        stock: index % 3 === 0,
        day: '2026-11-21',
        tags: ['a', `b${index}`],
        sizes: [index, 2],
        place: { latitude: index, longitude: 0 },
        manual: `https://example.com/${index}.pdf?x=1`,
        mixed: index % 2 === 0 ? 'text' : 5,
        nothing: null,
      }),
    );
    const definition = inferDefinition(samples);
    expect(definition.inferred).toBe('yes');
    expect(definition.location_field).toBe('place');
    expect(definition.resources).toEqual([{ name: 'manual', kind: 'document' }]);
    expect(definition.searchable_fields.map((field) => field.name)).toEqual([
      'name',
      'title',
      'colour',
      'tags',
      'mixed',
    ]);
    expect(definition.facets).toEqual([
      { name: 'colour', type: 'string', cardinality: 'Single' },
      { name: 'price', type: 'number', cardinality: 'Single' },
      { name: 'stock', type: 'boolean', cardinality: 'Single' },
      { name: 'day', type: 'date', cardinality: 'Single' },
      { name: 'tags', type: 'string', cardinality: 'Many' },
      { name: 'sizes', type: 'number', cardinality: 'Many' },
    ]);
  });

  it('leaves out the name if no record has one', () => {
    expect(inferDefinition([sample({ title: 'x' }, false)]).searchable_fields).toEqual([{ name: 'title', weight: 1 }]);
  });
});
