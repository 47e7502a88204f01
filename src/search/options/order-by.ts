/**
 * The `order_by` option: up to four keys `field asc|desc`, separated by commas; the default is `asc`. A field name with
 * blanks or commas is written in backticks (doubled to mean one), as in filters. A bare `name`, `created_utc` or
 * `modified_utc` is the record's own, and a bare `distance` is that from the point of the search. In backticks, these
 * names mean facets, if there are any of that name.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { didYouMean, ORDER_BY_KEYS_MAX, ServiceError } from '../../platform/index.js';
import { facetsByName, RECORD_FIELDS } from '../filter/filter-resolver.js';

export type SortKey =
  /** `column` is a facet's name, or `@name`, `@created`, `@modified`. */
  | { readonly by: 'column'; readonly column: string; readonly descending: boolean }
  | { readonly by: 'distance'; readonly descending: boolean };

const KEY = /\s*(?:`((?:[^`]|``)*)`|([^\s,`]+))(?:\s+([^\s,]+))?\s*/y;
const SORTABLE_NAMED_MAX = 30;

/**
 * Parses the option. In a group, a field has to be sortable in at least one list; records of lists that lack it have no
 * value and come last. Throws `invalid-parameter` only.
 */
export function parseOrderBy(
  text: string,
  definitions: readonly FieldDefinition[],
  hasRadius: boolean,
): readonly SortKey[] {
  const keys: SortKey[] = [];
  let offset = 0;
  for (;;) {
    KEY.lastIndex = offset;
    const matched = KEY.exec(text);
    if (matched === null) throw orderError('expected a field name and asc or desc, such as "price desc, name"');
    offset += matched[0].length;
    if (offset < text.length && text[offset] !== ',') {
      throw orderError(`expected a comma or the end at position ${offset}; a key is a field name and asc or desc`);
    }
    const name = matched[2] ?? (matched[1] as string).replaceAll('``', '`');
    const quoted = matched[1] !== undefined;
    if (keys.length === ORDER_BY_KEYS_MAX) throw orderError(`at most ${ORDER_BY_KEYS_MAX} keys are allowed`);
    keys.push(sortKey({ name, quoted }, descending(matched[3], name), definitions, hasRadius));
    if (offset >= text.length) break;
    offset += 1;
  }
  return Object.freeze(keys);
}

function descending(direction: string | undefined, name: string): boolean {
  switch (direction?.toLowerCase()) {
    case undefined:
    case 'asc':
      return false;
    case 'desc':
      return true;
    default:
      throw orderError(`the direction of ${name} has to be asc or desc`);
  }
}

interface WrittenName {
  readonly name: string;
  /** True if the name was in backticks. */
  readonly quoted: boolean;
}

function sortKey(
  { name, quoted }: WrittenName,
  descending: boolean,
  definitions: readonly FieldDefinition[],
  hasRadius: boolean,
): SortKey {
  const facets = definitions.flatMap((definition) => facetsByName(definition).get(name) ?? []);
  if (!quoted || facets.length === 0) {
    const column = RECORD_FIELDS.get(name)?.name;
    if (column !== undefined) return Object.freeze({ by: 'column', column, descending });
    if (name === 'distance' && hasRadius) return Object.freeze({ by: 'distance', descending });
  }
  if (facets.some((facet) => facet.cardinality === 'Single')) {
    return Object.freeze({ by: 'column', column: name, descending });
  }
  const sortable = sortableNames(definitions, hasRadius);
  const known = `Sortable are ${sortable.slice(0, SORTABLE_NAMED_MAX).join(', ')}`;
  if (facets.length > 0) throw orderError(`${name} is a Many facet, which has no single value to sort by. ${known}`);
  if (name === 'distance') throw orderError(`distance needs the radius option. ${known}`);
  throw orderError(`${name.slice(0, 80)} is not sortable.${didYouMean(name, sortable)} ${known}`);
}

function sortableNames(definitions: readonly FieldDefinition[], hasRadius: boolean): string[] {
  const single = definitions.flatMap((definition) =>
    definition.facets.filter((facet) => facet.cardinality === 'Single').map((facet) => facet.name),
  );
  return [...new Set([...RECORD_FIELDS.keys(), ...(hasRadius ? ['distance'] : []), ...single])];
}

function orderError(message: string): ServiceError {
  const detail = `${message}.`;
  return new ServiceError('invalid-parameter', `order_by: ${detail}`, { errors: [{ parameter: 'order_by', detail }] });
}
