/** Arguments and results of the kernel's functions (index.ts). */

export type ColumnType = 'string' | 'number' | 'boolean' | 'date' | 'location';

/** What a segment indexes. Text fields and columns are numbered by their order. */
export interface SegmentSchema {
  /** BCP 47 primary tag of the language whose stems group the terms. 'none', absent or without a stemmer: no stems. */
  readonly language?: string;
  readonly textFields: readonly { readonly name: string; readonly weightUnits: number }[];
  readonly columns: readonly { readonly name: string; readonly type: ColumnType; readonly many: boolean }[];
}

export interface SegmentSummary {
  readonly documentCount: number;
  readonly termCount: number;
  readonly fileBytes: number;
}

export interface MergeSummary extends SegmentSummary {
  /**
   * Terms that the generation loses when the merged segment replaces its sources; absent if there are many, or if no
   * generation was given.
   */
  readonly lostTerms?: readonly string[];
}

/**
 * `unsupported-format`: a segment of another format version; `damaged`: one that no version would have written.
 * `stopped`, `deadline` and `slice` are explained at `watchStop`.
 */
export type KernelErrorCode =
  | 'invalid-argument'
  | 'damaged'
  | 'unreadable'
  | 'unsupported-format'
  | 'io'
  | 'disk-full'
  | 'limit'
  | 'stopped'
  | 'deadline'
  | 'slice';
export interface KernelError extends Error {
  readonly code: KernelErrorCode;
}

/** An open segment; the same path has the same handle. Closed once closeSegment was called as often as openSegment. */
export type SegmentHandle = number;
/**
 * A published generation, which exists until releaseGeneration. The service uses one only under a lease
 * (src/index/versions/published-generation.ts).
 */
export type GenerationHandle = number;

/** An open segment of vectors. */
export type VectorSegmentHandle = number;

/** Vectors in any order; those of one record must have different places. They are scaled to length 1. */
export interface VectorRows {
  readonly dimensions: number;
  /** One after the other. */
  readonly vectors: Float32Array;
  /** Record number of each vector. */
  readonly records: Uint32Array;
  /** For each vector, which of its record's vectors it is: the number of a passage. */
  readonly places: Uint32Array;
}

export interface VectorSegmentSummary {
  readonly vectorCount: number;
  /** Number of different vectors. */
  readonly nodeCount: number;
  readonly dimensions: number;
  readonly fileBytes: number;
  /** False if the vectors are few: they are then compared one by one. */
  readonly hasGraph: boolean;
}

/**
 * `deleted` is a bitmap, one bit per vector (least significant first). `deletions` deletes all vectors of these records
 * in the segment.
 */
export interface VectorChange {
  readonly add?: readonly { readonly segment: VectorSegmentHandle; readonly deleted?: Uint8Array }[];
  readonly remove?: readonly VectorSegmentHandle[];
  readonly deletions?: readonly { readonly segment: VectorSegmentHandle; readonly records: Uint32Array }[];
}

/**
 * A column of a list as one of several that are counted together. Columns of one kind hold the same kind of values in
 * different lists.
 */
export interface CountedColumn {
  readonly column: number;
  readonly kind: number;
}

/** A list whose matches are counted (`Kernel.countDistinct`). */
export interface DistinctList {
  readonly generation: GenerationHandle;
  /** `QueryResult.matches` of the list's search. */
  readonly matches: Uint8Array;
  /** Undefined if each match is a hit. */
  readonly distinct: CountedColumn | undefined;
  /** Record numbers of hits of which `DistinctCounts.sharing` is wanted. */
  readonly hits: Uint32Array;
  /** At most one of each kind. Kinds are below `DistinctFacets.kinds`. */
  readonly facets: readonly CountedColumn[];
}

export interface DistinctFacets {
  /** Number of kinds of facets. */
  readonly kinds: number;
  /** Number of values to return for each facet. */
  readonly size: number;
  /** As `QueryPlan.facetWords`. */
  readonly words: readonly string[];
}

export interface DistinctCounts {
  /** Number of hits. */
  readonly total: number;
  /** By list and its hit: the number of matches, of all lists, that share its value, itself included. */
  readonly sharing: readonly Uint32Array[];
  /** By kind: JSON `[{"value":..,"count":..},..]`, as in `QueryResult.facetsJson`. */
  readonly facets: readonly string[];
  /** By kind: JSON `{"min":..,"max":..}`; '' if the facet has none. */
  readonly ranges: readonly string[];
}

