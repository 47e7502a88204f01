/** The steps of a sequence, as data: they can be printed, left out and run again. Lists and records are named, never numbered by the service. */
import type { Filter } from './reference-filter.js';
import type { Fields, SortKey } from './reference-list.js';
import type { Model } from './reference-list.js';
import type { Definition, Point } from './reference-values.js';
import type { GivenVectors, Vector } from './reference-vectors.js';
import type { QueryRule, SynonymRule, WordQuery } from './reference-words.js';

export interface NewRecord {
  readonly name: string;
  readonly fields: Fields;
  readonly vectors?: GivenVectors;
}
/** Of a list or of the group: the current version, or so many before it; `latest` of the group is not asked for by its number. */
export type Target =
  | { readonly list: number; readonly back: number }
  | { readonly group: 'latest' }
  | { readonly group: 'number'; readonly back: number };

export interface Search {
  readonly target: Target;
  readonly filter?: Filter;
  readonly query?: WordQuery;
  readonly radius?: { readonly centre: Point; readonly metres: number };
  readonly vector?: Vector;
  readonly exact?: boolean;
  /** Whether meaning is left aside. */
  readonly byWords?: boolean;
  readonly order: readonly SortKey[];
  /** `ranking: none`. */
  readonly asStored?: boolean;
  readonly facets: readonly string[];
  readonly facetSize: number;
  readonly skip: number;
  readonly size: number;
  readonly select?: readonly string[];
  /** Whether it is read to its end in pages of this size. */
  readonly paged: boolean;
  /** For the ways in which the same filter can be written. */
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

/** A line of a bulk call that is no record, with the name that it can be told by. */
export interface Stray {
  readonly text: string;
  readonly name: string | null;
  /** No JSON: a whole array would be none. */
  readonly isNoJson?: boolean;
  /** Of a line that says nothing at all. */
  readonly isBlank?: boolean;
}

export type SettingsChange =
  | { readonly kind: 'define'; readonly list: number; readonly definition: Definition }
  | { readonly kind: 'synonyms'; readonly list: number; readonly rules: readonly SynonymRule[] }
  | { readonly kind: 'query-rules'; readonly list: number; readonly rules: readonly QueryRule[] }
  /** What the group has from now on. */
  | { readonly kind: 'members'; readonly lists: readonly { readonly list: number; readonly back?: number }[] };

/** Of the account: `number` says which one, `variant` how it is made or changed; 0: it goes. */
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
      /** What is no record, in front of so many of them. */
      readonly strays?: readonly { readonly before: number; readonly stray: Stray }[];
      /** The records change those of their names, and make none. */
      readonly isPatch?: boolean;
    }
  /** Its records are read page by page, and the writes sent beside the pages, so many each time. */
  | {
      readonly kind: 'walk';
      readonly list: number;
      readonly size: number;
      readonly beside: number;
      readonly writes: readonly Write[];
    }
  /** Sent at once, about the same records. */
  | { readonly kind: 'contended'; readonly list: number; readonly calls: readonly ContendedCall[] }
  | { readonly kind: 'preview'; readonly list: number; readonly rule: SynonymRule }
  | { readonly kind: 'delete-matching'; readonly list: number; readonly filter: Filter; readonly style: number }
  /** Sent at once, each about another record; searches run beside them. */
  | { readonly kind: 'together'; readonly writes: readonly Write[]; readonly search: Search }
  | SettingsChange
  /** Of sequences that a webhook is told of. */
  | { readonly kind: 'account'; readonly steps: readonly AccountStep[] }
  /** What reads its records from now on. */
  | { readonly kind: 'model'; readonly list: number; readonly model: Model }
  /** All records to CSV and in again. */
  | { readonly kind: 'csv'; readonly list: number }
  /**
   * The service ends in the midst of writes that are sent at once, each of other records, and of changes of settings, each of other ones, and starts again. The
   * fields of the list that is written to stay as they are.
   */
  | {
      readonly kind: 'kill';
      readonly list: number;
      readonly writes: readonly (readonly NewRecord[])[];
      readonly changes?: readonly SettingsChange[];
    }
  /** The list is made anew as a copy of another one. */
  | { readonly kind: 'clone'; readonly from: number; readonly to: number }
  /** It is deleted, and another one made under its name, which is in no group. */
  | { readonly kind: 'recreate'; readonly list: number; readonly definition: Definition; readonly model: Model }
  | { readonly kind: 'reindex'; readonly list: number }
  | { readonly kind: 'read-all'; readonly list: number }
  | { readonly kind: 'restart'; readonly signal: 'SIGTERM' | 'SIGKILL' }
  | ({ readonly kind: 'search' } & Search);

export interface Sequence {
  readonly definitions: readonly Definition[];
  /** Of each list. */
  readonly models: readonly Model[];
  /** Whether a webhook is told of its writes. */
  readonly isTold?: boolean;
  readonly operations: readonly Operation[];
}
