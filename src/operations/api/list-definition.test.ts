import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { ServiceError } from '../../platform/index.js';
import { changedDefinition, newDefinition, type DefinitionInput } from './list-definition.js';
import { fieldName } from './schemas.js';

const FILMS: DefinitionInput = {
  searchable_fields: [{ name: 'title', weight: 2 }, { name: 'plot' }],
  facets: [
    { name: 'year', type: 'number' },
    { name: 'title', type: 'string', cardinality: 'Single' },
  ],
  resources: [{ name: 'poster', kind: 'image' }],
  location_field: 'cinema',
};

describe('a new definition', () => {
  it('has its defaults filled in', () => {
    expect(newDefinition(FILMS)).toEqual({
      searchable_fields: [
        { name: 'title', weight: 2 },
        { name: 'plot', weight: 1 },
      ],
      facets: [
        { name: 'year', type: 'number', cardinality: 'Single' },
        { name: 'title', type: 'string', cardinality: 'Single' },
      ],
      resources: [{ name: 'poster', kind: 'image' }],
      location_field: 'cinema',
      inferred: 'no',
    });
  });

  it('without any field is inferred from the first records', () => {
    expect(newDefinition({}).inferred).toBe('pending');
    expect(newDefinition({ facets: [], location_field: null }).inferred).toBe('pending');
    expect(newDefinition({ location_field: 'place' }).inferred).toBe('no');
  });

  it.each<[string, DefinitionInput, string]>([
    [
      'a name twice',
      {
        facets: [
          { name: 'a', type: 'string' },
          { name: 'a', type: 'number' },
        ],
      },
      '/facets/1/name',
    ],
    [
      'a resource that is a facet',
      { facets: [{ name: 'a', type: 'string' }], resources: [{ name: 'a', kind: 'image' }] },
      '/resources/0/name',
    ],
    ['a location that is searchable', { searchable_fields: [{ name: 'a' }], location_field: 'a' }, '/location_field'],
    ['a facet that is the name', { facets: [{ name: 'name', type: 'string' }] }, '/facets/0/name'],
    ['a resource that is the name', { resources: [{ name: 'name', kind: 'image' }] }, '/resources/0/name'],
    ['a location that is the name', { location_field: 'name' }, '/location_field'],
    ['too many fields', { searchable_fields: Array.from({ length: 257 }, (_, n) => ({ name: `f${n}` })) }, ''],
  ])('refuses %s', (_what, input, pointer) => {
    let error: ServiceError | undefined;
    try {
      newDefinition(input);
    } catch (caught) {
      error = caught as ServiceError;
    }
    expect(error).toMatchObject({ code: 'invalid-parameter', errors: [{ pointer }] });
  });
});

describe('a changed definition', () => {
  it('is the same object if nothing changed', () => {
    const before = newDefinition(FILMS);
    expect(changedDefinition(before, FILMS)).toBe(before);
    expect(changedDefinition(before, {})).toBe(before);
    const pending = newDefinition({});
    expect(changedDefinition(pending, { facets: [] })).toBe(pending);
  });

  it('replaces whole members and keeps the others', () => {
    const after = changedDefinition(newDefinition(FILMS), { facets: [], location_field: null });
    expect(after.facets).toEqual([]);
    expect(after.location_field).toBeNull();
    expect(after.searchable_fields).toHaveLength(2);
  });

  it('is no longer inferred', () => {
    const inferred = { ...newDefinition(FILMS), inferred: 'yes' as const };
    expect(changedDefinition(inferred, { facets: [] }).inferred).toBe('no');
  });
});

describe('field names', () => {
  const check = new Ajv2020({ keywords: ['x-allowed'] }).compile(fieldName);

  it('can be any text that filters and order_by can name', () => {
    for (const name of [
      'title',
      'name',
      'id',
      'fields',
      'Größe',
      '価格',
      'release date',
      'a.b',
      'x',
      'a=b',
      '__proto',
      'x'.repeat(128),
    ]) {
      expect(check(name), name).toBe(true);
    }
    for (const name of ['', '@score', ' a', 'a ', 'a,b', 'a"b', "a'b", 'a`b', 'a\nb', 'a\u0000', 'x'.repeat(129)]) {
      expect(check(name), JSON.stringify(name)).toBe(false);
    }
  });
});

it('A definition of an earlier release keeps a facet called name', () => {
  const before = { ...newDefinition({}), facets: [{ name: 'name', type: 'string', cardinality: 'Single' }] } as const;
  expect(
    changedDefinition(before, { facets: before.facets, searchable_fields: [{ name: 'name' }] }).facets,
  ).toHaveLength(1);
});

describe('a list with more fields than allowed, from an earlier release', () => {
  const names = (count: number) => Array.from({ length: count }, (_, number) => ({ name: `f${number}`, weight: 1 }));
  const before = { ...newDefinition({ searchable_fields: [{ name: 'a' }] }), searchable_fields: names(300) };

  it('can be changed in other ways, and lose fields one by one, but gets no more of them', () => {
    expect(changedDefinition(before, {})).toBe(before);
    expect(changedDefinition(before, { language: 'de' }).language).toBe('de');
    expect(changedDefinition(before, { searchable_fields: names(299) }).searchable_fields).toHaveLength(299);
    expect(() => changedDefinition(before, { location_field: 'place' })).toThrow('at most 256 fields');
  });
});
