/** Choices for each field before a list is created, preset with what the service would infer. */
import { FIELD_KINDS, type FacetType } from '../../../../fields/index.js';
import { text } from '../../messages/index.js';
import { facetType } from '../../ui/labels.js';
import type { FileSample } from './file-sample.js';

/** Numbers with eight digits or more. */
const CODES_FROM = 10_000_000;

export type FacetChoice = '' | FacetType;

export interface FieldChoice {
  readonly name: string;
  readonly example: unknown;
  readonly searchable: boolean;
  readonly facet: FacetChoice;
  /** What the field is if there is no choice: a place, or a link to a file. */
  readonly special: string | undefined;
}

const KINDS: readonly FacetChoice[] = ['', ...FIELD_KINDS.map(({ type }) => type)];
export const FACET_TYPES = KINDS.map((value) => ({ value, label: facetType(value === '' ? 'none' : value) }));

export function fieldChoices({ records, definition }: FileSample): FieldChoice[] {
  const { searchable_fields, facets, resources, location_field } = definition;
  const names = new Set([
    ...searchable_fields.map(({ name }) => name),
    ...records.flatMap(({ fields }) => Object.keys(fields)),
  ]);
  return [...names].map((name) => {
    const values = records.map(({ fields }) => fields[name]).filter((value) => value !== undefined && value !== null);
    const resource = resources.find((each) => each.name === name);
    return {
      name,
      example: values[0],
      searchable: searchable_fields.some((each) => each.name === name) || areCodes(values),
      facet: facets.find((each) => each.name === name)?.type ?? '',
      special: name === location_field ? text.fields.place : resource && text.fields.link(resource.kind),
    };
  });
}

/**
 * True for numbers that identify things, such as those of books, goods and phones; quantities are hardly ever that
 * large.
 */
function areCodes(values: readonly unknown[]): boolean {
  const isCode = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= CODES_FROM;
  return values.length > 0 && values.every(isCode);
}

/** Converts the choices into the body of a new list. A field with arrays stays one with several values. */
export function definitionOf(choices: readonly FieldChoice[], { definition }: FileSample) {
  const many = new Set(definition.facets.filter(({ cardinality }) => cardinality === 'Many').map(({ name }) => name));
  const plain = choices.filter(({ special }) => special === undefined);
  return {
    searchable_fields: plain.filter(({ searchable }) => searchable).map(({ name }) => ({ name })),
    facets: plain.flatMap(({ name, facet }) =>
      facet === ''
        ? []
        : [{ name, type: facet, cardinality: many.has(name) ? ('Many' as const) : ('Single' as const) }],
    ),
    resources: definition.resources,
    location_field: definition.location_field,
  };
}