/**
 * A search by the meaning of a vector, beside the words of the plan. A record's score by meaning is that of its best
 * vector's cosine: 0 at `farthest`, 1 at `nearest`, linear in between. The hit's score is `weight` times that plus (1 -
 * weight) times the score of the words, at most 1.
 */
export interface MeaningSearch extends NearSearch {
  /** Above 0, up to 1. */
  readonly weight: number;
  /** False: only scores what the words find. Default true. */
  readonly adds?: boolean;
  /** Score of the words that counts as 1; 0: the score expected of the best record for these words. Default 1. */
  readonly wordsFull?: number;
}

/** A search near a vector: the score is 0 at the cosine `farthest`, 1 at `nearest`, and linear in between. */
export interface NearSearch {
  /** Any length above zero. */
  readonly vector: Float32Array;
  /** Minimum score, 0..1, for a record to be a hit if nothing else finds it. */
  readonly floor: number;
  /** Cosines, -1..1. */
  readonly farthest: number;
  readonly nearest: number;
  /**
   * At most this many of the nearest vectors find records; 1 to `constants.MeaningWantedMax`. It decides what is a hit,
   * so it must be the same on every page.
   */
  readonly wanted: number;
  /**
   * Number of candidates that are kept while a graph is searched, 1 to `constants.MeaningWidthMax`: with more, more of
   * the nearest are found.
   */
  readonly width: number;
  /** True if every vector is compared. Default false. */
  readonly exact?: boolean;
}

/**
 * Pictures of the records near a vector. `generation` must have the segments of the searched generation. Records whose
 * pictures are not found have no score.
 */
export interface PicturesSearch extends NearSearch {
  readonly generation: GenerationHandle;
}

/** Words to search for in a part of the records. */
export interface PartSearch {
  /** If the generation has no such part, nothing is found in it. */
  readonly name: string;
  readonly kind: 'document' | 'image' | 'video' | 'audio';
  /**
   * Bytes of a query plan over the terms and columns of the part. Its groups, sequences, bonuses and filter are used,
   * the rest is ignored.
   */
  readonly plan: Uint8Array;
  /** 0..1, of the reported score: documents with less are not found. */
  readonly floor: number;
  /** Score of the words that counts as 1; 0: the score expected of the best document for these words. Default 1. */
  readonly full?: number;
}

/**
 * Parts of the records beside their text (words and meaning): a hit's score is the greatest of the text's and of each
 * part's, which is that of the record's best document in it. Filter, facets, order and excluded words are those of the
 * records.
 */
export interface PartsSearch {
  readonly parts: readonly PartSearch[];
  /** Reported after the parts, as kind `image`. */
  readonly pictures?: PicturesSearch;
  /** 0..1: a record with less is not a hit by its text. Default 0. */
  readonly textFloor?: number;
}

export interface SegmentChange {
  /**
   * `deleted` is a bitmap, one bit per document (least significant first), of documents that are deleted from the
   * start.
   */
  readonly add?: readonly {
    readonly segment: SegmentHandle;
    readonly deleted?: Uint8Array;
    /**
     * Its terms that the base does not have, and those that disappear with the segments it replaces; absent if they are
     * not known.
     */
    readonly changedTerms?: readonly string[];
  }[];
  readonly remove?: readonly SegmentHandle[];
  readonly deletions?: readonly { readonly segment: SegmentHandle; readonly documents: Uint32Array }[];
  /** Terms that disappear with removed segments if nothing is added; absent if they are not known. */
  readonly goneTerms?: readonly string[];
}

/**
 * A change of an index whose documents lead to records. Its first two columns are numbers: the record, and which of its
 * documents this is.
 */
export interface PartChange extends SegmentChange {
  /** 1 to 32 lower-case letters. */
  readonly name: string;
}

export interface GenerationChange extends SegmentChange {
  readonly base?: GenerationHandle;
  readonly vectors?: VectorChange;
  /** Parts that are not named stay as they are in the base. */
  readonly parts?: readonly PartChange[];
  /** JSON for the planner in the search workers, which the kernel does not read. Taken from the base if absent. */
  readonly settings?: string;
}

