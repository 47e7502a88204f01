/**
 * The tree of a query plan and its encoding (kernel/query/plan.h). The kernel checks all limits and references. The
 * writer checks only that numbers fit their encoding, because a number that does not fit would arrive as another one.
 */
import { ByteWriter } from './byte-writer.js';
import { kernelConstant } from './index.js';

export type PlanOccur = 'should' | 'must' | 'mustNot';

/**
 * Why a group may match an alternative: it is the word as typed, the same characters spelt otherwise, the word split in
 * two, a form with the same stem, a longer word that has the word as a part, one that the word may become, a synonym,
 * or a typo. The kernel treats typed words, spellings and stems alike, and all longer words together. All but typos and
 * splits count for the group's idf; typos and splits count only if no document has any of the others. A split counts
 * like a typo because it is not known beforehand how many documents have its two words next to each other.
 */
export type PlanAlternativeKind =
  'typed' | 'spelling' | 'split' | 'stem' | 'compound' | 'completion' | 'synonym' | 'typo';

export interface PlanAlternative {
  /** Default: `typed`. */
  readonly kind?: PlanAlternativeKind;
  /** 0 < weight <= 1; as typed = 1. */
  readonly weight: number;
  /** One term, or the terms of a phrase at consecutive positions. Terms are folded. */
  readonly terms: readonly string[];
}

/** One query word with its expansions, or a whole phrase. */
export interface PlanGroup {
  readonly occur: PlanOccur;
  readonly boost: number;
  /** If the array is frozen, its content must not change either: its encoding may be cached. */
  readonly alternatives: readonly PlanAlternative[];
}

/** A folded key of a string column, or a number (also a date in milliseconds, or a boolean as 0 or 1). */
export type PlanValue = string | number;

export type PlanComparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

export type PlanFilter =
  | { readonly op: 'all' }
  | { readonly op: 'and' | 'or'; readonly nodes: readonly PlanFilter[] }
  | { readonly op: 'not'; readonly node: PlanFilter }
  | { readonly op: PlanComparison; readonly column: number; readonly value: PlanValue }
  | { readonly op: 'in'; readonly column: number; readonly values: readonly PlanValue[] }
  | { readonly op: 'isNull'; readonly column: number }
  | { readonly op: 'record'; readonly numbers: readonly number[] }
  | {
      readonly op: 'within';
      readonly column: number;
      readonly latitude: number;
      readonly longitude: number;
      readonly metres: number;
    }
  | {
      readonly op: 'inBox';
      readonly column: number;
      readonly south: number;
      readonly west: number;
      readonly north: number;
      readonly east: number;
    };

export type PlanSortKey =
  | { readonly by: 'score' | 'recordNumber'; readonly descending: boolean }
  | { readonly by: 'column'; readonly descending: boolean; readonly column: number }
  | {
      readonly by: 'distance';
      readonly descending: boolean;
      readonly column: number;
      readonly latitude: number;
      readonly longitude: number;
    };

export interface PlanFacet {
  readonly column: number;
  /** How many values to return. */
  readonly size: number;
}

export interface QueryPlan {
  readonly needTotal: boolean;
  readonly explain?: boolean;
  readonly storageOrder?: boolean;
  readonly skip: number;
  readonly size: number;
  /** 0..1; 0 = none. */
  readonly minimumScore?: number;
  /** Weight of the bonus for neighbouring words, 0..1; 0 = none. */
  readonly proximityWeight?: number;
  /** Weight of the bonus for a text field that is the whole query, 0..1; 0 = none. */
  readonly wholeFieldWeight?: number;
  /** If there are none, every document matches. */
  readonly groups: readonly PlanGroup[];
  /** The words of the query in order as indexes of `groups`, without function words: neighbours earn the bonus. */
  readonly sequence?: readonly number[];
  /** All words of the query in order, as indexes of `groups`. */
  readonly whole?: readonly number[];
  readonly filter: PlanFilter;
  readonly sort: readonly PlanSortKey[];
  readonly facets: readonly PlanFacet[];
  /** If present, hits have their location and their distance (metres) from this point. */
  readonly distance?: { readonly column: number; readonly latitude: number; readonly longitude: number } | undefined;
  /** Numbers of the text fields in which words are looked for, ascending; none: all. */
  readonly textFields?: readonly number[];
  /** Folded; facets of strings tell only values in which each of them begins a word. */
  readonly facetWords?: readonly string[];
  /** The column by which hits are distinct: one hit per value. */
  readonly distinct?: number | undefined;
  /** Whether the result has the set of all matches, for `Kernel.countDistinct`. */
  readonly keepMatches?: boolean;
}

/** A plan that leaves nothing to the defaults: of a new member, whoever makes such a plan has to decide. */
export type WholeQueryPlan = { readonly [Member in keyof QueryPlan]-?: QueryPlan[Member] };

export const MATCH_ALL: PlanFilter = Object.freeze({ op: 'all' });

