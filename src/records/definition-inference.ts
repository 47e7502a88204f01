/**
 * The field definition of a list that was created without one, from its first records:
 *
 *   numbers, booleans, ISO dates        facet of that type
 *   strings                             searchable; also a string facet where they are short and repeat
 *   arrays                              the facet is Many; an array of strings is searchable as well
 *   URLs that end as files do           resource, of the kind that the ending says
 *   {"latitude", "longitude"}           the first such field is the location field
 *   values of several types             searchable
 *
 * The record's name is searchable as `name` unless every name was made by the service. Pure functions.
 */
import type { Facet, FieldDefinition, Resource, SearchableField } from '../catalog/index.js';
import {
  FIELD_KINDS,
  isPoint,
  resourceKindOf,
  type FacetType,
  type FieldKind,
  type ResourceKind,
} from '../fields/index.js';

/** Records that are looked at. */
export const INFERENCE_RECORDS_MAX = 1000;
/** Fields that are looked at; a record with thousands of members is no model of a list. */
const INFERENCE_FIELDS_MAX = 256;

export interface InferenceSample {
  readonly named: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly flat: boolean;
}

/** The more particular first: a date is a text, too. */
const INFERRED_KINDS = FIELD_KINDS.flatMap(({ type, inference }: FieldKind<FacetType>) =>
  inference === undefined ? [] : [{ type, inference }],
).reverse();

class FieldObservations {
  /** Those that recognised every value so far. */
  private candidates: typeof INFERRED_KINDS = INFERRED_KINDS;
  private readonly resourceKinds = new Set<ResourceKind | undefined>();
  private readonly distinctTexts = new Set<string>();
  private allPoints = true;
  private allScalars = true;
  private hasText = false;
  private longestText = 0;
  private count = 0;
  many = false;

  add(raw: unknown): void {
    if (Array.isArray(raw)) {
      this.many = true;
      for (const value of raw) this.addValue(value);
    } else {
      this.addValue(raw);
    }
  }

  private addValue(value: unknown): void {
    this.count += 1;
    this.candidates = this.candidates.every((kind) => kind.inference.recognises(value))
      ? this.candidates
      : this.candidates.filter((kind) => kind.inference.recognises(value));
    this.allPoints &&= isPoint(value);
    this.allScalars &&= typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (typeof value !== 'string') {
      this.resourceKinds.add(undefined);
      return;
    }
    this.hasText = true;
    this.distinctTexts.add(value);
    this.longestText = Math.max(this.longestText, value.length);
    this.resourceKinds.add(resourceKindOf(value));
  }

  /** One point a record. */
  get isLocation(): boolean {
    return this.allPoints && !this.many;
  }

  get resourceKind(): ResourceKind | undefined {
    return !this.many && this.resourceKinds.size === 1 ? [...this.resourceKinds][0] : undefined;
  }

  get facetType(): FacetType | undefined {
    const [kind] = this.candidates;
    const { many, count, longestText } = this;
    const seen = { many, count, longestText, distinctTexts: this.distinctTexts.size };
    return kind?.inference.isFacet(seen) === true ? kind.type : undefined;
  }

  /** Texts, or texts among numbers and booleans. */
  get isSearchable(): boolean {
    const [kind] = this.candidates;
    return this.hasText && this.allScalars && (kind === undefined || kind.inference.isSearchable);
  }
}

export function inferDefinition(samples: readonly InferenceSample[]): FieldDefinition {
  const observations = new Map<string, FieldObservations>();
  for (const sample of samples.slice(0, INFERENCE_RECORDS_MAX)) observe(sample, observations);

  const searchable: SearchableField[] = [];
  const facets: Facet[] = [];
  const resources: Resource[] = [];
  let locationField: string | null = null;
  if (samples.some((sample) => sample.named)) searchable.push({ name: 'name', weight: 1 });
  for (const [name, seen] of observations) {
    const { resourceKind, facetType } = seen;
    if (resourceKind !== undefined) resources.push({ name, kind: resourceKind });
    else if (seen.isLocation) locationField ??= name;
    else {
      if (facetType !== undefined) facets.push({ name, type: facetType, cardinality: seen.many ? 'Many' : 'Single' });
      if (seen.isSearchable) searchable.push({ name, weight: 1 });
    }
  }
  return { searchable_fields: searchable, facets, resources, location_field: locationField, inferred: 'yes' };
}

function observe(sample: InferenceSample, observations: Map<string, FieldObservations>): void {
  for (const [name, value] of Object.entries(sample.fields)) {
    // A field called `name` would share its name with the record's own, so it is never part of an inferred definition.
    if (name === 'name' || value === null || value === undefined || (Array.isArray(value) && value.length === 0))
      continue;
    let seen = observations.get(name);
    if (seen === undefined) {
      if (observations.size >= INFERENCE_FIELDS_MAX) continue;
      seen = new FieldObservations();
      observations.set(name, seen);
    }
    seen.add(value);
  }
}
