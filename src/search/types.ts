/** A search as the front end hands it to a search worker, after validation of every option against its schema. */
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

/** One list of a search: a plain list search has one, a group search one per member. */
export interface SearchTarget {
  readonly generation: GenerationHandle;
  /** Set on group searches: hits carry it. */
  readonly listName?: string;
  /** What the search means to this list: compared with vectors of the same version alone. */
  readonly meaning?: SearchMeaning;
  /** The search came with a vector that is looked for: where it has no text besides, a list that cannot compare it finds nothing. */
  readonly isOfVector?: true;
  /** The pictures of its records, and what the search is to a model that reads pictures and texts. */
  readonly pictures?: SearchPictures;
}

export interface SearchPictures {
  /** The segments of the list's own, with the vectors of pictures. */
  readonly generation: GenerationHandle;
  /** As many numbers as those have. */
  readonly vector: Float32Array;
  /** Cosines of texts and pictures that have nothing to do with each other. */
  readonly random: CosinesAtRandom;
}

export interface SearchMeaning {
  readonly modelVersion: string;
  /** The vectors are those of pictures, and so is the score. */
  readonly ofPictures?: true;
  /** Undefined: that of the records that the words of the search find best (`feedback-vector.ts`). */
  readonly vector?: Float32Array;
  /** It is what the list's model says of the search text, which those records have a share in; another is meant as it is. */
  readonly isOfText?: true;
}

/**
 * Whether a search looked for meaning. `off`: it was not to, or has no text. `none`: no list has vectors to compare with. `unavailable`: one
 * has, and its model gave no vector of the text in time.
 */
export type AppliedMeaning = 'used' | 'off' | 'none' | 'unavailable';

export interface SearchTask {
  readonly kind: 'search';
  readonly targets: readonly SearchTarget[];
  /** `list_name` or `group_name` of the response. */
  readonly subject: { readonly kind: 'list' | 'group'; readonly name: string; readonly version: number };
  readonly options: SearchOptions;
  readonly queryId: string;
  /** Default `none`. */
  readonly meaning?: AppliedMeaning;
  /** Undefined: the order is that of the scores. */
  readonly reranked?: Reranked;
  /** On top of the rules in force, for a preview. */
  readonly extraSynonymRule?: SynonymRule;
}

/** What a reranker made of the best hits. */
export interface Reranked {
  /** The model. */
  readonly name: string;
  /** Places by score, from 0, of the first hits in their new order; null where it gave none. */
  readonly order: readonly number[] | null;
  /** What it thought of each of these, in the same order; of no scale. */
  readonly relevances: readonly number[];
}

/** The best hits of a search as a reranker reads them: answered with `Candidates`. */
export interface CandidatesTask extends Omit<SearchTask, 'kind' | 'reranked'> {
  readonly kind: 'candidates';
  /** Hits that are named, from the first on. */
  readonly named: number;
  /** Of these, so many have their text. */
  readonly textsMax: number;
}

export interface Candidates {
  /** In the order of their scores. */
  readonly hits: readonly { readonly name: string; readonly listName?: string; readonly text?: string }[];
}

/** Which of a list's earlier searches are used. */
export interface LearnedFrom {
  readonly listId: string;
  /** Only searches that led to a click. */
  readonly requireClick: boolean;
}

export interface SuggestTarget extends SearchTarget {
  readonly learned?: LearnedFrom;
}

/** What somebody who is still typing may mean. */
export interface SuggestTask {
  readonly kind: 'suggest';
  readonly targets: readonly SuggestTarget[];
  readonly options: SuggestOptions;
}

export interface SuggestOptions {
  /** As typed so far; blanks at its end say that its last word is complete. */
  readonly query: string;
  readonly size: number;
  readonly typoTolerance: boolean;
}

/** Records like one. */
export interface RelatedTask {
  readonly kind: 'related';
  readonly target: SearchTarget;
  /** Whose clicks teach which records belong together. */
  readonly listId: string;
  readonly subject: { readonly list: string; readonly version: number };
  readonly recordName: string;
  readonly options: Pick<SearchOptions, 'filter' | 'select' | 'skip' | 'size'>;
}

/** A page of records as they are stored. */
export interface RecordsTask {
  readonly kind: 'records';
  readonly target: SearchTarget;
  /** Records behind this record number; -1: from the first on. */
  readonly after: number;
  readonly skip: number;
  readonly size: number;
  /** Only the record that is called exactly so. */
  readonly name?: string;
  /** Of the records, and vectors, as they are stored; longer ones are told as an error. Left out: RECORDS_PAGE_BYTES_MAX, and a longer one comes alone. */
  readonly bytesMax?: number;
  /** With the vectors that the list is searched by. */
  readonly vectors?: boolean;
}

/** One record as it is stored. */
export interface RecordTask {
  readonly kind: 'record';
  readonly target: SearchTarget;
  readonly id: string;
  /** Of its fields as JSON: those that do not fit are named instead. Left out: as many as there are. */
  readonly fieldsBytesMax?: number;
}

/** The whole response body as UTF-8 JSON, and what the front end needs to know of it without parsing. */
export interface SearchAnswer {
  readonly body: Uint8Array;
  readonly totalCount: number;
  /** Milliseconds inside the worker, for Server-Timing. */
  readonly workerMs: number;
  /** True: no other answer lies in the memory of the body. */
  readonly isAlone?: boolean;
  /** Of a long answer: to be released when nobody needs the body any more, which is gone then. */
  readonly room?: Reservation;
}
