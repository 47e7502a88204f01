/**
 * Layout of a field definition in the kernel: the text field and the column of each field.
 *
 * Columns of a version, in order: one per facet (in definition order), `@name`, `@created`, `@modified`, and
 * `@location` if the definition names a location field. Text fields are the searchable fields in definition order.
 *
 * Pure functions; a layout is immutable and may be shared.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import { fieldKind } from '../../fields/index.js';
import type { SegmentSchema } from '../../../native-bindings/index.js';

export const NAME_COLUMN = '@name';
export const CREATED_COLUMN = '@created';
export const MODIFIED_COLUMN = '@modified';
export const LOCATION_COLUMN = '@location';

/** The kernel's maximum of the weight units of a text field. */
export const WEIGHT_UNITS_MAX = 1000;
/** Maximum relative error of a ratio of weights that is expressed by small integers. */
const WEIGHT_RELATIVE_ERROR_MAX = 0.01;

export interface KernelLayout {
  readonly schema: SegmentSchema;
  /** Names of the text fields, in the kernel's order; `name` is the record's name. */
  readonly textFields: readonly string[];
  /** Returns the number of a facet's column, or of one of the `@…` columns above. */
  column(name: string): number | undefined;
  /** Returns the number of a searchable field. */
  textField(name: string): number | undefined;
}

export function kernelLayout(definition: FieldDefinition): KernelLayout {
  const units = weightUnits(definition.searchable_fields.map((field) => field.weight));
  const textFields = definition.searchable_fields.map((field, index) => ({
    name: field.name,
    weightUnits: units[index] ?? 1,
  }));
  const columns: SegmentSchema['columns'][number][] = definition.facets.map((facet) => ({
    name: facet.name,
    type: fieldKind(facet.type).column,
    many: facet.cardinality === 'Many',
  }));
  columns.push(
    { name: NAME_COLUMN, type: 'string', many: false },
    { name: CREATED_COLUMN, type: 'date', many: false },
    { name: MODIFIED_COLUMN, type: 'date', many: false },
  );
  if (definition.location_field !== null) columns.push({ name: LOCATION_COLUMN, type: 'location', many: false });

  const columnNumbers = new Map(columns.map((column, index) => [column.name, index]));
  const textFieldNumbers = new Map(textFields.map((field, index) => [field.name, index]));
  return Object.freeze({
    schema: { textFields, columns, ...(definition.language === undefined ? {} : { language: definition.language }) },
    textFields: textFields.map((field) => field.name),
    column: (name: string) => columnNumbers.get(name),
    textField: (name: string) => textFieldNumbers.get(name),
  });
}

/**
 * Returns the smallest integers, each in 1..1000, whose ratios are those of the weights within 1 %. If no such integers
 * exist (weights more than 1000 apart), the greatest weight becomes 1000 and the others are rounded, at least 1.
 */
export function weightUnits(weights: readonly number[]): number[] {
  if (weights.length === 0) return [];
  const smallest = Math.min(...weights);
  const greatest = Math.max(...weights);
  for (let smallestUnits = 1; (greatest / smallest) * smallestUnits <= WEIGHT_UNITS_MAX + 0.5; ++smallestUnits) {
    const units = weights.map((weight) => Math.round((weight / smallest) * smallestUnits));
    const close = units.every((unit, index) => {
      const exact = ((weights[index] ?? 0) / smallest) * smallestUnits;
      return unit <= WEIGHT_UNITS_MAX && Math.abs(unit - exact) <= exact * WEIGHT_RELATIVE_ERROR_MAX;
    });
    if (close) return units;
  }
  return weights.map((weight) => Math.max(1, Math.round((weight / greatest) * WEIGHT_UNITS_MAX)));
}