/** Returns the plan of a search for one term that returns no hits: for its total, or for marking the term. */
export function planOfTerm(term: string, needTotal: boolean): QueryPlan {
  return {
    needTotal,
    skip: 0,
    size: 0,
    groups: [{ occur: 'must', boost: 1, alternatives: [{ weight: 1, terms: [term] }] }],
    filter: MATCH_ALL,
    sort: [],
    facets: [],
  };
}

const PLAN_MAGIC = kernelConstant('PlanMagic');
const FLAG_NEED_TOTAL = kernelConstant('PlanFlagNeedTotal');
const FLAG_EXPLAIN = kernelConstant('PlanFlagExplain');
const FLAG_STORAGE_ORDER = kernelConstant('PlanFlagStorageOrder');
const FLAG_KEEP_MATCHES = kernelConstant('PlanFlagKeepMatches');
const VALUE_STRING = kernelConstant('PlanValueString');
const VALUE_NUMBER = kernelConstant('PlanValueNumber');

const OCCURS: Readonly<Record<PlanOccur, number>> = Object.freeze({
  should: kernelConstant('OccurShould'),
  must: kernelConstant('OccurMust'),
  mustNot: kernelConstant('OccurMustNot'),
});

const KINDS: Readonly<Record<PlanAlternativeKind, number>> = Object.freeze({
  typed: kernelConstant('AlternativeKindWord'),
  spelling: kernelConstant('AlternativeKindWord'),
  stem: kernelConstant('AlternativeKindWord'),
  compound: kernelConstant('AlternativeKindCompound'),
  completion: kernelConstant('AlternativeKindCompound'),
  split: kernelConstant('AlternativeKindTypo'),
  typo: kernelConstant('AlternativeKindTypo'),
  synonym: kernelConstant('AlternativeKindSynonym'),
});

const FILTER_OPS: Readonly<Record<PlanFilter['op'], number>> = Object.freeze({
  all: kernelConstant('FilterOpAll'),
  and: kernelConstant('FilterOpAnd'),
  or: kernelConstant('FilterOpOr'),
  not: kernelConstant('FilterOpNot'),
  '=': kernelConstant('FilterOpEqual'),
  '!=': kernelConstant('FilterOpNotEqual'),
  '<': kernelConstant('FilterOpLess'),
  '<=': kernelConstant('FilterOpLessOrEqual'),
  '>': kernelConstant('FilterOpGreater'),
  '>=': kernelConstant('FilterOpGreaterOrEqual'),
  in: kernelConstant('FilterOpIn'),
  isNull: kernelConstant('FilterOpIsNull'),
  within: kernelConstant('FilterOpWithin'),
  inBox: kernelConstant('FilterOpInBox'),
  record: kernelConstant('FilterOpRecord'),
});

const SORTS: Readonly<Record<PlanSortKey['by'], number>> = Object.freeze({
  score: kernelConstant('SortByScore'),
  column: kernelConstant('SortByColumn'),
  distance: kernelConstant('SortByDistance'),
  recordNumber: kernelConstant('SortByRecordNumber'),
});

const INITIAL_BYTES = 4096;
const U8_MAX = 0xff;
const U16_MAX = 0xffff;
const U32_MAX = 0xffffffff;

