/** The main form of bodies with several forms, for callers that ask for members one by one. */
import type { TSchema } from 'typebox';

/** Returns the schema, or the first of its alternatives, for which the others are abbreviations. */
export function firstForm(schema: TSchema | undefined): TSchema | undefined {
  const { anyOf: [first = schema] = [] } = (schema ?? {}) as { readonly anyOf?: readonly TSchema[] };
  return first;
}
