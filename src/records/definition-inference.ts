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
import type { Facet, FacetType, FieldDefinition, Resource, ResourceKind, SearchableField } from '../catalog/index.js';
import { isPoint, parseDate } from './field-values.js';

/** Records that are looked at. */
export const INFERENCE_RECORDS_MAX = 1000;
/** Longer strings are texts, not values to filter by. */
const FACET_VALUE_CHARACTERS_MAX = 64;
/** Strings repeat where there are at least this many values for each distinct one. */
const FACET_REPETITION_MIN = 2;
/** Fields that are looked at; a record with thousands of members is no model of a list. */
const INFERENCE_FIELDS_MAX = 256;

const RESOURCE_ENDINGS: Readonly<Record<string, ResourceKind>> = {
  pdf: 'document',
  jpg: 'image',
  jpeg: 'image',
  png: 'image',
  gif: 'image',
  webp: 'image',
  avif: 'image',
  mp4: 'video',
  webm: 'video',
  mov: 'video',
  mp3: 'audio',
  wav: 'audio',
  ogg: 'audio',
  flac: 'audio',
};

export interface InferenceSample {
  readonly named: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly flat: boolean;
}

class FieldObservations {
  readonly kinds = new Set<'string' | 'number' | 'boolean' | 'point' | 'other'>();
  readonly distinct = new Set<string>();
  readonly resourceKinds = new Set<ResourceKind | undefined>();
  many = false;
  allDates = true;
  longest = 0;
  values = 0;

  add(raw: unknown): void {
    if (Array.isArray(raw)) {
      this.many = true;
      for (const value of raw) this.addValue(value);
    } else {
      this.addValue(raw);
    }
  }

  private addValue(value: unknown): void {
    this.values += 1;
    switch (typeof value) {
      case 'string':
        this.kinds.add('string');
        this.distinct.add(value);
        this.longest = Math.max(this.longest, value.length);
        this.allDates &&= parseDate(value) !== undefined;
        this.resourceKinds.add(resourceKindOf(value));
        return;
      case 'number':
        this.kinds.add('number');
        return;
      case 'boolean':
        this.kinds.add('boolean');
        return;
      default:
        this.kinds.add(isPoint(value) ? 'point' : 'other');
    }
  }

  /** The only kind that was seen, or undefined. */
  kind(): 'string' | 'number' | 'boolean' | 'point' | 'other' | undefined {
    return this.kinds.size === 1 ? [...this.kinds][0] : undefined;
  }

  resourceKind(): ResourceKind | undefined {
    return !this.many && this.kind() === 'string' && this.resourceKinds.size === 1
      ? [...this.resourceKinds][0]
      : undefined;
  }

  facetType(): FacetType | undefined {
    switch (this.kind()) {
      case 'number':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'string':
        if (this.allDates) return 'date';
        return this.longest <= FACET_VALUE_CHARACTERS_MAX && (this.many || this.repeats()) ? 'string' : undefined;
      case 'point':
      case 'other':
      case undefined:
        return undefined;
    }
  }

  private repeats(): boolean {
    return this.values >= this.distinct.size * FACET_REPETITION_MIN;
  }
}

function resourceKindOf(text: string): ResourceKind | undefined {
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) return undefined;
  const ending = /\.([a-z0-9]{2,4})$/iu.exec(new URL(text).pathname)?.[1];
  return ending === undefined ? undefined : RESOURCE_ENDINGS[ending.toLowerCase()];
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
    const resourceKind = seen.resourceKind();
    const facetType = seen.facetType();
    if (resourceKind !== undefined) resources.push({ name, kind: resourceKind });
    else if (seen.kind() === 'point' && !seen.many) locationField ??= name;
    else {
      if (facetType !== undefined) facets.push({ name, type: facetType, cardinality: seen.many ? 'Many' : 'Single' });
      if (seen.kinds.has('string') && facetType !== 'date' && !seen.kinds.has('other') && !seen.kinds.has('point')) {
        searchable.push({ name, weight: 1 });
      }
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
