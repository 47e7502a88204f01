/** `/resource/{account}/{list}`: fields that hold the URL of a file. */
import { fieldOperations } from './field-operations.js';
import { resourceInput, resourceResource } from './list-schemas.js';

export const resourceOperations = fieldOperations({
  resource: 'resource',
  member: 'resources',
  noun: 'resource field',
  input: resourceInput,
  output: resourceResource,
});
