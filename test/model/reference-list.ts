/** Reference model of a list, written from the documentation: plain arrays, searched by a scan of all records. */
import { holds, type Filter } from './reference-filter.js';
import {
  capturedAs,
  compareKeys,
  converted,
  fits,
  isPoint,
  keyOf,
  membersOf,
  metresBetween,
  wellFormedValue,
  type Definition,
  type FacetDefinition,
  type Key,
  type Point,
  type Scalar,
  type Value,
} from './reference-values.js';
import { asKept, isDirection, nearRecords, type GivenVectors, type Near, type Vector } from './reference-vectors.js';
import { RecordTimes } from './record-times.js';
import { findsWords, partsOf, wordsOf, type QueryRule, type SynonymRule, type WordQuery } from './reference-words.js';

export type Fields = Readonly<Record<string, Value | null>>;
export interface ModelRecord {
  readonly name: string;
  /** Fields that have a value. */
  readonly fields: ReadonlyMap<string, Value>;
  readonly vectors: readonly Vector[];
  /** Identifies the record within its list; a rename does not change it. */
  readonly serial: number;
  /** Numbers of the operations that created it and last wrote it. */
  readonly created: number;
  readonly modified: number;
}
export interface SortKey {
  /** A Single facet, or one of `name`, `created_utc`, `modified_utc` and `distance`. */
  readonly by: string;
  readonly direction: 'asc' | 'desc';
  /** True if written in backticks, which makes it a facet of that name if there is one. */
  readonly quoted?: boolean;
}
/** A rectangle of a map, in degrees. If `west` is greater than `east`, it crosses the antimeridian. */
export interface Box {
  readonly south: number;
  readonly west: number;
  readonly north: number;
  readonly east: number;
}

export interface ModelSearch {
  readonly filter?: Filter;
  readonly query?: WordQuery;
  readonly radius?: { readonly centre: Point; readonly metres: number };
  readonly box?: Box;
  /** True if the search has a vector that is used. */
  readonly isOfVector?: boolean;
  /** The only fields in which the words are looked for. */
  readonly searchFields?: readonly string[];
}
/** Source of vectors: `own` are sent with records, `texts` are made of the records' texts. */
export type Model = 'own' | 'texts' | null;

export class ReferenceList {
  records: ModelRecord[] = [];
  rules: readonly SynonymRule[] = [];
  queryRules: readonly QueryRule[] = [];
  /** Old versions by number, each as it was when the next version was made. */
  readonly frozen = new Map<number, ReferenceList>();
  version = 1;
  /** Length of the list's vectors; undefined until the first vector is written. */
  dimensions: number | undefined;
  /** Number of the current operation. */
  now = 0;
  /** Creation and modification times that the service last reported. */
  times: RecordTimes = new RecordTimes();
  #serials = 0;

  constructor(
    public definition: Definition,
    public model: Model = null,
  ) {}

  /** Returns a copy of the current state, for a frozen version or a cloned list. */
  copy(): ReferenceList {
    const copy = new ReferenceList(this.definition, this.model);
    copy.records = [...this.records];
    copy.dimensions = this.dimensions;
    copy.rules = this.rules;
    copy.queryRules = this.queryRules;
    copy.now = this.now;
    copy.#serials = this.#serials;
    copy.times = this.times.copy();
    return copy;
  }

  find(name: string): ModelRecord | undefined {
    return this.records.find((record) => record.name === name);
  }

  /**
   * Changes the definition. Records keep their values: a field that becomes a facet becomes an array; one that stops
   * being a facet stays an array only if it has several values.
   */
  redefine(definition: Definition): void {
    const before = this.definition.facets;
    this.definition = definition;
    this.records = this.records.map((record) => {
      const { fields } = record;
      const unwrapped = [...fields].map(([field, value]): [string, Value] => {
        const [only, ...others] = membersOf(value);
        const wasFacet = before.some((facet) => facet.name === field);
        const kept = wasFacet && only !== undefined && others.length === 0 ? only : value;
        return [field, this.#asFacet(field, kept)];
      });
      return { ...record, fields: this.#normalised(Object.fromEntries(unwrapped)) };
    });
  }

  /** Converts a value to the facet's type. A value that does not convert is kept, but searches do not see it. */
  #asFacet(field: string, value: Value): Value {
    const facet = this.facet(field);
    if (facet === undefined || isPoint(value)) return value;
    const values = membersOf(value).map((each) => converted(facet.type, each));
    return fits(facet, values) ? values : value;
  }

  /** True if a write of these values is refused: a facet takes values of its type, and only one if it is Single. */
  refuses(fields: Fields, vectors?: GivenVectors): boolean {
    return this.#refusesVectors(vectors) || this.#refusesFields(fields);
  }

  /** True if the vectors are refused. A list whose model is not `own` refuses even their removal. */
  #refusesVectors(vectors: GivenVectors | undefined): boolean {
    if (vectors === undefined) return false;
    if (this.model !== 'own') return true;
    const length = this.dimensions ?? vectors?.[0]?.length;
    return vectors?.some((vector) => vector.length !== length || !isDirection(vector)) ?? false;
  }

