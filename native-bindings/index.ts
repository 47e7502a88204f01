/**
 * The TypeScript interface of the kernel. One native library serves the whole process: segments and generations are
 * held once, however many worker threads use them, and handles are valid in every thread.
 *
 * Every call is synchronous and checks its arguments: a wrong type is a TypeError, a failure a `KernelError`.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  AnalysedToken,
  ExpandOptions,
  ExpandedTerm,
  GenerationChange,
  GenerationHandle,
  GenerationInfo,
  KernelError,
  DistinctCounts,
  DistinctFacets,
  DistinctList,
  MeaningSearch,
  MergeSummary,
  NameSuggestion,
  PartsSearch,
  RecordSplitter,
  SegmentBuild,
  SegmentHandle,
  SegmentSchema,
  SegmentSummary,
  VectorRows,
  VectorSegmentHandle,
  VectorSegmentSummary,
  WordExpansion,
} from './kernel-types.js';

export type * from './kernel-types.js';

export interface Kernel {
  /**
   * Numbers of format.h, plan.h and other headers that TypeScript needs, by their C++ names without the k:
   * `WindowSize`, …
   */
  readonly constants: Readonly<Record<string, number>>;
  /** `{compiler, simd, lmdb, format}` for `gannet doctor`. */
  readonly build: Readonly<Record<string, string>>;

  /**
   * Takes an exclusive advisory lock (flock) on a file, which is created if missing; null if another process holds it.
   */
  lockFile(path: string): { release(): void } | null;
  /**
   * Sends one datagram to a Unix socket; a name that begins with @ is in Linux's abstract namespace. Returns false if
   * the receiver has no room now; throws a KernelError `io` if there is no receiver.
   */
  notifyServiceManager(socket: string, text: string): boolean;
  /**
   * Releases the resident pages of every shared file mapping under a folder (an absolute path); they stay in the
   * system's cache. Returns the bytes of address space mapped there; 0 if the system does not report them (other than
   * Linux).
   */
  trimMappings(folder: string): number;
  /**
   * Address of the lock (pthread_rwlock_t) that `trimMappings` takes: other libraries of the process hold it for
   * reading while they unmap files.
   */
  mappingsLock(): bigint;
  /**
   * Sets the maximum number of the allocator's arenas, and the size from which a freed block is returned to the system
   * at once. For the whole process; to be called before it has threads. Returns false if the allocator has no such
   * limits (other than glibc's).
   */
  limitAllocator(arenasMax: number, returnedBytesMin: number): boolean;
  /**
   * Returns the paths of data files that were cut while they were mapped, or that the disk could not read, since the
   * last call, each once. Zeros were read there.
   */
  takeUnreadableFiles(): string[];
  /** Returns how often that has happened since the process began, in all of its threads. */
  unreadableCount(): number;
  /**
   * Returns free memory in the allocator's arenas to the system: takes some milliseconds, for which other threads may
   * wait.
   */
  releaseFreeMemory(): void;
  /**
   * Stops work of another thread that watches this flag; flags are those of the process, 0 to `constants.StopFlagsMax`
   * - 1. Before the flag is given to later work, it must be lowered.
   */
  raiseStop(flag: number): void;
  lowerStop(flag: number): void;
  /** Milliseconds of a monotonic clock that all threads share. */
  steadyMs(): number;
  /**
   * Ends the process at once, whatever its threads do (`process.exit` waits for each of them). Nothing that is still to
   * be written is written.
   */
  endProcess(status: number): never;
  /**
   * Watches the work of this thread in the kernel until `unwatchStop` or the next call. The work ends with a
   * KernelError within milliseconds: `stopped` once the flag is raised, `deadline` at this time of `steadyMs`, `slice`
   * once it has used so many milliseconds of processor time, or has waited many times as long. Infinity means never.
   */
  watchStop(flag: number, sliceMs: number, deadlineMs: number): void;
  unwatchStop(): void;
  /** Throws what the kernel would throw now. For long work outside the kernel. */
  stopIfAsked(): void;
  /**
   * Sets the name of the calling thread in `top -H` and similar tools, cut to 15 bytes; returns false if the system
   * does not allow it.
   */
  nameThread(name: string): boolean;
  /**
   * Asks the system to give the calling thread a processor for so many milliseconds at a time, 0.1 to 100. With a
   * shorter slice the thread runs sooner after it wakes; with a longer one, others do. Its share over time stays the
   * same. Returns false if the system does not support this.
   */
  setThreadSlice(sliceMs: number): boolean;
  /** The same for all other current threads of the process; returns false if it failed for any of them. */
  setSliceOfOtherThreads(sliceMs: number): boolean;
  /**
   * `csvSeparator` separates the fields of CSV: one ASCII character that is neither a quote nor a line break. Default
   * `,`.
   */
  createRecordSplitter(
    format: 'ndjson' | 'json' | 'csv',
    recordBytesMax: number,
    csvSeparator?: string,
  ): RecordSplitter;

  buildSegment(path: string, schema: SegmentSchema, documents: Uint8Array): SegmentSummary;
  /**
   * As buildSegment, in a thread of its own while the documents still arrive; null if the process cannot start another
   * thread.
   */
  beginSegment(path: string, schema: SegmentSchema): SegmentBuild | null;
  /** `generation` is the one that has the sources, needed for `lostTerms`. */
  mergeSegments(
    path: string,
    schema: SegmentSchema,
    sources: readonly { readonly segment: SegmentHandle; readonly deleted?: Uint8Array }[],
    generation?: GenerationHandle,
  ): MergeSummary;
  /** Throws `unsupported-format`, `damaged` or (also for a missing file) `io`. */
  openSegment(path: string): SegmentHandle;
  /** Reads the whole file of a segment of this format. Throws `damaged` if any byte is not as it was written. */
  checkSegment(path: string): void;
  /**
   * The same in a thread of libuv's pool, without blocking the calling one; rejects with what `checkSegment` throws.
   */
  checkSegmentInBackground(path: string): Promise<void>;
  closeSegment(segment: SegmentHandle): void;

  /**
   * Writes a segment of vectors. With more than some thousand vectors it has a graph, which takes about a minute of
   * processor time per 500,000. With `graph`: false, each search compares all vectors until a merge makes a graph.
   * Throws `invalid-argument` if there is no vector, if one has length zero or a component that is not finite, or if
   * two have the same record and place.
   */
  buildVectorSegment(path: string, rows: VectorRows, options?: { readonly graph?: boolean }): VectorSegmentSummary;
  /** Writes all vectors of the sources except `deleted` ones (one bit per vector, the least significant first). */
  mergeVectorSegments(
    path: string,
    sources: readonly { readonly segment: VectorSegmentHandle; readonly deleted?: Uint8Array }[],
  ): VectorSegmentSummary;
  /** Approximate memory, in bytes, that building or merging this many vectors takes. */
  vectorBuildBytes(vectorCount: number, dimensions: number): number;
  /** Reads only the header. Throws `unsupported-format`, `damaged` or (also for a missing file) `io`. */
  openVectorSegment(path: string): VectorSegmentHandle;
  closeVectorSegment(segment: VectorSegmentHandle): void;
  /** Reads the whole file. Throws `damaged` if any byte is not as it was written. */
  checkVectorSegment(path: string): void;
  checkVectorSegmentInBackground(path: string): Promise<void>;
  /** Record and place of each vector, ascending by record and place. */
  vectorSegmentRows(segment: VectorSegmentHandle): { readonly records: Uint32Array; readonly places: Uint32Array };
  generationVectors(generation: GenerationHandle): readonly {
    readonly segment: VectorSegmentHandle;
    readonly dimensions: number;
    readonly vectorCount: number;
    readonly deletedCount: number;
    readonly fileBytes: number;
    /** Number of bytes that an unfiltered search reads sequentially; equal vectors count once. 0 if it has a graph. */
    readonly comparedBytes: number;
    /** True if a merge would build a graph, because it has enough different vectors. */
    readonly lacksGraph: boolean;
  }[];
  /** Deleted vectors as a bitmap; undefined if there are none. */
  vectorDeletions(generation: GenerationHandle, segment: VectorSegmentHandle): Uint8Array | undefined;
  /**
   * Bitmap of the deleted vectors and of those whose record has no live document in the generation: a merge must leave
   * these out.
   */
  deadVectors(generation: GenerationHandle, segment: VectorSegmentHandle): Uint8Array;
  /** For each record the sum of its vectors, one after the other; zeros if it has none. */
  recordVectors(generation: GenerationHandle, recordNumbers: Uint32Array): Float32Array;

  /** Deleted documents of a segment in a generation as a bitmap; undefined if there are none. */
  generationDeletions(generation: GenerationHandle, segment: SegmentHandle): Uint8Array | undefined;
  publishGeneration(change: GenerationChange): GenerationHandle;
  releaseGeneration(generation: GenerationHandle): void;
  generationInfo(generation: GenerationHandle): GenerationInfo;
  /**
   * True with `GANNET_KERNEL_CHECK_LEASES=1`, a debug mode: the process ends with a message on standard error if a
   * generation whose leases are counted, or a segment of one, is used while it has no lease, or is released while it
   * has some.
   */
  readonly checksLeases: boolean;
  /** Debug mode only: adds `by` leases to a generation. The first call, possibly with 0, begins the counting. */
  countLeases(generation: GenerationHandle, by: -1 | 0 | 1): void;
  generationSettings(generation: GenerationHandle): string;
  /**
   * Returns the parts of the records. They are generations with handles of their own, which can be used wherever a
   * generation is read until all generations that have them are released. A part that a change does not name keeps its
   * handle.
   */
  generationParts(
    generation: GenerationHandle,
  ): readonly { readonly name: string; readonly generation: GenerationHandle }[];

  /**
   * Returns the live document of each record number: pairs (segment handle, document), 0xffffffff twice if there is
   * none.
   */
  locate(generation: GenerationHandle, recordNumbers: Uint32Array): Uint32Array;
  /** Returns the record numbers of a segment's documents. */
  recordNumbers(segment: SegmentHandle): Uint32Array;
  /** Returns the documents with these record numbers in a segment; 0xffffffff if there is none. */
  documentsOf(segment: SegmentHandle, recordNumbers: Uint32Array): Uint32Array;
  /** Returns the documents of a part's segment that lead to any of these records, ascending. */
  findPartDocuments(segment: SegmentHandle, records: Uint32Array): Uint32Array;

  /**
   * Evaluates a plan (query-plan.ts) and returns the result (query-result.ts). Its bytes may share their ArrayBuffer
   * with other results: copy what is kept or sent to another thread.
   */
  search(generation: GenerationHandle, plan: Uint8Array, meaning?: MeaningSearch, parts?: PartsSearch): Uint8Array;
  /**
   * Counts the hits of searches that have one hit per value, and the values of their facets, over all lists together:
   * what several lists have of one value is one hit.
   */
  countDistinct(lists: readonly DistinctList[], facets: DistinctFacets): DistinctCounts;
  collectRecordNumbers(generation: GenerationHandle, plan: Uint8Array): Uint32Array;
  /** Returns the document frequency of each folded term in the generation. */
  documentFrequencies(generation: GenerationHandle, terms: readonly string[]): Uint32Array;
  /**
   * Returns three document frequencies for each place between two characters (code points) of the folded word: of the
   * rarer of the two parts, and of both in one term with `.` and with `_` between them. If the first is 0, so are the
   * others, since a word with such a mark is indexed by its parts as well; except at the first and the last place, where
   * a part is a single character and not indexed. Costs far less than `documentFrequencies` of all these.
   */
  findSplits(generation: GenerationHandle, word: string): Uint32Array;
  /**
   * Returns true if a document has the two folded words next to each other, as a phrase would match. Deleted documents
   * count until a merge drops them. Costs as much as a search for the phrase that ends at its first hit.
   */
  areNeighbours(generation: GenerationHandle, left: string, right: string): boolean;

  /**
   * Returns the terms of the generation's dictionaries that each query word may stand for. Bounded and deterministic;
   * answered from a cache in the kernel for segments that have not changed.
   */
  expand(generation: GenerationHandle, words: readonly string[], options: ExpandOptions): WordExpansion[];
  /**
   * Returns a number for each word that names what `expand` says about it. If two numbers are the same, in whatever
   * generations, stems, typos and compounds are the same in the same order, and the word is a term in both or in
   * neither. Document frequencies may differ, and prefixes are not considered. 0: neither the word nor any such terms
   * exist. Costs a fraction of `expand`.
   */
  nameExpansions(generation: GenerationHandle, words: readonly string[], options: ExpandOptions): Float64Array;
  /**
   * Names the terms of a generation's dictionaries. Generations with the same `name` have the same terms, and the
   * frequency of each has changed by at most 1/64 of the documents. `name` changes with each new term; `root` stays the
   * same as long as there are few.
   */
  vocabulary(generation: GenerationHandle): { readonly name: number; readonly root: number };
  /**
   * For each word, 0 if the terms that it may stand for, and whether the word itself is a term, are certainly the same
   * in this generation as with the vocabulary of that name in `vocabularies` (one per word); 1 if they may differ.
   */
  affectedWords(
    generation: GenerationHandle,
    words: readonly string[],
    editsMax: readonly number[],
    vocabularies: readonly number[],
  ): Uint8Array;
  /**
   * Returns the terms of a segment that the generation does not have; undefined if there are many, or if the segment is
   * too large to look.
   */
  newTerms(generation: GenerationHandle, segment: SegmentHandle): readonly string[] | undefined;
  /**
   * Returns the terms that only these segments of the generation have; undefined if there are many, or if the segments
   * are too large to look.
   */
  lostTerms(generation: GenerationHandle, segments: readonly SegmentHandle[]): readonly string[] | undefined;

  /**
   * Returns values of a string column for a partly typed text. Without edits: those that begin with `prefix` (a folded
   * key), then those that have a word beginning with it. With edits: those that begin with it except for 1 to `edits`
   * edits. Otherwise in the order of their keys. Values of deleted documents are included until a merge drops them.
   */
  suggestNames(
    generation: GenerationHandle,
    column: string,
    prefix: string,
    edits: number,
    limit: number,
  ): NameSuggestion[];
  /**
   * Returns terms that begin with `prefix` except for at most `edits` edits, the prefix itself included: nearest first,
   * then by falling document frequency.
   */
  completeWord(generation: GenerationHandle, prefix: string, edits: number, limit: number): ExpandedTerm[];
  /**
   * Counts the live records that have, for each word of the context, one of its terms (`context`), and how many of
   * these have each completion. Completions are counted in order until `wanted` of them have any; the others are 0.
   * Without words, every record counts.
   */
  countInContext(
    generation: GenerationHandle,
    context: readonly (readonly string[])[],
    completions: readonly string[],
    wanted: number,
  ): { readonly context: number; readonly completions: Uint32Array };

  /**
   * Returns record numbers of live records that have a folded term, ascending: at most `limit` (64) of the first ones
   * that the segments have. The time does not depend on how many have it.
   */
  firstRecords(generation: GenerationHandle, term: string, limit: number): Uint32Array;

  analyse(text: string): AnalysedToken[];
  /**
   * Returns the terms of the text in order, each as its stem if the language (a BCP 47 primary tag) has one for it, so
   * that other forms of the word give the same. Compare stems only with stems.
   */
  stems(text: string, language: string): string[];
  /** Returns a number that increases when the stems of the language change from one release to the next. */
  stemsRevision(language: string): number;
  /** True if the text has a script without spaces; see segmentForKernel. */
  needsSegmentation(text: string): boolean;
  /**
   * Returns the highlights of records as JSON objects, one after the other. `ranges` has begin and end of the UTF-8
   * JSON object of each record's fields in `texts`; the offset after each record's highlights is written to `ends`.
   * Everything that the groups of the plan (query-plan.ts) may match is marked, with all alternatives, except words
   * that must not occur. The object is '{}' if nothing matches, and empty if a text of these fields needs dictionary
   * segmentation first and has no U+200B (segmentForKernel always inserts one). The bytes may share their ArrayBuffer
   * with other results: copy what is kept or sent to another thread.
   */
  highlight(
    texts: Uint8Array,
    ranges: Uint32Array,
    ends: Uint32Array,
    fieldNames: readonly string[],
    plan: Uint8Array,
  ): Uint8Array;
  /**
   * As `highlight`, for the stored texts of pages: returns the best passage of each as a JSON string of HTML, one after
   * the other; empty if nothing matches. `numbers` has four numbers for each text: its begin and end in `texts`, how it
   * is stored (PageDeflated: raw deflate of UTF-8, or no bytes for an empty text; PagePlain; PageDamaged;
   * PageByDictionary + i: packed with dictionary i), and the size of the text if a dictionary packs it. In `ends`,
   * HighlightToBeSegmented means that the text has a script without spaces and must go through segmentForKernel and
   * `highlight`; HighlightUnreadable means that the bytes are not such a text. Throws KernelError `damaged` if a
   * dictionary is not one.
   */
  highlightPages(
    texts: Uint8Array,
    numbers: Uint32Array,
    ends: Uint32Array,
    plan: Uint8Array,
    dictionaries: readonly Uint8Array[],
  ): Uint8Array;

  /**
   * Returns a dictionary of the words that save most bytes of these texts (docs/formats.md); no bytes if no word is
   * worth it. `begins` and `ends` are the range of each text in `texts`.
   */
  learnWords(texts: Uint8Array, begins: Uint32Array, ends: Uint32Array): Uint8Array;
  /** True if the bytes are, by their checksum, a dictionary as it was learned. Reads every byte. */
  areWords(dictionary: Uint8Array): boolean;
  /**
   * Packs consecutive records in place. `fields` is where the fields of each record begin (its end, if it is not to be
   * packed); `ends` is where each record ends, and is updated. `number` is the number of the dictionary. A record that
   * would not become shorter stays unchanged. Returns the end of the last record. Throws KernelError `damaged` if the
   * dictionary is not one.
   */
  packRecords(
    dictionary: Uint8Array,
    number: number,
    records: Uint8Array,
    fields: Uint32Array,
    ends: Uint32Array,
  ): number;
  /**
   * Unpacks into `texts`. `ranges` has five numbers for each text: in `bytes`, where it begins, up to where it is
   * copied unchanged, and where the packed text after that ends; in `texts`, where it begins and ends. Returns how many
   * were unpacked: fewer than given if one is not a packed text of that length. Throws KernelError `damaged` if the
   * dictionary is not one.
   */
  unpackWords(dictionary: Uint8Array, bytes: Uint8Array, ranges: Uint32Array, texts: Uint8Array): number;
}

