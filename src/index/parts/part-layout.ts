/**
 * Layout in the kernel of pages of documents, and of passages of recordings, which count as pages: they are documents
 * of an index of their own (docs/decisions/0082-parts-of-a-record.md). Each refers to its record and says which page it
 * is.
 *
 * Pure functions.
 */
import type { SegmentSchema } from '../../../native-bindings/index.js';
import type { FieldDefinition } from '../../catalog/index.js';

/** Columns and text field in the order that the kernel expects (kernel/sources/part_source.h). */
export const PART_RECORD_COLUMN = 0;
export const PART_PLACE_COLUMN = 1;
export const PART_TEXT_FIELD = 0;
const PART_TEXT_FIELDS: readonly string[] = ['text'];

/**
 * The place of a page is the position of its field among the definition's resources times this number, plus the page
 * number.
 */
const PAGES_A_FIELD = 2 ** 20;
/** Greater page numbers and field positions have no place. */
const PAGE_MAX = PAGES_A_FIELD - 1;
const RESOURCE_FIELDS_MAX = 2 ** 12;

export interface PagePlace {
  /** Name of the resource field. */
  readonly field: string;
  /** Page number, from 1. */
  readonly page: number;
}

export function partSchema({ language }: Pick<FieldDefinition, 'language'>): SegmentSchema {
  return {
    ...(language === undefined ? {} : { language }),
    textFields: PART_TEXT_FIELDS.map((name) => ({ name, weightUnits: 1 })),
    columns: [
      { name: 'record', type: 'number', many: false },
      { name: 'place', type: 'number', many: false },
    ],
  };
}

/** Undefined if the field is not a resource of the definition, or the page number is out of range. */
export function placeOf(
  { resources }: Pick<FieldDefinition, 'resources'>,
  { field, page }: PagePlace,
): number | undefined {
  const position = resources.findIndex(({ name }) => name === field);
  if (position < 0 || position >= RESOURCE_FIELDS_MAX) return undefined;
  if (!Number.isSafeInteger(page) || page < 1 || page > PAGE_MAX) return undefined;
  return position * PAGES_A_FIELD + page;
}

/**
 * Returns the range of the places of all pages of a field; undefined if the field is not a resource of the definition.
 */
export function placesOf(
  definition: Pick<FieldDefinition, 'resources'>,
  field: string,
): { readonly first: number; readonly last: number } | undefined {
  const first = placeOf(definition, { field, page: 1 });
  return first === undefined ? undefined : { first, last: first - 1 + PAGE_MAX };
}

/** Undefined if the definition has no such field. */
export function pageAt({ resources }: Pick<FieldDefinition, 'resources'>, place: number): PagePlace | undefined {
  const field = resources[Math.floor(place / PAGES_A_FIELD)]?.name;
  return field === undefined ? undefined : { field, page: place % PAGES_A_FIELD };
}
