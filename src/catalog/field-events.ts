/** Webhook events of the fields of a list: the differences between two definitions. Pure functions. */
import { isDeepStrictEqual } from 'node:util';
import type { EventContent } from '../platform/index.js';
import type { FieldDefinition } from './types.js';

interface NamedField {
  readonly name: string;
}

const ROLES = [
  ['facet', 'facets'],
  ['searchable-field', 'searchable_fields'],
  ['resource', 'resources'],
] as const;

/** `renames` (`{old: new}`): fields that were renamed with their values. A field may have several roles. */
export function fieldEvents(
  list: string,
  before: FieldDefinition,
  after: FieldDefinition,
  renames: Readonly<Record<string, string>> = {},
): EventContent[] {
  const previousNames = new Map(Object.entries(renames).map(([from, to]) => [to, from]));
  return ROLES.flatMap(([role, member]) => {
    const old = new Map<string, NamedField>(before[member].map((field) => [field.name, field]));
    const events = after[member].flatMap((field: NamedField): EventContent[] => {
      const previousName = previousNames.get(field.name) ?? field.name;
      const previous = old.get(previousName);
      old.delete(previousName);
      const data: Record<string, unknown> = { ...field };
      const event = (suffix: 'created' | 'updated' | 'renamed'): EventContent[] => [
        { type: `${role}.${suffix}`, id: field.name, list, data },
      ];
      if (previous === undefined) return event('created');
      if (previousName !== field.name) {
        data['previous_name'] = previousName;
        return event('renamed');
      }
      return isDeepStrictEqual(previous, field) ? [] : event('updated');
    });
    const deleted = [...old.values()].map((field): EventContent => {
      return { type: `${role}.deleted`, id: field.name, list, data: { ...field } };
    });
    return [...events, ...deleted];
  });
}
