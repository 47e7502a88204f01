/** Validates field definitions from clients as a whole, and converts them to the catalogue's form. Pure functions. */
import type { Facet, FieldDefinition, Resource, SearchableField } from '../../catalog/index.js';
import { FIELDS_PER_LIST_MAX, ServiceError, type ErrorPlace } from '../../platform/index.js';
import { newFieldNameFault } from './schemas.js';

const WEIGHT_DEFAULT = 1;
/**
 * Member of every record rather than a field: flat records have no other name, and as a searchable field it stands for
 * the record's name.
 */
export const RECORD_NAME = 'name';

export interface DefinitionInput {
  readonly searchable_fields?: readonly { readonly name: string; readonly weight?: number }[];
  readonly facets?: readonly {
    readonly name: string;
    readonly type: Facet['type'];
    readonly cardinality?: Facet['cardinality'];
  }[];
  readonly resources?: readonly Resource[];
  readonly location_field?: string | null;
  readonly language?: string;
}

/** Returns the definition of a new list. Without any field it is `pending`: the first records determine it. */
export function newDefinition(input: DefinitionInput): FieldDefinition {
  const definition = merged(EMPTY, input);
  const isEmpty = fieldCount(definition) === 0;
  return { ...definition, inferred: isEmpty ? 'pending' : 'no' };
}

/**
 * Returns the definition with the given members replaced; the same object if nothing changes. Throws
 * `invalid-parameter` naming every fault.
 */
export function changedDefinition(before: FieldDefinition, input: DefinitionInput): FieldDefinition {
  const after = merged(before, input);
  if (!sameFields(before, after)) return { ...after, inferred: 'no' };
  // Stems are part of the index, so another language needs another version, even if the fields are inferred.
  return before.language === after.language ? before : after;
}

/**
 * Checks the names that are not among those of the list. Throws `invalid-parameter`. Not for fields that are taken from
 * records: members of these may be called anything.
 */
export function assertNewFieldNames(input: DefinitionInput, before: FieldDefinition = EMPTY): void {
  const { searchable_fields = [], facets = [], resources = [], location_field = null } = input;
  const known = new Set(
    [...before.searchable_fields, ...before.facets, ...before.resources]
      .map(({ name }) => name)
      .concat(before.location_field ?? []),
  );
  const named = Object.entries({ searchable_fields, facets, resources }).flatMap(([member, fields]) =>
    fields.map(({ name }, position) => ({ name, pointer: `/${member}/${position}/name` })),
  );
  if (location_field !== null) named.push({ name: location_field, pointer: '/location_field' });
  const errors = named.flatMap(({ name, pointer }): ErrorPlace[] => {
    const detail = known.has(name) ? undefined : newFieldNameFault(name);
    return detail === undefined ? [] : [{ pointer, detail }];
  });
  const [first] = errors;
  if (first !== undefined) throw new ServiceError('invalid-parameter', `${first.pointer}: ${first.detail}`, { errors });
}

const EMPTY: FieldDefinition = {
  searchable_fields: [],
  facets: [],
  resources: [],
  location_field: null,
  inferred: 'no',
};

function merged(before: FieldDefinition, input: DefinitionInput): FieldDefinition {
  const after: FieldDefinition = {
    searchable_fields: input.searchable_fields?.map(searchableField) ?? before.searchable_fields,
    facets: input.facets?.map(facet) ?? before.facets,
    resources: input.resources ?? before.resources,
    location_field: input.location_field === undefined ? before.location_field : input.location_field,
    inferred: before.inferred,
    ...languageOf(input.language ?? before.language),
  };
  const faults = [
    ...nameFaults(before, after),
    ...brokenNames(after),
    ...definitionFaults(after),
    ...tooMany(before, after),
  ];
  const [first] = faults;
  if (first !== undefined) throw new ServiceError('invalid-parameter', first.detail, { errors: faults });
  return after;
}

function languageOf(language: string | undefined): { language?: string } {
  return language === undefined ? {} : { language };
}

function searchableField({ name, weight = WEIGHT_DEFAULT }: { name: string; weight?: number }): SearchableField {
  return { name, weight };
}

function facet({ name, type, cardinality = 'Single' }: NonNullable<DefinitionInput['facets']>[number]): Facet {
  return { name, type, cardinality };
}

