/**
 * The operations of a sequence as plain data, so that they can be printed, removed and replayed. Lists and records are
 * identified by the sequence's own numbers and names, never by IDs of the service.
 */
import type { Filter } from './reference-filter.js';
import type { Box, Fields, SortKey } from './reference-list.js';
import type { Model } from './reference-list.js';
import type { Definition, Point } from './reference-values.js';
import type { GivenVectors, Vector } from './reference-vectors.js';
import type { QueryRule, SynonymRule, WordQuery } from './reference-words.js';

export interface NewRecord {
  readonly name: string;
  readonly fields: Fields;
  readonly vectors?: GivenVectors;
}
/**
 * Target of a search: `back` counts versions back from the current one; `latest` asks for the group without a version
 * number.
 */
export type Target =
  | { readonly list: number; readonly back: number }
  | { readonly group: 'latest' }
  | { readonly group: 'number'; readonly back: number };

export interface Search {
  readonly target: Target;
  readonly filter?: Filter;
  readonly query?: WordQuery;
  readonly radius?: { readonly centre: Point; readonly metres: number };
  readonly box?: Box;
  readonly vector?: Vector;
  readonly exact?: boolean;
  /** True if the search does not use vectors of texts (`vector_search: false`). */
  readonly byWords?: boolean;
  readonly order: readonly SortKey[];
  /** True for `ranking: none`. */
  readonly asStored?: boolean;
  readonly facets: readonly string[];
  readonly facetSize: number;
  /** Words that the values of the facets have to match, if any facet is asked for. */
  readonly facetQuery?: readonly string[];
  /** True to count each facet without the filter's conditions on it alone. */
  readonly disjunctive?: boolean;
  /** The facet by whose values hits are distinct. */
  readonly distinct?: string;
  /** The only fields in which the words are looked for. */
  readonly searchFields?: readonly string[];
  readonly skip: number;
  readonly size: number;
  readonly select?: readonly string[];
  /** True if all pages of this size are read. */
  readonly paged: boolean;
  /** Picks among equivalent notations of the filter, and which further checks are made. */
  readonly style: number;
}

export type Write =
  | { readonly kind: 'put'; readonly list: number; readonly record: NewRecord; readonly flat: boolean }
  | { readonly kind: 'replace'; readonly list: number; readonly name: string; readonly record: NewRecord }
  | {
      readonly kind: 'patch';
      readonly list: number;
      readonly name: string;
      readonly fields: Fields;
      readonly vectors?: GivenVectors;
    }
  | { readonly kind: 'delete'; readonly list: number; readonly name: string };

export type ContendedCall =
  | { readonly kind: 'put'; readonly record: NewRecord }
  | { readonly kind: 'bulk'; readonly records: readonly NewRecord[] }
  | { readonly kind: 'delete'; readonly name: string };

/** Line of a bulk call that is no record, and the name that its error reports. */
export interface Stray {
  readonly text: string;
  readonly name: string | null;
  /** True if the text is not JSON, so that it would invalidate a whole JSON array. */
  readonly isNoJson?: boolean;
  /** True if the line has no content. */
  readonly isBlank?: boolean;
}

export type SettingsChange =
  | { readonly kind: 'define'; readonly list: number; readonly definition: Definition }
  | { readonly kind: 'synonyms'; readonly list: number; readonly rules: readonly SynonymRule[] }
  | { readonly kind: 'query-rules'; readonly list: number; readonly rules: readonly QueryRule[] }
  /** Replaces the members of the group. */
  | { readonly kind: 'members'; readonly lists: readonly { readonly list: number; readonly back?: number }[] };

/**
 * A step on the account. `number` identifies the thing; `variant` says how it is created or changed, and 0 deletes it.
 */
export interface AccountStep {
  readonly what: 'file' | 'store' | 'key' | 'contributor';
  readonly number: number;
  readonly variant: number;
}

export type Operation =
  | Write
  | {
      readonly kind: 'bulk';
      readonly list: number;
      readonly records: readonly NewRecord[];
      readonly format: 'ndjson' | 'json' | 'flat';
      /** Invalid lines, each inserted before the record at index `before`. */
      readonly strays?: readonly { readonly before: number; readonly stray: Stray }[];
      /** True if the call patches existing records and creates none. */
      readonly isPatch?: boolean;
    }
  /** Reads the records page by page; during each page, `beside` of the writes are sent. */
  | {
      readonly kind: 'walk';
      readonly list: number;
      readonly size: number;
      readonly beside: number;
      readonly writes: readonly Write[];
    }
  /** Concurrent calls about the same records. */
  | { readonly kind: 'contended'; readonly list: number; readonly calls: readonly ContendedCall[] }
  | { readonly kind: 'preview'; readonly list: number; readonly rule: SynonymRule }
  | { readonly kind: 'delete-matching'; readonly list: number; readonly filter: Filter; readonly style: number }
  /** Concurrent writes, each of another record, with searches at the same time. */
  | { readonly kind: 'together'; readonly writes: readonly Write[]; readonly search: Search }
  | SettingsChange
  /** Only in sequences with a webhook. */
  | { readonly kind: 'account'; readonly steps: readonly AccountStep[] }
  /** Changes the model of the list. */
  | { readonly kind: 'model'; readonly list: number; readonly model: Model }
  /** Exports all records to CSV and imports them again. */
  | { readonly kind: 'csv'; readonly list: number }
  /**
   * Kills the service during concurrent writes (each of other records) and concurrent changes of settings (each of
   * another setting), and starts it again. The fields of the list that is written to do not change.
   */
  | {
      readonly kind: 'kill';
      readonly list: number;
      readonly writes: readonly (readonly NewRecord[])[];
      readonly changes?: readonly SettingsChange[];
    }
  /** Replaces the list `to` by a copy of the list `from`. */
  | { readonly kind: 'clone'; readonly from: number; readonly to: number }
  /** Deletes the list and creates another one of the same name, which is in no group. */
  | { readonly kind: 'recreate'; readonly list: number; readonly definition: Definition; readonly model: Model }
  | { readonly kind: 'reindex'; readonly list: number }
  | { readonly kind: 'read-all'; readonly list: number }
  | { readonly kind: 'restart'; readonly signal: 'SIGTERM' | 'SIGKILL' }
  | ({ readonly kind: 'search' } & Search);

export interface Sequence {
  readonly definitions: readonly Definition[];
  /** Model of each list. */
  readonly models: readonly Model[];
  /** True if a webhook receives events of the sequence's writes. */
  readonly isTold?: boolean;
  readonly operations: readonly Operation[];
}
