/** A list as the documents describe it, kept in plain arrays and searched by looking at every record. */
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
  type Definition,
  type FacetDefinition,
  type Key,
  type Point,
  type Scalar,
  type Value,
} from './reference-values.js';
import { asKept, isDirection, nearRecords, type GivenVectors, type Near, type Vector } from './reference-vectors.js';
import { RecordTimes } from './record-times.js';
import { findsWords, wordsOf, type QueryRule, type SynonymRule, type WordQuery } from './reference-words.js';

export type Fields = Readonly<Record<string, Value | null>>;
export interface ModelRecord {
  readonly name: string;
  /** Without those that have no value. */
  readonly fields: ReadonlyMap<string, Value>;
  readonly vectors: readonly Vector[];
  /** No other record has it, whatever both are called. */
  readonly serial: number;
  /** Numbers of the operations that made it and that wrote it last. */
  readonly created: number;
  readonly modified: number;
}
export interface SortKey {
  /** A Single facet, or `name`, `created_utc`, `modified_utc`, `distance` of the record itself. */
  readonly by: string;
  readonly direction: 'asc' | 'desc';
  /** In backticks: a facet of that name, where there is one. */
  readonly quoted?: boolean;
}
export interface ModelSearch {
  readonly filter?: Filter;
  readonly query?: WordQuery;
  readonly radius?: { readonly centre: Point; readonly metres: number };
  /** A vector was sent that is looked for. */
  readonly isOfVector?: boolean;
}
/** `texts`: of vectors of the texts of records. */
export type Model = 'own' | 'texts' | null;

export class ReferenceList {
  records: ModelRecord[] = [];
  rules: readonly SynonymRule[] = [];
  queryRules: readonly QueryRule[] = [];
  /** By number; what they had when the next one was made. */
  readonly frozen = new Map<number, ReferenceList>();
  version = 1;
  /** Of its vectors, since there has been one. */
  dimensions: number | undefined;
  /** Number of the operation that goes on. */
  now = 0;
  /** What the service told last of when its records were made and written. */
  times: RecordTimes = new RecordTimes();
  #serials = 0;

  constructor(
    public definition: Definition,
    public model: Model = null,
  ) {}

  /** As it is now, for a version that is frozen or a copy. */
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

  /** Records keep their values: what is a facet now is an array, and what is none any more is one where it has several. */
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

  /** What says nothing that fits is kept as it is, and no search sees it. */
  #asFacet(field: string, value: Value): Value {
    const facet = this.facet(field);
    if (facet === undefined || isPoint(value)) return value;
    const values = membersOf(value).map((each) => converted(facet.type, each));
    return fits(facet, values) ? values : value;
  }

  /** Whether a write of these is refused: a facet takes values of its type, and one alone where it is Single. */
  refuses(fields: Fields, vectors?: GivenVectors): boolean {
    return this.#refusesVectors(vectors) || this.#refusesFields(fields);
  }

  /** A list whose model is not `own` takes none, nor the removal of any. */
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

  /** True where it is new. Without vectors it has none. */
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

  /** `near`: what is looked for beside the words; undefined where the list cannot compare it. */
  search({ filter, query, radius, isOfVector = false }: ModelSearch, near?: Near): ModelRecord[] {
    const ruled = query && this.ruled(query);
    const passing = this.records.filter((record) => {
      if (filter !== undefined && !holds(filter, (field) => this.#facetOf(record, field))) return false;
      if (radius !== undefined && !(this.distance(record, radius.centre) <= radius.metres)) return false;
      return ruled?.filters.every((part) => holds(part, (field) => this.#facetOf(record, field))) ?? true;
    });
    if (ruled === undefined && near === undefined) return isOfVector ? [] : passing;
    const hasWords = ruled !== undefined && ruled.query.words.length > 0;
    if (!hasWords && near !== undefined) return [...nearRecords(passing, near, false)];
    const found = (record: ModelRecord) =>
      ruled === undefined || findsWords(ruled.query, this.#textsOf(record), this.rules);
    // What has all words is decided by the words.
    const besides = near === undefined || ruled?.query.match === 'all' ? undefined : nearRecords(passing, near, true);
    return passing.filter((record) => found(record) || besides?.has(record) === true);
  }

  /** Rules apply in their order, each to what those before it left; one of a field that is no facet any more has no effect. */
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

  /** Metres; NaN of a record without a point. */
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

  /** As an event tells of it. */
  told(name: string, id: string): { readonly id: string; readonly name: string; readonly fields: object } {
    return { id, name, fields: Object.fromEntries(this.find(name)?.fields ?? []) };
  }

  /** As it was before, whatever was written to it since. */
  restore(record: ModelRecord): void {
    this.records = this.records.map((each) => (each.name === record.name ? record : each));
  }

  /** Which of the writes that were sent took place is not known: each record may be as new as the newest. */
  forgetTimes(): void {
    this.times = new RecordTimes();
    this.records = this.records.map((record) => ({ ...record, created: this.now, modified: this.now }));
  }

  /** Keys of a facet's values, each once. */
  keys(record: ModelRecord, facet: FacetDefinition): Key[] {
    return [...new Set(this.#valuesOf(record, facet).map((value) => keyOf(facet.type, value)))];
  }

  /** What records are sorted by; undefined where there is no value. */
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
    // In a group, a list without the field has no values of it.
    return { facet, values: facet === undefined ? [] : this.#valuesOf(record, facet) };
  }

  #valuesOf(record: ModelRecord, facet: FacetDefinition) {
    const value = record.fields.get(facet.name);
    if (value === undefined || (facet.cardinality === 'Single' && membersOf(value).length > 1)) return [];
    // Of several, those that fit are seen.
    return membersOf(value).filter((each) => fits(facet, each));
  }

  #textsOf(record: ModelRecord): string[][] {
    return this.definition.searchable.flatMap((name) => {
      const values = name === 'name' ? [record.name] : membersOf(record.fields.get(name));
      return values.map((value) => wordsOf(String(value)));
    });
  }

  /** Facets are arrays whatever was sent; what has no value is not there. */
  #normalised(fields: Fields): Map<string, Value> {
    const kept = Object.entries(fields).flatMap(([name, value]): [string, Value][] => {
      if (value === null || (Array.isArray(value) && value.length === 0)) return [];
      const facet = this.facet(name) !== undefined && !isPoint(value);
      return [[name, facet ? membersOf(value) : value]];
    });
    return new Map(kept);
  }
}

/** Undefined where what was captured is no value of the facet. */
function valuesOfRule({ captures, value }: QueryRule, facet: FacetDefinition, word: string): Scalar[] | undefined {
  if (captures === undefined) return [value];
  const captured = capturedAs(facet.type, word);
  if (captured === undefined) return undefined;
  return captures === 'alone' ? [captured] : [captured, value];
}

/** Records without a value come last, whatever the direction. */
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
