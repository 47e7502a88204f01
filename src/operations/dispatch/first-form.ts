/** Bodies of several forms, for who asks for their members one by one. */
import type { TSchema } from 'typebox';

/** The schema, or the first of its alternatives: the form that the others are short for. */
export function firstForm(schema: TSchema | undefined): TSchema | undefined {
  const { anyOf: [first = schema] = [] } = (schema ?? {}) as { readonly anyOf?: readonly TSchema[] };
  return first;
}