/** Refuses new fields of this name. A list of an earlier release may have one, and keeps it. */
function nameFaults(before: FieldDefinition, after: FieldDefinition): ErrorPlace[] {
  const isNew = (member: 'facets' | 'resources') => !before[member].some(({ name }) => name === RECORD_NAME);
  const places = (['facets', 'resources'] as const).flatMap((member) => {
    const position = after[member].findIndex(({ name }) => name === RECORD_NAME);
    return position >= 0 && isNew(member) ? [`/${member}/${position}/name`] : [];
  });
  if (after.location_field === RECORD_NAME && before.location_field !== RECORD_NAME) places.push('/location_field');
  const detail =
    "'name' is the name of the record: it can be a searchable field, and can always be sorted by, but cannot be a facet, resource field or location. Give the field another name.";
  return places.map((pointer) => ({ pointer, detail }));
}

/** Refuses names with half of a surrogate pair: stored, they would become other names. */
function brokenNames({ searchable_fields, facets, resources, location_field }: FieldDefinition): ErrorPlace[] {
  const places = Object.entries({ searchable_fields, facets, resources }).flatMap(([member, fields]) =>
    fields.map(({ name }, position) => ({ name, pointer: `/${member}/${position}/name` })),
  );
  if (location_field !== null) places.push({ name: location_field, pointer: '/location_field' });
  return places
    .filter(({ name }) => !name.isWellFormed())
    .map(({ pointer }) => ({ pointer, detail: 'The name of a field is well-formed Unicode.' }));
}

/** Returns faults that the schema of a single member cannot detect. */
function definitionFaults(definition: FieldDefinition): ErrorPlace[] {
  const faults: ErrorPlace[] = [];
  const { facets, searchable_fields, resources, location_field } = definition;
  for (const [member, fields] of [
    ['searchable_fields', searchable_fields],
    ['facets', facets],
    ['resources', resources],
  ] as const) {
    const seen = new Set<string>();
    for (const [position, { name }] of fields.entries()) {
      if (seen.has(name)) {
        faults.push({
          pointer: `/${member}/${position}/name`,
          detail: `The field '${name}' is given twice in ${member}.`,
        });
      }
      seen.add(name);
    }
  }
  const others = new Set([...facets, ...searchable_fields].map(({ name }) => name));
  for (const [position, { name }] of resources.entries()) {
    if (!others.has(name)) continue;
    const detail = `The field '${name}' is a resource field, which holds the URL of a file: it cannot also be a facet or a searchable field.`;
    faults.push({ pointer: `/resources/${position}/name`, detail });
  }
  if (
    location_field !== null &&
    (others.has(location_field) || resources.some(({ name }) => name === location_field))
  ) {
    const detail = `The field '${location_field}' is the location_field, which holds a point: it cannot also be a facet, a searchable field or a resource field.`;
    faults.push({ pointer: '/location_field', detail });
  }
  return faults;
}

/** A list of an earlier release may have more, and keeps them; it only gets no more. */
function tooMany(before: FieldDefinition, after: FieldDefinition): ErrorPlace[] {
  const count = fieldCount(after);
  if (count <= FIELDS_PER_LIST_MAX || count <= fieldCount(before)) return [];
  return [{ pointer: '', detail: `A list can have at most ${FIELDS_PER_LIST_MAX} fields.` }];
}

function fieldCount({ searchable_fields, facets, resources, location_field }: FieldDefinition): number {
  return searchable_fields.length + facets.length + resources.length + (location_field === null ? 0 : 1);
}

function sameFields(a: FieldDefinition, b: FieldDefinition): boolean {
  return (
    a.location_field === b.location_field &&
    sameItems(a.searchable_fields, b.searchable_fields, (x, y) => x.weight === y.weight) &&
    sameItems(a.facets, b.facets, (x, y) => x.type === y.type && x.cardinality === y.cardinality) &&
    sameItems(a.resources, b.resources, (x, y) => x.kind === y.kind)
  );
}

function sameItems<T extends { readonly name: string }>(
  a: readonly T[],
  b: readonly T[],
  same: (x: T, y: T) => boolean,
) {
  return (
    a.length === b.length &&
    a.every((item, position) => {
      const other = b[position];
      return other !== undefined && other.name === item.name && same(item, other);
    })
  );
}
