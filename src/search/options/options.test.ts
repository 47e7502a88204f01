import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FieldDefinition } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import type { SearchOptions } from '../types.js';
import { parseOrderBy } from './order-by.js';
import { boxFilter } from './box.js';
import { parseRadius } from './radius.js';
import { readSearchRequest } from './search-request.js';

const DEFINITION: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [
    { name: 'price', type: 'number', cardinality: 'Single' },
    { name: 'two words', type: 'string', cardinality: 'Single' },
    { name: 'tags', type: 'string', cardinality: 'Many' },
  ],
  resources: [],
  location_field: 'place',
  inferred: 'no',
};
const PLACELESS: FieldDefinition = { ...DEFINITION, facets: [], location_field: null };

function refusal(action: () => unknown): ServiceError {
  try {
    action();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('box', () => {
  it.each([
    ['51.3,-0.5,51.7,0.3', 51.3, -0.5, 51.7, 0.3],
    [' -1 , +170 , 1e-7 , 190 ', -1, 170, 1e-7, 190],
    ['-90,180,90,-180', -90, 180, 90, -180],
    ['5,-360,5,360', 5, -360, 5, 360],
  ])('is parsed: %s', (text, south, west, north, east) => {
    expect(boxFilter(text)).toEqual({ kind: 'in-box', south, west, north, east });
  });

  it('can be an object', () => {
    const given = { south: 1, west: 2, north: 3, east: 4 };
    expect(boxFilter(given)).toEqual({ kind: 'in-box', ...given });
    expect(boxFilter(JSON.stringify(given))).toEqual({ kind: 'in-box', ...given });
  });

  it.each([
    ['', 'with commas'],
    ['1,2,3', 'with commas'],
    ['1,2,3,4,5', 'with commas'],
    ['x,0,1,1', 'south "x"'],
    ['0,,1,1', 'west ""'],
    ['0,0,1,1km', 'east "1km"'],
    ['0,0,91,1', 'north has to be between -90 and 90'],
    ['0,-361,1,1', 'west has to be between -360 and 360'],
    ['2,0,1,1', 'at most north'],
    ['{"south":1,"west":2,"north":3}', 'four numbers'],
    ['{"south":1,"west":2,"north":3,"east":"4"}', 'four numbers'],
    ['{"south":1,"west":2,"north":3,"east":4,"top":5}', 'four numbers'],
    ['{', 'four numbers'],
    ['0,'.repeat(100), 'with commas'],
  ])('is refused: %s', (text, expected) => {
    const error = refusal(() => boxFilter(text));
    expect(error.code).toBe('invalid-parameter');
    expect(error.errors?.[0]?.parameter).toBe('box');
    expect(error.detail).toContain(expected);
  });
});

describe('radius', () => {
  it.each([
    ['51.5,-0.12,10km', 51.5, -0.12, 10_000],
    [' 51.5 , -0.12 , 10 km ', 51.5, -0.12, 10_000],
    ['51.5,-0.12,250', 51.5, -0.12, 250],
    ['-51.5,+0.12,250M', -51.5, 0.12, 250],
    ['0,180,1mi', 0, 180, 1609.344],
    ['0,0,0', 0, 0, 0],
    ['0,0,.5km', 0, 0, 500],
    ['-1e-7,2.5E-8,1e-1km', -1e-7, 2.5e-8, 100],
    ['5e-324,-5e-324,1000', 5e-324, -5e-324, 1000],
  ])('is parsed: %s', (text, latitude, longitude, metres) => {
    expect(parseRadius(text)).toEqual({ latitude, longitude, metres });
  });

  it('can be an object', () => {
    const given = { latitude: 1, longitude: 2, distance: 3 };
    expect(parseRadius(given)).toEqual({ latitude: 1, longitude: 2, metres: 3 });
    expect(parseRadius(JSON.stringify(given))).toEqual({ latitude: 1, longitude: 2, metres: 3 });
  });

  it.each([
    ['', 'with commas'],
    ['51.5,-0.12', 'with commas'],
    ['1,2,3,4', 'with commas'],
    ['x,0,1', 'latitude "x"'],
    ['0,,1', 'longitude ""'],
    ['91,0,1', 'between -90 and 90'],
    ['0,181,1', 'between -180 and 180'],
    ['0,0,1yd', 'm, km, mi'],
    ['0,0,-1', 'm, km, mi'],
    ['1e1,0,1', 'latitude "1e1"'],
    ['{"latitude":1,"longitude":2}', 'three numbers'],
    ['{"latitude":1,"longitude":2,"distance":"3km"}', 'three numbers'],
    ['{"latitude":1,"longitude":2,"distance":3,"unit":"km"}', 'three numbers'],
    ['{', 'three numbers'],
    ['{"latitude":91,"longitude":2,"distance":3}', 'between -90 and 90'],
    [`0,0,${'9'.repeat(400)}`, 'expected'],
  ])('is refused: %s', (text, expected) => {
    const error = refusal(() => parseRadius(text));
    expect(error.code).toBe('invalid-parameter');
    expect(error.errors?.[0]?.parameter).toBe('radius');
    expect(error.detail).toContain(expected);
  });

  it('is refused as an object if a number is out of range', () => {
    expect(refusal(() => parseRadius({ latitude: NaN, longitude: 0, distance: 1 })).status).toBe(400);
    expect(refusal(() => parseRadius({ latitude: 0, longitude: 0, distance: Infinity })).status).toBe(400);
  });
});

describe('order_by', () => {
  it.each([
    ['price', [{ by: 'column', column: 'price', descending: false }]],
    ['price DESC', [{ by: 'column', column: 'price', descending: true }]],
    [
      ' name asc , created_utc desc,modified_utc',
      [
        { by: 'column', column: '@name', descending: false },
        { by: 'column', column: '@created', descending: true },
        { by: 'column', column: '@modified', descending: false },
      ],
    ],
    ['`two words` desc', [{ by: 'column', column: 'two words', descending: true }]],
    ['distance desc', [{ by: 'distance', descending: true }]],
  ])('is parsed: %s', (text, keys) => {
    expect(parseOrderBy(text, [DEFINITION], true)).toEqual(keys);
  });

  it.each([
    ['tags', 'Many facet'],
    ['title', 'Sortable are name, created_utc, modified_utc'],
    ['pryce', "Did you mean 'price'?"],
    ['price down', 'asc or desc'],
    ['price asc name', 'comma'],
    ['price,', 'field name'],
    [',price', 'field name'],
    ['name,name,name,name,name', 'at most 4'],
    ['distance', 'needs the radius'],
  ])('is refused: %s', (text, expected) => {
    const error = refusal(() => parseOrderBy(text, [DEFINITION], false));
    expect(error.status).toBe(400);
    expect(error.errors?.[0]?.parameter).toBe('order_by');
    expect(error.detail).toContain(expected);
  });

  it("means the record's own field by a bare word, and a facet of that name in backticks", () => {
    const names = ['created_utc', 'modified_utc', 'distance'];
    const facets = names.map((name) => ({ name, type: 'number', cardinality: 'Single' }) as const);
    const read = (text: string, definition: FieldDefinition) => parseOrderBy(text, [definition], true)[0];
    for (const name of names) {
      const own = read(name, DEFINITION);
      expect(read(name, { ...DEFINITION, facets }), name).toEqual(own);
      expect(read(`\`${name}\``, DEFINITION), name).toEqual(own);
      expect(read(`\`${name}\``, { ...DEFINITION, facets })).toEqual({ by: 'column', column: name, descending: false });
    }
  });

  it('needs a field that is sortable in at least one list of a group', () => {
    expect(parseOrderBy('price', [PLACELESS, DEFINITION], false)).toHaveLength(1);
    expect(refusal(() => parseOrderBy('price', [PLACELESS], false)).status).toBe(400);
  });

  it('throws nothing but ServiceErrors', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z`, ]{0,40}$/)), (text) => {
        try {
          parseOrderBy(text, [DEFINITION], false);
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError);
        }
      }),
    );
  });
});

describe('search options', () => {
  const read = (options: SearchOptions, definition = DEFINITION) => readSearchRequest(options, [definition]);

  it('have defaults', () => {
    expect(read({})).toMatchObject({
      query: '',
      filters: [{ kind: 'all' }],
      order: [],
      storageOrder: false,
      facets: [],
      options: {
        match: 'any',
        minimum_text_score: 0,
        facet_size: 20,
        highlight: true,
        explain: false,
        typo_tolerance: true,
      },
      skip: 0,
      size: 10,
    });
  });

  it('are absent if they are blank texts', () => {
    const blank = read({ query: ' ', filter: ' ', order_by: '' });
    expect({ ...blank, options: undefined }).toEqual({ ...read({}), options: undefined });
  });

  it('with a radius need a location field', () => {
    expect(refusal(() => read({ radius: '0,0,1' }, PLACELESS)).detail).toContain('location_field');
    expect(() => readSearchRequest({ radius: '0,0,1' }, [PLACELESS, DEFINITION])).not.toThrow();
  });

  it('with a box need a location field', () => {
    expect(refusal(() => read({ box: '0,0,1,1' }, PLACELESS)).detail).toContain('location_field');
    const box = { kind: 'in-box', south: 0, west: 0, north: 1, east: 1 };
    expect(readSearchRequest({ box: '0,0,1,1' }, [PLACELESS, DEFINITION]).filters).toEqual([box, box]);
  });

  it('with ranking=none refuse order_by', () => {
    expect(refusal(() => read({ ranking: 'none', order_by: 'price' })).status).toBe(400);
    expect(read({ ranking: 'none' }).storageOrder).toBe(true);
  });

  it("refuse facets that are none of the list's", () => {
    expect(read({ facets: ['price', 'tags', 'price'] }).facets).toEqual(['price', 'tags']);
    expect(refusal(() => read({ facets: ['tag'] })).detail).toContain("Did you mean 'tags'?");
    expect(refusal(() => read({ facets: ['price'] }, PLACELESS)).detail).toContain('There are none');
  });
});
