/** `/searchable-field/{account}/{list}`. */
import { fieldOperations } from './field-operations.js';
import { searchableFieldInput, searchableFieldResource } from './list-schemas.js';

export const searchableFieldOperations = fieldOperations({
  resource: 'searchable-field',
  member: 'searchable_fields',
  noun: 'searchable field',
  input: searchableFieldInput,
  output: searchableFieldResource,
});
