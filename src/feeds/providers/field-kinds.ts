/** Finds out what the fields are that nobody has described, from the values that a run reads. */
import { FIELDS_PER_LIST_MAX } from '../../platform/index.js';
import type { FieldDescriptions } from '../file/sync-file.js';
import type { FieldScalar, FieldValue } from '../source/source-run.js';

const FACET_CHARACTERS_MAX = 64;
/** Further names are not looked at: an interface may use values as the names of members, and have millions of them. */
const NAMES_MAX = 2000;
/** Among the fields of a list, this is the name of the record: searchable, but never a facet. */
const RECORD_NAME = 'name';
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
/** Names of fields that count as titles. */
const TITLE = /^(?:title|name|display_name|headline|label|subject)$/i;

interface Met {
  isString: boolean;
  isNumber: boolean;
  isBoolean: boolean;
  isDate: boolean;
  isShort: boolean;
  isMany: boolean;
}

/** What is known of fields, by name, in a form that can be kept. */
export type KnownKinds = Readonly<Record<string, Readonly<Met>>>;

export class FieldKinds {
  /** In the order in which they were first met. */
  private readonly fields = new Map<string, Met>();

  meet(fields: Readonly<Record<string, FieldValue>>): void {
    for (const [name, value] of Object.entries(fields)) {
      const met = this.met(name);
      if (met === undefined) continue;
      met.isMany ||= Array.isArray(value);
      for (const scalar of Array.isArray(value) ? (value as readonly FieldScalar[]) : [value as FieldScalar])
        add(met, scalar);
    }
  }

  /**
   * Adds what was known of records that were not met. Their fields come first, as they did in the run that met them: of
   * too many fields, each run would describe others.
   */
  include(known: KnownKinds): void {
    const later = [...this.fields];
    this.fields.clear();
    for (const [name, before] of [...Object.entries(known), ...later]) {
      const met = this.met(name);
      if (met === undefined) continue;
      met.isString ||= before.isString;
      met.isNumber ||= before.isNumber;
      met.isBoolean ||= before.isBoolean;
      met.isDate &&= before.isDate;
      met.isShort &&= before.isShort;
      met.isMany ||= before.isMany;
    }
  }

  known(): KnownKinds {
    return Object.fromEntries([...this.fields].map(([name, met]) => [name, { ...met }]));
  }

  /**
   * Returns the fields, sorted by name, but no more than a list can have: those that were met first. A field that had
   * both text and numbers is text.
   */
  described(): FieldDescriptions {
    const described = this.firstFields().sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      searchable_fields: described.flatMap(({ searchable }) => searchable),
      facets: described.flatMap(({ facets }) => facets),
      resources: [],
    };
  }

  /** True if there are more fields than are described. */
  get areMore(): boolean {
    return this.firstFields().length < this.fields.size;
  }

  private firstFields(): DescribedField[] {
    const first: DescribedField[] = [];
    let left = FIELDS_PER_LIST_MAX;
    for (const [name, met] of this.fields) {
      const field = described(name, met);
      left -= field.searchable.length + field.facets.length;
      if (left < 0) break;
      first.push(field);
    }
    return first;
  }

  /** Returns undefined for a new name if there are too many. */
  private met(name: string): Met | undefined {
    const before = this.fields.get(name);
    if (before !== undefined || this.fields.size >= NAMES_MAX) return before;
    const none = { isString: false, isNumber: false, isBoolean: false, isDate: true, isShort: true, isMany: false };
    this.fields.set(name, none);
    return none;
  }
}

interface DescribedField {
  readonly name: string;
  readonly searchable: FieldDescriptions['searchable_fields'];
  readonly facets: FieldDescriptions['facets'];
}

function described(name: string, met: Met): DescribedField {
  const cardinality = met.isMany ? 'Many' : 'Single';
  const facet = (type: FieldDescriptions['facets'][number]['type']) => [{ name, type, cardinality } as const];
  const searchable = [{ name, weight: TITLE.test(name) ? 4 : 1 }];
  if (name === RECORD_NAME) return { name, searchable, facets: [] };
  if (met.isString && met.isDate && !met.isNumber) return { name, searchable: [], facets: facet('date') };
  if (met.isString) return { name, searchable, facets: met.isMany && met.isShort ? facet('string') : [] };
  return { name, searchable: [], facets: facet(met.isNumber ? 'number' : 'boolean') };
}

function add(met: Met, scalar: FieldScalar): void {
  if (typeof scalar === 'number') met.isNumber = true;
  else if (typeof scalar === 'boolean') met.isBoolean = true;
  else {
    met.isString = true;
    met.isDate &&= DATE.test(scalar);
    met.isShort &&= scalar.length <= FACET_CHARACTERS_MAX;
  }
}