export interface GenerationInfo {
  readonly documentCount: number;
  readonly liveCount: number;
  readonly segments: readonly {
    readonly segment: SegmentHandle;
    readonly documentCount: number;
    readonly deletedCount: number;
    readonly fileBytes: number;
  }[];
}

/**
 * A term of the dictionary, with the number of documents that have it in all segments of the generation, including
 * deleted ones.
 */
export interface ExpandedTerm {
  readonly term: string;
  readonly documentFrequency: number;
  /** Number of edits from the word; 0 for a stem or a prefix. A transposition of neighbours is one edit. */
  readonly distance: number;
}

/** Unless stated otherwise, lists are sorted by falling document frequency, then by term. */
export interface WordExpansion {
  /** Document frequency of the word as typed. */
  readonly documentFrequency: number;
  /** Other terms with the word's stem in the list's language. */
  readonly stems: readonly ExpandedTerm[];
  /**
   * Terms within the allowed edits, nearest first; without the word itself, terms of its stem, and terms with a digit.
   */
  readonly typos: readonly ExpandedTerm[];
  /** Terms that begin with the word, without the word itself; empty unless `prefixesMax` is above 0. */
  readonly prefixes: readonly ExpandedTerm[];
  /**
   * Terms that begin or end with the word, without those of its stem. Only for words that are written together: in
   * scripts without blanks, in Hangul, and in languages that join words.
   */
  readonly compounds: readonly ExpandedTerm[];
}

/** Each list of a WordExpansion has at most the first `…Max` terms. */
export interface ExpandOptions {
  /** By word: 0, 1 or 2. A word with a digit has neither stems nor typos, whatever this is. */
  readonly editsMax: readonly number[];
  readonly stemsMax: number;
  readonly typosMax: number;
  readonly prefixesMax: number;
  readonly compoundsMax: number;
}

export interface NameSuggestion {
  /** As first written. */
  readonly name: string;
  readonly kind: 'start' | 'word' | 'typo';
  readonly distance: number;
  /** True if other records may have a name that differs only in case and is not reported. */
  readonly isShared: boolean;
}

export interface AnalysedToken {
  readonly term: string;
  /** UTF-16 range of the surface form in the text. */
  readonly begin: number;
  readonly end: number;
  readonly position: number;
  /**
   * For a word that contains full stops, colons, low lines or capitals: the finest parts that are indexed beside it, in
   * order; empty if it has none or if not all of it is indexed in parts.
   */
  readonly parts?: readonly string[];
  /** The term with the signs beside the word (`c#`, `.net`, `#tag`), under which it is indexed as well. */
  readonly signed?: string;
}

/** Cuts a stream of bytes into records without parsing them. */
export interface RecordSplitter {
  /**
   * Takes the next bytes. Returns the records that are complete by now, concatenated, each followed by one 0x0a and
   * otherwise free of it (line breaks inside JSON strings cannot occur; outside strings they become blanks; in CSV,
   * line breaks inside quotes stay 0x0a, so use `ends`); null if none is complete. An error in the stream is thrown by
   * the call after the one that returned the records before it.
   */
  push(chunk: Uint8Array): SplitRecords | null;
  /** Returns the rest at the end of the stream; throws KernelError('invalid-argument') for an unfinished array. */
  end(): SplitRecords | null;
}
export interface SplitRecords {
  readonly bytes: Uint8Array;
  /** Offset after each record in `bytes` (after its 0x0a). */
  readonly ends: Uint32Array;
  /** 1-based line (NDJSON, CSV) or element (JSON array) on which each record begins; blank lines count. */
  readonly lines: Uint32Array;
}

/** A segment that is being built. The code that began it must finish or abandon it. */
export interface SegmentBuild {
  /**
   * Adds copies of whole documents, one after the other, as in a batch after its count. `finish` throws errors in them.
   */
  add(documents: Uint8Array): void;
  /** Ends the documents. */
  end(): void;
  /** Waits for the build, and returns or throws what `buildSegment` does. The segment must not be used before. */
  finish(): SegmentSummary;
  /** Waits until the build has stopped. An unfinished segment leaves no file. */
  abandon(): void;
}