  #refusesFields(fields: Fields): boolean {
    return this.definition.facets.some((facet) => {
      const value = Object.hasOwn(fields, facet.name) ? fields[facet.name] : null;
      return value !== null && value !== undefined && !fits(facet, value);
    });
  }

  /** Creates or replaces a record; without `given`, its vectors are removed. Returns true if the record is new. */
  put(name: string, fields: Fields, given?: GivenVectors): boolean {
    const at = this.records.findIndex((record) => record.name === name);
    const vectors = (given ?? []).map(asKept);
    this.dimensions ??= vectors[0]?.length;
    const { serial = (this.#serials += 1), created = this.now } = this.records[at] ?? {};
    const record = { name, fields: this.#normalised(fields), vectors, serial, created, modified: this.now };
    if (at < 0) this.records.push(record);
    else this.records[at] = record;
    return at < 0;
  }

  patch(name: string, fields: Fields, given?: GivenVectors): void {
    const record = this.find(name);
    const before = Object.fromEntries(record?.fields ?? []);
    this.put(name, { ...before, ...fields }, given === undefined ? record?.vectors : given);
  }

  rename(from: string, to: string): void {
    this.records = this.records.map((record) => (record.name === from ? { ...record, name: to } : record));
  }

  delete(name: string): void {
    this.records = this.records.filter((record) => record.name !== name);
  }

  /**
   * Returns the matching records. `near` describes the vector that is searched for; undefined if the list cannot
   * compare it.
   */
  search({ filter, query, radius, box, isOfVector = false, searchFields }: ModelSearch, near?: Near): ModelRecord[] {
    const ruled = query && this.ruled(query);
    const passing = this.records.filter((record) => {
      if (filter !== undefined && !holds(filter, (field) => this.#facetOf(record, field))) return false;
      if (radius !== undefined && !(this.distance(record, radius.centre) <= radius.metres)) return false;
      if (box !== undefined && !isInBox(this.placeOf(record), box)) return false;
      return ruled?.filters.every((part) => holds(part, (field) => this.#facetOf(record, field))) ?? true;
    });
    if (ruled === undefined && near === undefined) return isOfVector ? [] : passing;
    const hasWords = ruled !== undefined && ruled.query.words.length > 0;
    if (!hasWords && near !== undefined) return [...nearRecords(passing, near, false)];
    const found = (record: ModelRecord) =>
      ruled === undefined || findsWords(ruled.query, this.#textsOf(record, searchFields), this.rules);
    // With match `all`, vectors add no records.
    const besides = near === undefined || ruled?.query.match === 'all' ? undefined : nearRecords(passing, near, true);
    return passing.filter((record) => found(record) || besides?.has(record) === true);
  }

  /**
   * Applies the query rules in order, each to what the previous ones left. A rule of a field that is no longer a facet
   * does nothing.
   */
  ruled(query: WordQuery): { readonly query: WordQuery; readonly filters: readonly Filter[] } {
    let { words } = query;
    const filters: Filter[] = [];
    for (const rule of this.queryRules) {
      const { word, field, keep } = rule;
      const facet = this.facet(field);
      const captures = rule.captures !== undefined;
      const at = words.findIndex((each, index) => each === word && (!captures || index + 1 < words.length));
      const values = facet && at >= 0 ? valuesOfRule(rule, facet, words[at + 1] ?? '') : undefined;
      if (values === undefined) continue;
      filters.push({ kind: 'in', field, values });
      if (!keep) words = words.toSpliced(at, captures ? 2 : 1);
    }
    return { query: { ...query, words }, filters };
  }

  /** Returns the distance in metres; NaN if the record has no point. */
  distance(record: ModelRecord, centre: Point): number {
    const place = this.placeOf(record);
    return place === undefined ? NaN : metresBetween(centre, place);
  }

  placeOf(record: ModelRecord): Point | undefined {
    const value = this.definition.location === null ? undefined : record.fields.get(this.definition.location);
    return isPoint(value) ? value : undefined;
  }

  facet(name: string): FacetDefinition | undefined {
    return this.definition.facets.find((facet) => facet.name === name);
  }

  /** Returns the record as events have it. */
  told(name: string, id: string): { readonly id: string; readonly name: string; readonly fields: object } {
    return { id, name, fields: Object.fromEntries(this.find(name)?.fields ?? []) };
  }

  /** Sets the record back to this earlier state. */
  restore(record: ModelRecord): void {
    this.records = this.records.map((each) => (each.name === record.name ? record : each));
  }

  /** Forgets all times, after writes of unknown outcome: every record may be as new as the newest. */
  forgetTimes(): void {
    this.times = new RecordTimes();
    this.records = this.records.map((record) => ({ ...record, created: this.now, modified: this.now }));
  }

  /** Returns the distinct keys of the facet's values. */
  keys(record: ModelRecord, facet: FacetDefinition): Key[] {
    return [...new Set(this.#valuesOf(record, facet).map((value) => keyOf(facet.type, value)))];
  }

  /** Returns the sort keys of the record; undefined for each missing value. */
  sortValues(record: ModelRecord, order: readonly SortKey[]): (Key | undefined)[] {
    return order.map(({ by }) => {
      if (by === 'name') return keyOf('string', record.name);
      if (by === 'created_utc' || by === 'modified_utc') return this.times.of(record)?.[by];
      const facet = this.facet(by);
      return facet === undefined ? undefined : this.keys(record, facet)[0];
    });
  }

  #facetOf(record: ModelRecord, field: string) {
    const facet = this.facet(field);
    // In a search of a group, a list without the facet counts as having no values of it.
    return { facet, values: facet === undefined ? [] : this.#valuesOf(record, facet) };
  }

  #valuesOf(record: ModelRecord, facet: FacetDefinition) {
    const value = record.fields.get(facet.name);
    if (value === undefined || (facet.cardinality === 'Single' && membersOf(value).length > 1)) return [];
    // Of several values, only those that fit are visible.
    return membersOf(value).filter((each) => fits(facet, each));
  }

  #textsOf(record: ModelRecord, wanted: readonly string[] = this.definition.searchable): string[][] {
    const fields = this.definition.searchable.filter((name) => wanted.includes(name));
    return fields.flatMap((name) => {
      const values = name === 'name' ? [record.name] : membersOf(record.fields.get(name));
      const words = values.map((value) => wordsOf(String(value)));
      return [...words, ...words.flat().map(partsOf)];
    });
  }

  /** Makes facet values arrays, however they were sent, and drops fields without a value. */
  #normalised(fields: Fields): Map<string, Value> {
    const kept = Object.entries(fields).flatMap(([name, value]): [string, Value][] => {
      if (value === null || (Array.isArray(value) && value.length === 0)) return [];
      const facet = this.facet(name) !== undefined && !isPoint(value);
      const whole = wellFormedValue(value);
      return [[name, facet ? membersOf(whole) : whole]];
    });
    return new Map(kept);
  }
}

/** Returns the filter values of a rule; undefined if the captured word is no value of the facet. */
function valuesOfRule({ captures, value }: QueryRule, facet: FacetDefinition, word: string): Scalar[] | undefined {
  if (captures === undefined) return [value];
  const captured = capturedAs(facet.type, word);
  if (captured === undefined) return undefined;
  return captures === 'alone' ? [captured] : [captured, value];
}

/** Turns the globe until the place is in the box, or not. */
function isInBox(place: Point | undefined, { south, west, north, east }: Box): boolean {
  if (place === undefined || place.latitude < south || place.latitude > north) return false;
  const end = east < west ? east + 360 : east;
  return [-720, -360, 0, 360, 720].some((turn) => place.longitude + turn >= west && place.longitude + turn <= end);
}

/** Compares sort keys. Missing values come last in either direction. */
export function compareRows(order: readonly SortKey[], left: readonly (Key | undefined)[], right: typeof left): number {
  for (const [at, { direction }] of order.entries()) {
    const [one, other] = [left[at], right[at]];
    if (one === undefined && other === undefined) continue;
    if (one === undefined) return 1;
    if (other === undefined) return -1;
    const compared = compareKeys(one, other);
    if (compared !== 0) return direction === 'asc' ? compared : -compared;
  }
  return 0;
}
