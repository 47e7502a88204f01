/** What calls of the kernel take and return, as TypeScript sees it (index.ts). */

export type ColumnType = 'string' | 'number' | 'boolean' | 'date' | 'location';

/** What a segment indexes. Order matters: text fields and columns are numbered by it. */
export interface SegmentSchema {
  /** BCP 47 primary tag: whose stems group the terms. 'none', absent or without a stemmer here: no stems. */
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
  /** Terms that the generation has no more when the merged segment takes the place of its sources; absent where they are many, or none was given. */
  readonly lostTerms?: readonly string[];
}

/**
 * `unsupported-format`: a segment of another format version; `damaged`: one that no version would have written so.
 * `stopped`, `deadline`, `slice`: what `watchStop` says.
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

/** An open segment; the same path gives the same handle. Closed when closeSegment was called as often. */
export type SegmentHandle = number;
/** A published generation, held until releaseGeneration. The service uses one under leases only (src/index/versions/published-generation.ts). */
export type GenerationHandle = number;

/** An open segment of vectors, as `SegmentHandle` is one of words. */
export type VectorSegmentHandle = number;

/** Vectors in any order; those of a record have different places. Their lengths are made 1. */
export interface VectorRows {
  readonly dimensions: number;
  /** One behind the other. */
  readonly vectors: Float32Array;
  /** Record number of each. */
  readonly records: Uint32Array;
  /** Which of its record's vectors each is: the number of a passage. */
  readonly places: Uint32Array;
}

export interface VectorSegmentSummary {
  readonly vectorCount: number;
  /** Those that differ. */
  readonly nodeCount: number;
  readonly dimensions: number;
  readonly fileBytes: number;
  /** Few are compared one by one, and have none. */
  readonly hasGraph: boolean;
}

/** `deleted`: a bitmap, one bit a vector (least significant first). `deletions`: all vectors of these records in the segment. */
export interface VectorChange {
  readonly add?: readonly { readonly segment: VectorSegmentHandle; readonly deleted?: Uint8Array }[];
  readonly remove?: readonly VectorSegmentHandle[];
  readonly deletions?: readonly { readonly segment: VectorSegmentHandle; readonly records: Uint32Array }[];
}

/**
 * What is near to a vector, beside the words of the plan. The score of a record by meaning is that of its best vector's cosine:
 * `farthest` is 0, `nearest` is 1, and others lie in a line with these. The hit's score is `weight` times that and the rest times the
 * words', at most 1.
 */
export interface MeaningSearch extends NearSearch {
  /** Above 0, up to 1. */
  readonly weight: number;
  /** False: what words find is scored, and nothing else found. Default true. */
  readonly adds?: boolean;
  /** A score of the words that counts as 1; 0: what the best record of such words is expected to score. Default 1. */
  readonly wordsFull?: number;
}

/** What is near to a vector: `farthest` scores 0, `nearest` 1, and others lie in a line with these. */
export interface NearSearch {
  /** Of any length above zero. */
  readonly vector: Float32Array;
  /** The score, 0..1, from which on a record is a hit that nothing else finds. */
  readonly floor: number;
  /** Cosines, -1..1. */
  readonly farthest: number;
  readonly nearest: number;
  /**
   * At most so many vectors find, the nearest; 1 to `constants.MeaningWantedMax`. What is a hit depends on it: it is to be the same
   * on every page.
   */
  readonly wanted: number;
  /** Candidates that are kept while a graph is searched, 1 to `constants.MeaningWidthMax`: more find more of the nearest. */
  readonly width: number;
  /** Every vector is compared by itself. Default false. */
  readonly exact?: boolean;
}

/** Pictures of the records that are near to a vector, of a generation with the segments of the one that is searched: those that are not found have no score. */
export interface PicturesSearch extends NearSearch {
  readonly generation: GenerationHandle;
}

/** Words that are looked for in a part of the records. */
export interface PartSearch {
  /** Where the generation has no such part, nothing is found in it. */
  readonly name: string;
  readonly kind: 'document' | 'image' | 'video' | 'audio';
  /** Bytes of a query plan over the terms and columns of the part: its groups, sequences, bonuses and filter count, the rest does not. */
  readonly plan: Uint8Array;
  /** 0..1, of the score as it is told: documents with less are none. */
  readonly floor: number;
  /** A score of the words that counts as 1; 0: what the best document of such words is expected to score. Default 1. */
  readonly full?: number;
}

/**
 * Parts of the records beside their text, which is words and meaning: a hit's score is the greatest of the text's and of each part's, which is
 * that of the record's best document in it. Filter, facets, order and what words exclude are those of the records.
 */
