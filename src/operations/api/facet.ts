/** `/facet/{account}/{list}`. */
import { fieldOperations } from './field-operations.js';
import { facetInput, facetResource } from './list-schemas.js';

export const facetOperations = fieldOperations({
  resource: 'facet',
  member: 'facets',
  noun: 'facet',
  input: facetInput,
  output: facetResource,
});
