import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../catalog/index.js';
import { ServiceError } from '../platform/index.js';
import { FieldNormaliser } from './field-normaliser.js';

const definition: FieldDefinition = {
  searchable_fields: [
    { name: 'name', weight: 1 },
    { name: 'title', weight: 1 },
    { name: 'brand', weight: 1 },
  ],
  facets: [
    { name: 'brand', type: 'string', cardinality: 'Single' },
    { name: 'tags', type: 'string', cardinality: 'Many' },
    { name: 'price', type: 'number', cardinality: 'Single' },
    { name: 'new', type: 'boolean', cardinality: 'Single' },
    { name: 'day', type: 'date', cardinality: 'Single' },
  ],
  resources: [{ name: 'manual', kind: 'document' }],
  location_field: 'place',
  inferred: 'no',
};

function problem(fields: Record<string, unknown>): string {
  try {
    new FieldNormaliser(definition).normalise(fields, false);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid-record') return error.detail;
    throw error;
  }
  return 'none';
}

describe('FieldNormaliser', () => {
  it('replaces halves of surrogate pairs in values, which several JSON parsers refuse, and refuses them in names', () => {
    const fields = {
      title: 'cut \ud83d',
      brand: '\udc00',
      tags: ['a', '\ud800b', '😀'],
      more: ['\ud83d\ud83d', 1, true],
      manual: 'https://a.example/\ud83d',
      whole: '😀',
    };
    expect(new FieldNormaliser(definition).normalise(fields, false)).toEqual({
      title: 'cut \ufffd',
      brand: ['\ufffd'],
      tags: ['a', '\ufffdb', '😀'],
      more: ['\ufffd\ufffd', 1, true],
      manual: 'https://a.example/\ufffd',
      whole: '😀',
    });
    expect(problem({ 'a\ud800': 1 })).toBe("'a\ufffd' cannot be the name of a field.");
  });

  it('makes arrays of facet values, and leaves out nulls and empty arrays', () => {
    const fields = {
      brand: 'Acme',
      tags: ['a', 'b'],
      price: 3,
      new: false,
      title: 'x',
      other: null,
      empty: [],
      note: [1, 'two', true],
    };
    expect(new FieldNormaliser(definition).normalise(fields, false)).toEqual({
      brand: ['Acme'],
      tags: ['a', 'b'],
      price: [3],
      new: [false],
      title: 'x',
      note: [1, 'two', true],
    });
  });

  it('skips the name only in a flat record', () => {
    expect(new FieldNormaliser(definition).normalise({ name: 'n', id: 7 }, true)).toEqual({ id: 7 });
    expect(new FieldNormaliser(definition).normalise({ name: 'n' }, false)).toEqual({ name: 'n' });
  });

  it.each([
    [{ price: '3' }, /price.*finite number.*string '3'\.$/u],
    [{ price: '119,90' }, /not the string '119,90'\. A number is written with a point before its decimals/u],
    [{ price: '1 200' }, /with nothing between thousands\.$/u],
    [{ price: 'on request, 5' }, /5'\.$/u],
    [{ price: Infinity }, /price/u],
    [{ price: [1, 2] }, /price.*one value, not 2/u],
    [{ brand: 3 }, /brand.*a string, not 3/u],
    [{ tags: ['a', null] }, /tags.*not null/u],
    [{ new: 'true' }, /new.*true or false/u],
    [{ day: 1_700_000_000 }, /day.*ISO 8601.*such as 2026-11-21/u],
    [{ day: '2026-02-30' }, /day/u],
    [{ place: 'London' }, /place.*point/u],
    [
      { place: { lat: 1, lon: 2 } },
      /place.*takes a point, such as \{"latitude": 51\.5, .*, not an object with 'lat', 'lon'\./u,
    ],
    [{ place: {} }, /place.*not an empty object/u],
    [{ place: { latitude: 91, longitude: 0 } }, /place.*latitude/u],
    [{ manual: 'not a url' }, /manual.*URL/u],
    [{ title: { a: 1 } }, /title/u],
    [{ other: { deep: { er: 1 } } }, /other.*not an object\.$/u],
    [{ feilds: { title: 'A' } }, /feilds.*not an object\. Did you mean 'fields'\?$/u],
    [{ other: [[1]] }, /other/u],
  ])('refuses %j with an error that names the field', (fields, expected) => {
    expect(problem(fields)).toMatch(expected);
  });

  it('refuses a field called __proto__ instead of losing it', () => {
    expect(problem(JSON.parse('{"__proto__": 1}') as Record<string, unknown>)).toMatch(/__proto__/u);
  });

  describe('lenient normalisation', () => {
    const colour = { name: 'colour', type: 'string', cardinality: 'Many' } as const;
    const from = { ...definition, facets: [{ ...colour, name: 'title' }, colour] };
    const lenient = new FieldNormaliser(definition, { from, renames: { cost: 'price', colour: 'shade' } });
    const normalised = (fields: Record<string, unknown>) => lenient.normalise(fields, false);

    it('keeps values that do not fit as an array, and counts them by field', () => {
      expect(normalised({ cost: 'dear', title: ['was a facet'] })).toEqual({ price: ['dear'], title: 'was a facet' });
      expect(normalised({ price: [1, 2], day: 2026, place: 'London' })).toEqual({
        price: [1, 2],
        day: [2026],
        place: 'London',
      });
      expect(Object.fromEntries(lenient.unfit)).toEqual({ price: 2, day: 1, place: 1 });
    });

    it("makes a single value of a facet's array if the field is no facet any more, and of no other array", () => {
      expect(normalised({ title: ['one'], colour: ['red'] })).toEqual({ title: 'one', shade: 'red' });
      expect(normalised({ colour: ['red', 'blue'], other: ['one'], brand: 'x' })).toEqual({
        shade: ['red', 'blue'],
        other: ['one'],
        brand: ['x'],
      });
      expect(normalised({ manual: ['https://example.org/a.pdf'] })).toEqual({ manual: 'https://example.org/a.pdf' });
    });

    it('converts texts to the type of the facet that they express', () => {
      expect(normalised({ price: '12.5', brand: 7, tags: [1, true, 'x'], new: ['TRUE'] })).toEqual({
        price: [12.5],
        brand: ['7'],
        tags: ['1', 'true', 'x'],
        new: [true],
      });
    });

    it('puts the values of a renamed field under the new name, even if that is taken', () => {
      expect(normalised({ cost: 1, price: 2 })).toEqual({ price: [1] });
      expect(normalised({ price: 2, cost: 1 })).toEqual({ price: [1] });
      expect(normalised({ price: 2, cost: null })).toEqual({ price: [2] });
    });

    it.each([
      ...['007', '1734567890123456789', '4111111111111111', '1e5', '-0', '1.', '+1', '1234567890123456.50'],
      ...['0.1000000000000000055', '12,50'],
    ])('keeps the code %s as text instead of a number', (code) => {
      const before = lenient.unfit.get('price') ?? 0;
      expect(normalised({ price: code })).toEqual({ price: [code] });
      expect(lenient.unfit.get('price')).toBe(before + 1);
    });

    it.each([
      ['12.50', 12.5],
      ['-100.00', -100],
      [' 7 ', 7],
      ['0.0', 0],
      ['123456789012345', 123_456_789_012_345],
      ['0.30000000000000004', 0.1 + 0.2],
      ['1e+21', 1e21],
    ])('reads %j as a number', (text, number) => {
      expect(normalised({ price: text })).toEqual({ price: [number] });
    });

    it('reads back all numbers that were written as texts, except long integers', () => {
      fc.assert(
        fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
          fc.pre(!Number.isInteger(number) || Math.abs(number) < 1e15);
          const text = String(number);
          expect(normalised({ price: text })).toEqual({ price: [Number(text)] });
        }),
      );
    });
  });
});
