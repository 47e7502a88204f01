/** Tasks of search workers, as the front end sends them after validating every option against its schema. */
import type { GenerationHandle } from '../../native-bindings/index.js';
import type { Reservation } from '../platform/index.js';
import type { SynonymRule } from '../synonyms/index.js';
import type { CosinesAtRandom } from '../vectors/index.js';
import type { SearchOptions } from './options/option-values.js';

export type { SearchOptions, SynonymRule };

export type MatchMode = 'any' | 'all' | 'phrase';

export interface RadiusOption {
  readonly latitude: number;
  readonly longitude: number;
  readonly metres: number;
}

/** One list of a search. A plain list search has one, a group search one per member. */
export interface SearchTarget {
  readonly generation: GenerationHandle;
  /** Name shown with each hit. Set on group searches. */
  readonly listName?: string;
  /** Vector of the search for this list. It is compared only with vectors of the same model version. */
  readonly meaning?: SearchMeaning;
  /**
   * Set if the search came with a vector. If it has no text as well, a list that cannot compare the vector finds
   * nothing.
   */
  readonly isOfVector?: true;
  /** The list's pictures, and the vector of the search by a model that reads pictures and texts. */
  readonly pictures?: SearchPictures;
}

export interface SearchPictures {
  /** The list's generation of picture vectors. */
  readonly generation: GenerationHandle;
  /** Of the same dimensions as the picture vectors. */
  readonly vector: Float32Array;
  /** Distribution of cosines of unrelated texts and pictures. */
  readonly random: CosinesAtRandom;
}

export interface SearchMeaning {
  readonly modelVersion: string;
  /** Set if the vectors, and so the scores, are of pictures. */
  readonly ofPictures?: true;
  /** Undefined: use the vector of the records that the words find best (`feedback-vector.ts`). */
  readonly vector?: Float32Array;
  /**
   * Set if `vector` is the model's vector of the search text, which is mixed with that of the records. Any other vector
   * is used unchanged.
   */
  readonly isOfText?: true;
}

/**
 * Whether a search used meaning. `off`: the search did not ask for it, or has no text. `none`: no list has vectors to
 * compare with. `unavailable`: a list has, but its model returned no vector of the text in time.
 */
export type AppliedMeaning = 'used' | 'off' | 'none' | 'unavailable';

export interface SearchTask {
  readonly kind: 'search';
  readonly targets: readonly SearchTarget[];
  /** Gives `list_name` or `group_name` of the response. */
  readonly subject: { readonly kind: 'list' | 'group'; readonly name: string; readonly version: number };
  readonly options: SearchOptions;
  readonly queryId: string;
  /** Default `none`. */
  readonly meaning?: AppliedMeaning;
  /** Undefined if the hits are ordered by score. */
  readonly reranked?: Reranked;
  /** Added to the rules in force, for a preview. */
  readonly extraSynonymRule?: SynonymRule;
}

/** Result of a reranker for the best hits. */
export interface Reranked {
  /** Name of the model. */
  readonly name: string;
  /** Ranks by score, from 0, of the first hits in their new order. Null if the model returned none. */
  readonly order: readonly number[] | null;
  /** Relevance of each hit in `order`, in the same order; without a defined scale. */
  readonly relevances: readonly number[];
}

/** Asks for the best hits of a search as a reranker reads them. Answered with `Candidates`. */
export interface CandidatesTask extends Omit<SearchTask, 'kind' | 'reranked'> {
  readonly kind: 'candidates';
  /** Number of hits returned, from the first. */
  readonly named: number;
  /** Number of these returned with their text. */
  readonly textsMax: number;
}

export interface Candidates {
  /** In the order of their scores. */
  readonly hits: readonly { readonly name: string; readonly listName?: string; readonly text?: string }[];
}

/** Which earlier searches of a list are used. */
export interface LearnedFrom {
  readonly listId: string;
  /** True if only searches that led to a click are used. */
  readonly requireClick: boolean;
}

export interface SuggestTarget extends SearchTarget {
  readonly learned?: LearnedFrom;
}

/** Asks for suggestions while somebody is typing. */
export interface SuggestTask {
  readonly kind: 'suggest';
  readonly targets: readonly SuggestTarget[];
  readonly options: SuggestOptions;
}

export interface SuggestOptions {
  /** Text typed so far. Blanks at the end mean that the last word is complete. */
  readonly query: string;
  readonly size: number;
  readonly typoTolerance: boolean;
}

/** Asks for records similar to a given one. */
export interface RelatedTask {
  readonly kind: 'related';
  readonly target: SearchTarget;
  /** List whose clicks teach which records belong together. */
  readonly listId: string;
  readonly subject: { readonly list: string; readonly version: number };
  readonly recordName: string;
  readonly options: Pick<SearchOptions, 'filter' | 'select' | 'skip' | 'size'>;
}

/** Asks for a page of records as they are stored. */
export interface RecordsTask {
  readonly kind: 'records';
  readonly target: SearchTarget;
  /** Starts after this record number; -1 starts with the first record. */
  readonly after: number;
  readonly skip: number;
  readonly size: number;
  /** Selects only the record with exactly this name. */
  readonly name?: string;
  /**
   * Limit on the stored bytes of records and vectors; a longer record is reported as an error. If undefined,
   * RECORDS_PAGE_BYTES_MAX applies, and a longer record forms a page alone.
   */
  readonly bytesMax?: number;
  /** Includes the vectors by which the list is searched. */
  readonly vectors?: boolean;
}

/** Asks for one record as it is stored. */
export interface RecordTask {
  readonly kind: 'record';
  readonly target: SearchTarget;
  readonly id: string;
  /** Limit on the fields as JSON; fields that do not fit are named instead. Undefined for no limit. */
  readonly fieldsBytesMax?: number;
}

/** Complete response body as UTF-8 JSON, and what the front end needs to know of it without parsing. */
export interface SearchAnswer {
  readonly body: Uint8Array;
  readonly totalCount: number;
  /** Milliseconds spent in the worker, for Server-Timing. */
  readonly workerMs: number;
  /** True if the body's memory holds no other answer. */
  readonly isAlone?: boolean;
  /**
   * Memory reserved for a long answer. Release it when the body is no longer needed; the body is invalid afterwards.
   */
  readonly room?: Reservation;
}
