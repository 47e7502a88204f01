/** The options of a search as the schemas of its operations: `SEARCH_OPTIONS` says what each is. */
import { Type, type TOptional, type TUnsafe } from 'typebox';
import { SEARCH_OPTIONS, type OptionSchema, type SearchOption } from '../../search/index.js';
import { named, object } from './schemas.js';

type OptionSchemas = { [Name in keyof typeof SEARCH_OPTIONS]: TOptional<TUnsafe> };

function schemas(form: (option: SearchOption<unknown>) => OptionSchema) {
  const members = Object.entries(SEARCH_OPTIONS).map(([name, option]) => [
    name,
    Type.Optional(Type.Unsafe<unknown>({ ...form(option) })),
  ]);
  return Object.fromEntries(members) as OptionSchemas;
}

/** As a query string. */
export const searchQuery = object(schemas(({ schema }) => schema));

/** As a JSON body: the same, and lists as arrays, a radius as an object. */
export const searchBody = named(
  'SearchRequest',
  schemas(({ schema, bodySchema }) => bodySchema ?? schema),
);