export interface PartsSearch {
  readonly parts: readonly PartSearch[];
  /** Behind the parts, as kind `image`. */
  readonly pictures?: PicturesSearch;
  /** 0..1: a record with less is no hit by its text. Default 0. */
  readonly textFloor?: number;
}

export interface SegmentChange {
  /** `deleted`: a bitmap, one bit a document (least significant first), of documents deleted from the start. */
  readonly add?: readonly {
    readonly segment: SegmentHandle;
    readonly deleted?: Uint8Array;
    /** Its terms that the base does not have, and those that go with the segments that it takes the place of; absent where they are not known. */
    readonly changedTerms?: readonly string[];
  }[];
  readonly remove?: readonly SegmentHandle[];
  readonly deletions?: readonly { readonly segment: SegmentHandle; readonly documents: Uint32Array }[];
  /** Terms that go with what is removed, where nothing is added; absent where they are not known. */
  readonly goneTerms?: readonly string[];
}

/** Of an index whose documents lead to records: its first two columns are numbers, of the record and of which of its documents it is. */
export interface PartChange extends SegmentChange {
  /** 1 to 32 lower-case letters. */
  readonly name: string;
}

export interface GenerationChange extends SegmentChange {
  readonly base?: GenerationHandle;
  readonly vectors?: VectorChange;
  /** Those that are not named stay as the base has them. */
  readonly parts?: readonly PartChange[];
  /** JSON for the planner in the search workers, opaque to the kernel. Kept from the base when absent. */
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

/** A term of the dictionary and the documents that hold it, over all segments of the generation, deleted ones included. */
export interface ExpandedTerm {
  readonly term: string;
  readonly documentFrequency: number;
  /** Edits from the word; 0 for a stem or a prefix. A transposition of neighbours is one edit. */
  readonly distance: number;
}

/** By falling document frequency, then by term, unless it says more. */
export interface WordExpansion {
  /** Of the word as typed. */
  readonly documentFrequency: number;
  /** Other terms with the word's stem in the list's language. */
  readonly stems: readonly ExpandedTerm[];
  /** Terms within the allowed edits that are neither the word nor of its stem, nor hold a digit: the nearest first. */
  readonly typos: readonly ExpandedTerm[];
  /** Terms that begin with the word (the word itself left out); empty unless `prefixesMax` asks. */
  readonly prefixes: readonly ExpandedTerm[];
  /**
   * Terms that begin or end with the word, where words are written together: in scripts without blanks, in Hangul, and in languages
   * that join words. Those of the stem are left out.
   */
  readonly compounds: readonly ExpandedTerm[];
}

/** Each list of a WordExpansion holds its first `…Max` terms. */
export interface ExpandOptions {
  /** Per word: 0, 1 or 2. A word with a digit has neither stems nor typos whatever this says. */
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
  /** Other records may have a name that differs from it in its case alone, and are not told of. */
  readonly isShared: boolean;
}

export interface AnalysedToken {
  readonly term: string;
  /** UTF-16 range of the surface form in the text. */
  readonly begin: number;
  readonly end: number;
  readonly position: number;
  /**
   * Of a word with full stops, colons, low lines or capitals in it: the finest parts that are indexed beside it, as neighbours; empty
   * where it has none or not all of it is indexed so.
   */
  readonly parts?: readonly string[];
}

/** Cuts a stream of bytes into records without parsing them. */
export interface RecordSplitter {
  /**
   * Takes the next bytes; returns the whole records that are complete by now, concatenated, each followed by one
   * 0x0a and none containing one (line breaks inside JSON strings cannot occur; outside they become blanks; for
   * CSV, line breaks inside quotes are kept as 0x0a, so use `ends`), or null when none is complete. An error in
   * the stream is thrown by the call after the one that returned the records before it.
   */
  push(chunk: Uint8Array): SplitRecords | null;
  /** What is left at the end of the stream; throws KernelError('invalid-argument') for an unfinished array. */
  end(): SplitRecords | null;
}
export interface SplitRecords {
  readonly bytes: Uint8Array;
  /** Offset behind each record in `bytes` (behind its 0x0a). */
  readonly ends: Uint32Array;
  /** 1-based line (NDJSON, CSV) or element (JSON array) on which each record begins; blank lines count. */
  readonly lines: Uint32Array;
}

/** A segment that is being built. Whoever has begun one finishes or abandons it. */
export interface SegmentBuild {
  /** Whole documents, one behind the other, as a batch has them behind its count; they are copied. What is wrong with them `finish` throws. */
  add(documents: Uint8Array): void;
  /** No document follows. */
  end(): void;
  /** Waits for what `buildSegment` returns or throws. Nothing has happened before. */
  finish(): SegmentSummary;
  /** Waits until nobody builds any more; what is not finished leaves no file. */
  abandon(): void;
}
