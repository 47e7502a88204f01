import { describe, expect, it } from 'vitest';
import { vocabularyOf } from '../../../test/support/vocabulary.js';
import type { FieldDefinition } from '../../catalog/index.js';
import { kernelLayout } from '../../index/segments/kernel-layout.js';
import type { FilterNode } from '../filter/filter-nodes.js';
import { readSearchRequest } from '../options/search-request.js';
import type { SearchOptions } from '../types.js';
import { encodePlan } from './plan-encoder.js';
import { planSearch } from './planner.js';

import { analyseQuery } from '../expansion/query-analysis.js';

const SHOP: FieldDefinition = {
  searchable_fields: [{ name: 'title', weight: 1 }],
  facets: [
    { name: 'brand', type: 'string', cardinality: 'Single' },
    { name: 'tags', type: 'string', cardinality: 'Many' },
    { name: 'price', type: 'number', cardinality: 'Single' },
  ],
  resources: [],
  location_field: 'place',
  inferred: 'no',
};
const PLAIN: FieldDefinition = {
  ...SHOP,
  facets: [{ name: 'brand', type: 'string', cardinality: 'Many' }],
  location_field: null,
};
const [BRAND, TAGS, PRICE, NAME, , MODIFIED, LOCATION] = [0, 1, 2, 3, 4, 5, 6];

function encoded(options: SearchOptions, definitions = [SHOP], listIndex = 0) {
  const request = readSearchRequest(options, definitions);
  const { filters } = request;
  const { node } = analyseQuery(request.query, vocabularyOf([]), {
    match: request.options.match,
    typoTolerance: true,
    prefix: false,
    wordsMax: 10,
  });
  const window = { skip: request.skip, size: request.size, facetValues: request.options.facet_size };
  return encodePlan(
    planSearch(request, { query: node, filter: filters[listIndex] as FilterNode }, window),
    kernelLayout(definitions[listIndex] as FieldDefinition),
  );
}

describe('encodePlan', () => {
  it('turns names into columns', () => {
    expect(
      encoded({
        query: 'red shoes',
        match: 'all',
        filter: "brand = 'Acme' and not (price in (1, 2) or tags != null)",
        order_by: 'price desc, name, modified_utc',
        facets: ['tags'],
        facet_size: 7,
        minimum_text_score: 0.5,
        skip: 20,
        size: 5,
        explain: true,
      }),
    ).toEqual({
      textFields: [],
      facetWords: [],
      keepMatches: false,
      needTotal: true,
      explain: true,
      storageOrder: false,
      skip: 20,
      size: 5,
      minimumScore: 0.4999995,
      proximityWeight: 0.2,
      wholeFieldWeight: 0.3,
      groups: [
        { occur: 'must', boost: 1, alternatives: [{ kind: 'typed', weight: 1, terms: ['red'] }] },
        { occur: 'must', boost: 1, alternatives: [{ kind: 'typed', weight: 1, terms: ['shoes'] }] },
      ],
      sequence: [0, 1],
      whole: [0, 1],
      filter: {
        op: 'and',
        nodes: [
          { op: '=', column: BRAND, value: 'acme' },
          {
            op: 'not',
            node: {
              op: 'or',
              nodes: [
                { op: 'in', column: PRICE, values: [1, 2] },
                { op: 'not', node: { op: 'isNull', column: TAGS } },
              ],
            },
          },
        ],
      },
      sort: [
        { by: 'column', column: PRICE, descending: true },
        { by: 'column', column: NAME, descending: false },
        { by: 'column', column: MODIFIED, descending: false },
      ],
      facets: [{ column: TAGS, size: 7 }],
    });
  });

  it('adds a radius to the filter, the order and the hits', () => {
    const origin = { latitude: 51.5, longitude: -0.12 };
    expect(
      encoded({ radius: '51.5,-0.12,1km', filter: 'price > 1 and price < 5', order_by: 'distance' }),
    ).toMatchObject({
      filter: {
        op: 'and',
        nodes: [{ op: '>' }, { op: '<' }, { op: 'within', column: LOCATION, ...origin, metres: 1000 }],
      },
      sort: [{ by: 'distance', column: LOCATION, ...origin, descending: false }],
      distance: { column: LOCATION, ...origin },
    });
  });

  it('adds a box to the filter', () => {
    const box = { south: 1, west: 170, north: 2, east: 190 };
    expect(encoded({ box: '1,170,2,190' })).toMatchObject({ filter: { op: 'inBox', column: LOCATION, ...box } });
  });

  it('matches nothing if the query has no words', () => {
    expect(encoded({ query: '?!' })).toMatchObject({ groups: [], filter: { op: 'not', node: { op: 'all' } } });
  });

  it('uses the storage order if nothing ranks', () => {
    expect(encoded({})).toMatchObject({ storageOrder: true, sort: [] });
    expect(encoded({ query: 'red' })).toMatchObject({ storageOrder: false, sort: [] });
    expect(encoded({ query: 'red', ranking: 'none' })).toMatchObject({
      storageOrder: false,
      sort: [{ by: 'recordNumber', descending: false }],
    });
    expect(encoded({ order_by: 'price' })).toMatchObject({ storageOrder: false });
  });

  it('uses the storage order for hits by meaning alone if ranking is none', () => {
    const request = readSearchRequest({ ranking: 'none' }, [SHOP]);
    const window = { skip: 0, size: 10, facetValues: 20 };
    const plan = planSearch(request, { query: { kind: 'meaning' }, filter: request.filters[0] as FilterNode }, window);
    expect(encodePlan(plan, kernelLayout(SHOP)).sort).toEqual([{ by: 'recordNumber', descending: false }]);
  });

  it('leaves out what a list of a group lacks', () => {
    const options = {
      radius: '0,0,1',
      filter: 'price = 1 or price = null',
      order_by: 'price, brand',
      facets: ['price', 'brand'],
    };
    expect(encoded(options, [SHOP, PLAIN], 1)).toMatchObject({
      filter: { op: 'not', node: { op: 'all' } },
      sort: [],
      facets: [{ column: 0, size: 20 }],
    });
    expect(encoded(options, [SHOP, PLAIN], 1).distance).toBeUndefined();
  });
});
