/** The options of a search as the schemas of its operations: `SEARCH_OPTIONS` says what each is. */
import { Type, type TOptional, type TUnsafe } from 'typebox';
import { SEARCH_OPTIONS, type OptionSchema, type SearchOption } from '../../search/index.js';
import { object } from './schemas.js';

type OptionSchemas = { [Name in keyof typeof SEARCH_OPTIONS]: TOptional<TUnsafe> };

function schemas(form: (option: SearchOption<unknown>) => OptionSchema) {
  const members = Object.entries(SEARCH_OPTIONS).map(([name, option]) => [
    name,
    Type.Optional(Type.Unsafe<unknown>({ ...form(option) })),
  ]);
  return object(Object.fromEntries(members) as OptionSchemas);
}

/** As a query string. */
export const searchQuery = schemas(({ schema }) => schema);

/** As a JSON body: the same, and lists as arrays, a radius as an object. */
export const searchBody = schemas(({ schema, bodySchema }) => bodySchema ?? schema);
