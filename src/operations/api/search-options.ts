/** Converts the options of a search (`SEARCH_OPTIONS`) into schemas of operations. */
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

/** Options in a query string. */
export const searchQuery = object(schemas(({ schema }) => schema));

/** Options in a JSON body, where lists are arrays and a radius is an object. */
export const searchBody = named(
  'SearchRequest',
  schemas(({ schema, bodySchema }) => bodySchema ?? schema),
  { description: 'Options of a search; all are optional' },
);