/** Returns `value` if it is an integer in 0..max; throws RangeError otherwise. */
function checked(value: number, max: number, what: string): number {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${what} of a query plan has to be an integer from 0 to ${max}, not ${value}`);
  }
  return value;
}

/** Encodes plans one after the other in the same memory. */
export class QueryPlanWriter {
  readonly #writer = new ByteWriter(INITIAL_BYTES);
  /** Encodings of frozen alternatives, because a word has the same ones in every query. */
  readonly #kept = new WeakMap<readonly PlanAlternative[], Uint8Array>();

  /** Returns the bytes for Kernel.search: a view that is valid until the next plan is written. */
  write(plan: QueryPlan): Uint8Array {
    const writer = this.#writer;
    writer.truncate(0);
    writer.u32(PLAN_MAGIC);
    writer.u32(
      (plan.needTotal ? FLAG_NEED_TOTAL : 0) |
        (plan.explain === true ? FLAG_EXPLAIN : 0) |
        (plan.storageOrder === true ? FLAG_STORAGE_ORDER : 0) |
        (plan.keepMatches === true ? FLAG_KEEP_MATCHES : 0),
    );
    writer.u32(checked(plan.skip, U32_MAX, 'skip'));
    writer.u32(checked(plan.size, U32_MAX, 'size'));
    writer.f32(plan.minimumScore ?? 0);
    writer.f32(plan.proximityWeight ?? 0);
    writer.f32(plan.wholeFieldWeight ?? 0);
    writer.u32(plan.groups.length);
    for (const group of plan.groups) this.#group(group);
    this.#words(plan.sequence ?? []);
    this.#words(plan.whole ?? []);
    this.#filter(plan.filter);
    writer.u8(checked(plan.sort.length, U8_MAX, 'the number of sort keys'));
    for (const key of plan.sort) this.#sortKey(key);
    writer.u16(checked(plan.facets.length, U16_MAX, 'the number of facets'));
    for (const facet of plan.facets) {
      this.#column(facet.column);
      writer.u32(checked(facet.size, U32_MAX, 'a facet size'));
    }
    this.#distance(plan.distance);
    this.#textFields(plan.textFields ?? []);
    this.#facetWords(plan.facetWords ?? []);
    // 0 stands for "none", so columns count from 1 here.
    writer.u16(plan.distinct === undefined ? 0 : checked(plan.distinct, U16_MAX - 1, 'the distinct column') + 1);
    return writer.bytes();
  }

  #group(group: PlanGroup): void {
    const writer = this.#writer;
    writer.u8(OCCURS[group.occur]);
    writer.f32(group.boost);
    this.#alternatives(group.alternatives);
  }

  #alternatives(alternatives: readonly PlanAlternative[]): void {
    const writer = this.#writer;
    const kept = this.#kept.get(alternatives);
    if (kept !== undefined) {
      writer.append(kept);
      return;
    }
    const begin = writer.length;
    writer.u16(checked(alternatives.length, U16_MAX, 'the number of alternatives'));
    for (const alternative of alternatives) {
      writer.u8(KINDS[alternative.kind ?? 'typed']);
      writer.f32(alternative.weight);
      writer.u16(checked(alternative.terms.length, U16_MAX, 'the number of terms'));
      for (const term of alternative.terms) writer.string(term);
    }
    if (Object.isFrozen(alternatives)) this.#kept.set(alternatives, writer.bytes().slice(begin));
  }

  #words(groups: readonly number[]): void {
    this.#writer.u16(checked(groups.length, U16_MAX, 'the length of a sequence'));
    for (const group of groups) this.#writer.u16(checked(group, U16_MAX, 'a group of a sequence'));
  }

  #filter(filter: PlanFilter): void {
    const writer = this.#writer;
    writer.u8(FILTER_OPS[filter.op]);
    switch (filter.op) {
      case 'all':
        return;
      case 'and':
      case 'or':
        writer.u16(checked(filter.nodes.length, U16_MAX, 'the number of conditions'));
        for (const node of filter.nodes) this.#filter(node);
        return;
      case 'not':
        this.#filter(filter.node);
        return;
      case 'in':
        this.#column(filter.column);
        this.#values(filter.values);
        return;
      case 'record':
        this.#column(0);
        this.#values(filter.numbers);
        return;
      case 'isNull':
        this.#column(filter.column);
        return;
      case 'within':
        this.#column(filter.column);
        this.#point(filter);
        writer.f64(filter.metres);
        return;
      case 'inBox':
        this.#column(filter.column);
        this.#point({ latitude: filter.south, longitude: filter.west });
        this.#point({ latitude: filter.north, longitude: filter.east });
        return;
      default:
        this.#column(filter.column);
        this.#value(filter.value);
    }
  }

  #sortKey(key: PlanSortKey): void {
    const writer = this.#writer;
    writer.u8(SORTS[key.by]);
    writer.u8(key.descending ? 1 : 0);
    this.#column(key.by === 'column' || key.by === 'distance' ? key.column : 0);
    this.#point(key.by === 'distance' ? key : { latitude: 0, longitude: 0 });
  }

  #distance(distance: QueryPlan['distance']): void {
    if (distance === undefined) {
      this.#writer.u16(0);
      return;
    }
    // 0 stands for "none", so columns count from 1 here.
    this.#writer.u16(checked(distance.column, U16_MAX - 1, 'the distance column') + 1);
    this.#point(distance);
  }

  #textFields(fields: readonly number[]): void {
    this.#writer.u16(checked(fields.length, U16_MAX, 'the number of text fields'));
    for (const field of fields) this.#writer.u16(checked(field, U16_MAX, 'a text field'));
  }

  #facetWords(words: readonly string[]): void {
    this.#writer.u16(checked(words.length, U16_MAX, 'the number of words of facets'));
    for (const word of words) this.#writer.string(word);
  }

  #column(column: number): void {
    this.#writer.u16(checked(column, U16_MAX, 'a column'));
  }

  #values(values: readonly PlanValue[]): void {
    this.#writer.u16(checked(values.length, U16_MAX, 'the number of values'));
    for (const value of values) this.#value(value);
  }

  #value(value: PlanValue): void {
    if (typeof value === 'string') {
      this.#writer.u8(VALUE_STRING);
      this.#writer.string(value);
    } else {
      this.#writer.u8(VALUE_NUMBER);
      this.#writer.f64(value);
    }
  }

  #point(point: { readonly latitude: number; readonly longitude: number }): void {
    this.#writer.f64(point.latitude);
    this.#writer.f64(point.longitude);
  }
}

export { parseResult, type QueryResult, type ResultHits, type ScoreKind, type SourceScores } from './query-result.js';
