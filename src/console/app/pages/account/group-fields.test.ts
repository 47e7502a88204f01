import { expect, it } from 'vitest';
import { fieldsOfAll } from './group-fields.js';

const facet = (name: string, cardinality: 'Single' | 'Many') => ({ name, type: 'string' as const, cardinality });
const list = (name: string, facets: ReturnType<typeof facet>[], searchable: string[]) => ({
  name,
  facets,
  searchable_fields: searchable.map((field) => ({ name: field, weight: 1 })),
});

it('A group has each field of its lists once, and a facet is Single only if it is in every list', () => {
  const birds = list('birds', [facet('family', 'Single'), facet('seen', 'Single')], ['title', 'text']);
  const fish = list('fish', [facet('family', 'Many')], ['title']);
  for (const lists of [
    [birds, fish],
    [fish, birds],
  ]) {
    const { facets, searchable_fields } = fieldsOfAll(lists);
    expect(new Map(facets.map(({ name, cardinality }) => [name, cardinality]))).toEqual(
      new Map([
        ['family', 'Many'],
        ['seen', 'Single'],
      ]),
    );
    expect(searchable_fields).toEqual([{ name: 'title' }, { name: 'text' }]);
  }
  expect(fieldsOfAll([])).toEqual({ facets: [], searchable_fields: [] });
});
