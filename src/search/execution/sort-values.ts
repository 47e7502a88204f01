/** Values by which records of different lists are compared. They equal those in the kernel's columns. */
import { fieldKind, type FacetType } from '../../fields/index.js';
import { foldFacetValue } from '../../platform/index.js';
import type { RecordParts } from '../../records/index.js';
import { facetsByName } from '../filter/filter-resolver.js';
import type { SortKey } from '../options/order-by.js';
import type { ListContext } from './list-context.js';

/** Undefined if the record has no value. Strings are folded keys in UTF-8, whose byte order is the kernel's order. */
export type SortValue = number | Buffer | undefined;

/** Returns the value of a facet, or of a column of all records (`@name`). */
export type ValueOf = (column: string) => SortValue;

/** Returns the values of a record as it is stored. */
export function storedValues(list: ListContext, parts: RecordParts): ValueOf {
  let fields: Readonly<Record<string, unknown>> | undefined;
  return (column) => {
    if (column.startsWith('@')) return recordMember(column, parts);
    const facet = facetsByName(list.settings.definition).get(column);
    if (facet?.cardinality !== 'Single') return undefined;
    fields ??= parseObject(parts.fieldsJson);
    return fieldValue(Object.hasOwn(fields, column) ? fields[column] : undefined, facet.type);
  };
}

export function recordSortValues(order: readonly SortKey[], valueOf: ValueOf, distance: number): SortValue[] {
  return order.map((key) => {
    if (key.by === 'distance') return Number.isNaN(distance) ? undefined : distance;
    return valueOf(key.column);
  });
}

/**
 * Returns a key that is equal for records of any lists with equal values of a facet of this name and type. Undefined if
 * the record has no value.
 */
export function distinctKey(name: string, list: ListContext, valueOf: ValueOf): string | undefined {
  const facet = facetsByName(list.settings.definition).get(name);
  if (facet?.cardinality !== 'Single') return undefined;
  const value = valueOf(name);
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
