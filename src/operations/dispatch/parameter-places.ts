/**
 * Inputs of an operation by name only, for callers that do not distinguish path, query string and body: `gannet call`,
 * and agents.
 */
import type { TSchema } from 'typebox';
import { firstForm } from './first-form.js';
import type { Operation } from './operation.js';
import { isStreamBody } from './validation.js';

export type ParameterPlace = 'path' | 'query' | 'body';

/** Returns the place of each known name. A name that is in the path and elsewhere belongs to the path. */
export function placesOf(operation: Operation): ReadonlyMap<string, ParameterPlace> {
  const body = operation.body === undefined || isStreamBody(operation.body) ? [] : membersOf(operation.body);
  return new Map<string, ParameterPlace>([
    ...body.map((name): [string, ParameterPlace] => [name, 'body']),
    ...membersOf(operation.query).map((name): [string, ParameterPlace] => [name, 'query']),
    ...membersOf(operation.params).map((name): [string, ParameterPlace] => [name, 'path']),
  ]);
}

/** Returns the members of the schema, or of its first form. */
export function membersOf(schema: TSchema | undefined): string[] {
  const form: { readonly properties?: object } | undefined = firstForm(schema);
  return Object.keys(form?.properties ?? {});
}
