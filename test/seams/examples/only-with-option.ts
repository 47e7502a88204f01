/** An example of a search option: keeps only records with a value of a facet. */
import type { SearchOption } from '../../../src/search/index.js';

export const onlyWith: SearchOption<string> = {
  schema: {
    type: 'string',
    maxLength: 512,
    description: 'Keeps records that have a value of this facet',
    examples: ['year'],
  },
  narrow: (facet, { facets }) =>
    facets.some(({ name }) => name === facet)
      ? { kind: 'not', node: { kind: 'is-null', field: facet } }
      : { kind: 'none' },
};