/** Must equal kInterfaceVersion in addon/constants.cc: incremented with every change of the interface. */
const INTERFACE_VERSION = 20;

/**
 * Returns the folder of package.json above this file, which runs as a source file in tests and as
 * dist/native-bindings/index.js.
 */
function packageFolder(): string {
  const start = path.dirname(fileURLToPath(import.meta.url));
  let folder = start;
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error(`no package.json above ${start}`);
    folder = parent;
  }
  return folder;
}

function loadKernel(): Kernel {
  const file = path.join(packageFolder(), 'native-bindings', 'build', 'Release', 'gannet_kernel.node');
  if (!existsSync(file)) {
    throw new Error(`The native kernel has not been built (${file} is missing). Run \`npm run setup\`.`);
  }
  let loaded: Kernel;
  try {
    loaded = createRequire(import.meta.url)(file) as Kernel;
  } catch (cause) {
    throw new Error(
      `The native kernel ${file} cannot be loaded by Node.js ${process.version} (${process.platform}-${process.arch}); ` +
        'it may have been built for another version or machine. Run `npm run setup`.',
      { cause },
    );
  }
  const version = loaded.constants?.['InterfaceVersion'];
  if (version !== INTERFACE_VERSION) {
    throw new Error(
      `The native kernel ${file} is of another version of Gannet (interface ${version ?? 'unknown'}, ` +
        `expected ${INTERFACE_VERSION}). Run \`npm run setup\`.`,
    );
  }
  return loaded;
}

export const kernel: Kernel = loadKernel();

/**
 * Returns a number that C++ defines (format.h, plan.h, document_batch.h, …). An unknown name is a programming error.
 */
export function kernelConstant(name: string): number {
  const value = kernel.constants[name];
  if (value === undefined) throw new Error(`the kernel has no constant ${name}`);
  return value;
}

export function isKernelError(error: unknown): error is KernelError {
  return error instanceof Error && error.name === 'KernelError';
}
