/** Finds out what the fields are that nobody has described, from the values that a run reads. */
import type { FieldDescriptions } from '../file/sync-file.js';
import type { FieldScalar, FieldValue } from '../source/source-run.js';

const FACET_CHARACTERS_MAX = 64;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
/** Names of fields that count as titles. */
const TITLE = /^(?:title|name|headline|label|subject)$/i;

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
  private readonly fields = new Map<string, Met>();

  meet(fields: Readonly<Record<string, FieldValue>>): void {
    for (const [name, value] of Object.entries(fields)) {
      const met = this.met(name);
      met.isMany ||= Array.isArray(value);
      for (const scalar of Array.isArray(value) ? (value as readonly FieldScalar[]) : [value as FieldScalar])
        add(met, scalar);
    }
  }

  /** Adds what was known of records that were not met. */
  include(known: KnownKinds): void {
    for (const [name, before] of Object.entries(known)) {
      const met = this.met(name);
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

  /** Returns the fields, sorted by name. A field that had both text and numbers is text. */
  described(): FieldDescriptions {
    const names = [...this.fields.keys()].sort();
    const searchable: { name: string; weight: number }[] = [];
    const facets: { name: string; type: 'string' | 'number' | 'boolean' | 'date'; cardinality: 'Single' | 'Many' }[] =
      [];
    for (const name of names) {
      const met = this.fields.get(name);
      if (met === undefined) continue;
      const cardinality = met.isMany ? 'Many' : 'Single';
      if (met.isString && met.isDate && !met.isNumber) facets.push({ name, type: 'date', cardinality });
      else if (met.isString) {
        searchable.push({ name, weight: TITLE.test(name) ? 4 : 1 });
        if (met.isMany && met.isShort) facets.push({ name, type: 'string', cardinality });
      } else facets.push({ name, type: met.isNumber ? 'number' : 'boolean', cardinality });
    }
    return { searchable_fields: searchable, facets, resources: [] };
  }

  private met(name: string): Met {
    const before = this.fields.get(name);
    if (before !== undefined) return before;
    const none = { isString: false, isNumber: false, isBoolean: false, isDate: true, isShort: true, isMany: false };
    this.fields.set(name, none);
    return none;
  }
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
