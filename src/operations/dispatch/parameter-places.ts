/** Inputs of an operation by their names alone, for those who do not think of paths, query strings and bodies: `gannet call`, and agents. */
import type { TSchema } from 'typebox';
import { firstForm } from './first-form.js';
import type { Operation } from './operation.js';
import { isStreamBody } from './validation.js';

export type ParameterPlace = 'path' | 'query' | 'body';

/** Where each name belongs that an operation knows. One that is in the path and elsewhere is meant for the path. */
export function placesOf(operation: Operation): ReadonlyMap<string, ParameterPlace> {
  const body = operation.body === undefined || isStreamBody(operation.body) ? [] : membersOf(operation.body);
  return new Map<string, ParameterPlace>([
    ...body.map((name): [string, ParameterPlace] => [name, 'body']),
    ...membersOf(operation.query).map((name): [string, ParameterPlace] => [name, 'query']),
    ...membersOf(operation.params).map((name): [string, ParameterPlace] => [name, 'path']),
  ]);
}

/** Of the first form, where a schema has several. */
export function membersOf(schema: TSchema | undefined): string[] {
  const form: { readonly properties?: object } | undefined = firstForm(schema);
  return Object.keys(form?.properties ?? {});
}
