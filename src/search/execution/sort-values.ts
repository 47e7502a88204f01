/** Values by which records of different lists are compared. They equal those in the kernel's columns. */
import { fieldKind, type FacetType } from '../../fields/index.js';
import { foldFacetValue } from '../../platform/index.js';
import type { RecordParts } from '../../records/index.js';
import { facetsByName } from '../filter/filter-resolver.js';
import type { SortKey } from '../options/order-by.js';
import type { ListContext } from './list-context.js';

/** Undefined if the record has no value. Strings are folded keys in UTF-8, whose byte order is the kernel's order. */
export type SortValue = number | Buffer | undefined;

export function recordSortValues(
  order: readonly SortKey[],
  list: ListContext,
  parts: RecordParts | undefined,
  distance: number,
): SortValue[] {
  let fields: Readonly<Record<string, unknown>> | undefined;
  return order.map((key) => {
    if (key.by === 'distance') return Number.isNaN(distance) ? undefined : distance;
    if (parts === undefined) return undefined;
    if (key.column.startsWith('@')) {
      return recordMember(key.column, parts);
    }
    const facet = facetsByName(list.settings.definition).get(key.column);
    if (facet?.cardinality !== 'Single') return undefined;
    fields ??= parseObject(parts.fieldsJson);
    return fieldValue(Object.hasOwn(fields, key.column) ? fields[key.column] : undefined, facet.type);
  });
}

/**
 * Returns a key that is equal for records of any lists with equal values of a facet of this name and type. Undefined if
 * the record has no value.
 */
export function distinctKey(name: string, list: ListContext, parts: RecordParts | undefined): string | undefined {
  const facet = facetsByName(list.settings.definition).get(name);
  if (facet?.cardinality !== 'Single' || parts === undefined) return undefined;
  const fields = parseObject(parts.fieldsJson);
  const value = fieldValue(Object.hasOwn(fields, name) ? fields[name] : undefined, facet.type);
  return value === undefined ? undefined : `${facet.type}:${String(value)}`;
}

/** Compares two values. Missing values come last in either direction; numbers come before strings. */
export function compareSortValues(left: SortValue, right: SortValue, descending: boolean): number {
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  if (typeof left === 'number' && typeof right === 'number') return descending ? right - left : left - right;
  if (typeof left === 'number' || typeof right === 'number') return typeof left === 'number' ? -1 : 1;
  return descending ? Buffer.compare(right, left) : Buffer.compare(left, right);
}

function recordMember(column: string, parts: RecordParts): SortValue {
  if (column === '@name') return fieldValue(parts.name, 'string');
  return column === '@created' ? parts.createdMs : parts.modifiedMs;
}

/**
 * Returns the column value of a field. Facet values are arrays; a Single facet's array has one value. Several values,
 * stored before the facet became Single, count as none.
 */
function fieldValue(value: unknown, type: FacetType): SortValue {
  if (Array.isArray(value) && value.length > 1) return undefined;
  const held = fieldKind(type).columnValue(Array.isArray(value) ? value[0] : value);
  return typeof held === 'string' ? Buffer.from(foldFacetValue(held)) : held;
}

function parseObject(json: string): Readonly<Record<string, unknown>> {
  return JSON.parse(json) as Readonly<Record<string, unknown>>;
}
