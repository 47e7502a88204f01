/**
 * The kernel as TypeScript sees it. One native library serves the whole process: segments and generations are
 * held once, however many worker threads use them, and handles are good in every thread.
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
  /** Numbers of format.h and plan.h that TypeScript needs, by their C++ names without the k: `WindowSize`, … */
  readonly constants: Readonly<Record<string, number>>;
  /** `{compiler, simd, lmdb, format}` for `gannet doctor`. */
  readonly build: Readonly<Record<string, string>>;

  /** An exclusive advisory lock (flock) on a file, created if missing; null when another process holds it. */
  lockFile(path: string): { release(): void } | null;
  /**
   * Sends one datagram to a socket of the file system, or to an abstract one, whose name begins with @. False where the receiver has no room
   * now; throws a KernelError `io` where there is no receiver.
   */
  notifyServiceManager(socket: string, text: string): boolean;
  /**
   * Lets go of the resident pages of every shared file mapping under a folder (an absolute path); they stay in the system's
   * cache. Returns the bytes of address space that were mapped there; 0 where the system does not tell (other than Linux).
   */
  trimMappings(folder: string): number;
  /** The address of a lock (pthread_rwlock_t) that `trimMappings` holds: other libraries of the process hold it for reading while they unmap files. */
  mappingsLock(): bigint;
  /**
   * Of the whole process, before it has threads: how many arenas the allocator has at most, and from what size on a freed
   * block goes back to the system at once. False where the allocator knows no such limits (other than glibc's).
   */
  limitAllocator(arenasMax: number, returnedBytesMin: number): boolean;
  /**
   * Paths of data files that were cut while they were mapped, or that the disk could not read, since this was called last, each once; what
   * was read there were zeros.
   */
  takeUnreadableFiles(): string[];
  /** How often that was so since the process began, in all of its threads. */
  unreadableCount(): number;
  /** Gives back to the system what is free in the allocator's arenas: some milliseconds, which other threads may wait for. */
  releaseFreeMemory(): void;
  /**
   * Ends work of another thread that watches this flag: one of the process, 0 to `constants.StopFlagsMax` - 1. Whoever gives the
   * flag to work that comes later lowers it first.
   */
  raiseStop(flag: number): void;
  lowerStop(flag: number): void;
  /** Milliseconds of a clock that all threads share and that never goes back. */
  steadyMs(): number;
  /** Ends the process here and now, whatever its threads do: `process.exit` waits for what each of them is in. Nothing that was not written is. */
  endProcess(status: number): never;
  /**
   * Until `unwatchStop`, or until this thread watches something else, its work in the kernel ends with a KernelError within
   * milliseconds: `stopped` once the flag is raised, `deadline` at this time of `steadyMs`, `slice` when it has taken so many milliseconds of a
   * processor, or many times that of waiting; Infinity: never.
   */
  watchStop(flag: number, sliceMs: number, deadlineMs: number): void;
  unwatchStop(): void;
  /** Throws what the kernel would throw now: for work outside of it that takes long, too. */
  stopIfAsked(): void;
  /** What the calling thread is called in `top -H` and the like, of which 15 bytes are kept; false where the system does not allow it. */
  nameThread(name: string): boolean;
  /**
   * Asks the system to give the calling thread a processor for so many milliseconds at a time, 0.1 to 100: with little of them it runs soon after it
   * wakes, with many others do. Its share over time is the same. False where the system has nothing of the kind.
   */
  setThreadSlice(sliceMs: number): boolean;
  /** The same for all other threads that the process has now; false where it was not done for one of them. */
  setSliceOfOtherThreads(sliceMs: number): boolean;
  /** `csvSeparator`: what stands between the fields of CSV, one ASCII character that is neither a quote nor a line break. Default `,`. */
  createRecordSplitter(
    format: 'ndjson' | 'json' | 'csv',
    recordBytesMax: number,
    csvSeparator?: string,
  ): RecordSplitter;

  buildSegment(path: string, schema: SegmentSchema, documents: Uint8Array): SegmentSummary;
  /** The same by a thread of its own, while the documents still come; null where the process may have no other thread. */
  beginSegment(path: string, schema: SegmentSchema): SegmentBuild | null;
  /** `generation`: the one that the sources are of, for `lostTerms`. */
  mergeSegments(
    path: string,
    schema: SegmentSchema,
    sources: readonly { readonly segment: SegmentHandle; readonly deleted?: Uint8Array }[],
    generation?: GenerationHandle,
  ): MergeSummary;
  /** Throws `unsupported-format`, `damaged` or (a missing file too) `io`. */
  openSegment(path: string): SegmentHandle;
  /** Reads the whole file of a segment of this format. Throws `damaged` where a byte of it is not as it was written. */
  checkSegment(path: string): void;
  /** The same on a thread of the system's pool, which is not held up meanwhile; rejects with what `checkSegment` throws. */
  checkSegmentInBackground(path: string): Promise<void>;
  closeSegment(segment: SegmentHandle): void;

  /**
   * Writes a segment of vectors; with more than some thousand it has a graph, which takes a processor about a minute a 500,000. Without
   * (`graph`: false) each search compares all of it, until a merge makes one. Throws
   * `invalid-argument` where there is no vector, one has no length or a component that is no number, or two are of one place.
   */
  buildVectorSegment(path: string, rows: VectorRows, options?: { readonly graph?: boolean }): VectorSegmentSummary;
  /** All vectors of the sources but those `deleted` (a bit each, the least significant first). */
  mergeVectorSegments(
    path: string,
    sources: readonly { readonly segment: VectorSegmentHandle; readonly deleted?: Uint8Array }[],
  ): VectorSegmentSummary;
  /** Bytes of memory that building or merging so many takes, about. */
  vectorBuildBytes(vectorCount: number, dimensions: number): number;
  /** Reads the header alone. Throws `unsupported-format`, `damaged` or (a missing file too) `io`. */
  openVectorSegment(path: string): VectorSegmentHandle;
  closeVectorSegment(segment: VectorSegmentHandle): void;
  /** Reads the whole file. Throws `damaged` where a byte of it is not as it was written. */
  checkVectorSegment(path: string): void;
  checkVectorSegmentInBackground(path: string): Promise<void>;
  /** Of each vector, by rising record and place. */
  vectorSegmentRows(segment: VectorSegmentHandle): { readonly records: Uint32Array; readonly places: Uint32Array };
  generationVectors(generation: GenerationHandle): readonly {
    readonly segment: VectorSegmentHandle;
    readonly dimensions: number;
    readonly vectorCount: number;
    readonly deletedCount: number;
    readonly fileBytes: number;
    /** What a search that no filter narrows reads of it from the first to the last: of equal vectors one. 0 where it has a graph. */
    readonly comparedBytes: number;
    /** A merge would give it a graph: there are more that differ than are left without. */
    readonly lacksGraph: boolean;
  }[];
  /** What publishing deleted; undefined where that is nothing. */
  vectorDeletions(generation: GenerationHandle, segment: VectorSegmentHandle): Uint8Array | undefined;
  /** That, and every vector whose record has no live document in the generation: what a merge is to leave out. */
  deadVectors(generation: GenerationHandle, segment: VectorSegmentHandle): Uint8Array;
  /** For each record the sum of its vectors, one behind the other; zeros where it has none. */
  recordVectors(generation: GenerationHandle, recordNumbers: Uint32Array): Float32Array;

  /** Deleted documents of a segment in a generation as a bitmap; undefined where there is none. */
  generationDeletions(generation: GenerationHandle, segment: SegmentHandle): Uint8Array | undefined;
  publishGeneration(change: GenerationChange): GenerationHandle;
  releaseGeneration(generation: GenerationHandle): void;
  generationInfo(generation: GenerationHandle): GenerationInfo;
  /**
   * True with `GANNET_KERNEL_CHECK_LEASES=1`, a debug mode: the process ends with a sentence on standard error where a generation
   * whose leases are counted, or a segment of one, is used while it has none, or is released while it has some.
   */
  readonly checksLeases: boolean;
  /** Debug mode only: `by` more leases of a generation; the first call, which may say 0, begins to count them. */
  countLeases(generation: GenerationHandle, by: -1 | 0 | 1): void;
  generationSettings(generation: GenerationHandle): string;
  /**
   * Parts of the records are generations of their own, good wherever a generation is read, for as long as one that has them is not released.
   * Those that a change leaves alone keep their handle.
   */
  generationParts(
    generation: GenerationHandle,
  ): readonly { readonly name: string; readonly generation: GenerationHandle }[];

  /** Live document of each record number: pairs (segment handle, document), 0xffffffff twice where there is none. */
  locate(generation: GenerationHandle, recordNumbers: Uint32Array): Uint32Array;
  /** Record numbers of a segment's documents. */
  recordNumbers(segment: SegmentHandle): Uint32Array;
  /** Documents that hold these record numbers in a segment; 0xffffffff where there is none. */
  documentsOf(segment: SegmentHandle, recordNumbers: Uint32Array): Uint32Array;
  /** Documents of a part's segment that lead to any of these records, ascending. */
  findPartDocuments(segment: SegmentHandle, records: Uint32Array): Uint32Array;

  /**
   * The result (query-result.ts) of a plan (query-plan.ts). Its bytes may share their ArrayBuffer with other results: copy what is
   * kept, or sent to another thread.
   */
  search(generation: GenerationHandle, plan: Uint8Array, meaning?: MeaningSearch, parts?: PartsSearch): Uint8Array;
  collectRecordNumbers(generation: GenerationHandle, plan: Uint8Array): Uint32Array;
  /** Document frequency over the generation of each folded term. */
  documentFrequencies(generation: GenerationHandle, terms: readonly string[]): Uint32Array;

  /**
   * Terms of the generation's dictionaries that a query word may stand for. Bounded and deterministic; answered from
   * a cache in the kernel where segments have not changed.
   */
  expand(generation: GenerationHandle, words: readonly string[], options: ExpandOptions): WordExpansion[];
  /**
   * A number for each word that names what `expand` says about it: wherever the number is the same, in whatever generation,
   * stems, typos and compounds are the same in the same order, and the word is there or not. Their document frequencies may differ, and
   * prefixes are left aside. 0: neither the word nor anything else. Costs a fraction of `expand`.
   */
  nameExpansions(generation: GenerationHandle, words: readonly string[], options: ExpandOptions): Float64Array;
  /**
   * Names the terms of a generation's dictionaries: wherever `name` is the same, the terms are the same, and how often each occurs has changed
   * by some hundredths of the documents at most. With each new term it changes; `root` stays for as long as there are few.
   */
  vocabulary(generation: GenerationHandle): { readonly name: number; readonly root: number };
  /**
   * For each word 0 where the terms that it may stand for, and whether it is there itself, are in this generation what they were with the
   * `vocabularies` of these names, one a word; 1 where they may be others.
   */
  affectedWords(
    generation: GenerationHandle,
    words: readonly string[],
    editsMax: readonly number[],
    vocabularies: readonly number[],
  ): Uint8Array;
  /** Terms of a segment that the generation does not have; undefined where they are many, or the segment too large to look. */
  newTerms(generation: GenerationHandle, segment: SegmentHandle): readonly string[] | undefined;
  /** Terms that the generation has in these of its segments alone; undefined where they are many, or the segments too large to look. */
  lostTerms(generation: GenerationHandle, segments: readonly SegmentHandle[]): readonly string[] | undefined;

  /**
   * Values of a string column for a text that is being typed. Without edits: those that begin with `prefix` (a folded
   * key), then those with a word that does; with edits: those that begin with it but for 1 to so many. In the order of
   * their keys. Values of deleted documents are included until a merge drops them.
   */
  suggestNames(
    generation: GenerationHandle,
    column: string,
    prefix: string,
    edits: number,
    limit: number,
  ): NameSuggestion[];
  /**
   * Terms that begin with `prefix` but for at most `edits` edits, the prefix itself included: the nearest first, then by
   * falling document frequency.
   */
  completeWord(generation: GenerationHandle, prefix: string, edits: number, limit: number): ExpandedTerm[];
  /**
   * Live records that hold one of the terms of each word of the context (`context`), and of these, how many hold each
   * completion: in their order, until `wanted` completions have any; the rest are 0. Without a word, every record counts.
   */
  countInContext(
    generation: GenerationHandle,
    context: readonly (readonly string[])[],
    completions: readonly string[],
    wanted: number,
  ): { readonly context: number; readonly completions: Uint32Array };

  analyse(text: string): AnalysedToken[];
  /**
   * The terms of the text in their order, each as its stem where the language (a BCP 47 primary tag) has one for it: what other forms
   * of the word have, too. Stems are compared with stems alone.
   */
  stems(text: string, language: string): string[];
  /** True where the text has a script without spaces; see segmentForKernel. */
  needsSegmentation(text: string): boolean;
  /**
   * The JSON objects of the highlights of records, one after the other. `ranges` has begin and end of the UTF-8 JSON object of each
   * record's fields in `texts`; the offset behind each record's highlights is written to `ends`. Marked is what the groups of the
   * plan (query-plan.ts) may match, all alternatives, but for words that must not occur. '{}' where nothing matches; no bytes where
   * a text of these fields needs dictionary segmentation first and has no U+200B (segmentForKernel always puts one in). Like the
   * result of a search, the bytes may share their ArrayBuffer with others: copy what is kept, or sent to another thread.
   */
  highlight(
    texts: Uint8Array,
    ranges: Uint32Array,
    ends: Uint32Array,
    fieldNames: readonly string[],
    plan: Uint8Array,
  ): Uint8Array;
  /**
   * The same of texts of pages as they are kept: the best passage of each as a JSON string of HTML, one after the other, nothing where nothing
   * matches. `numbers` has four for each text: its begin and end in `texts`, how it is kept (PageDeflated: raw deflate of UTF-8, or no bytes where
   * there is no text; PagePlain; PageDamaged; from PageByDictionary on, packed by the dictionary of that place), and the bytes of a text that a
   * dictionary packs. The end is HighlightToBeSegmented where the text has a script without spaces: `highlight` takes it, as segmentForKernel
   * makes it; and HighlightUnreadable where the bytes are not those of such a text. Throws KernelError `damaged` for what is no dictionary.
   */
  highlightPages(
    texts: Uint8Array,
    numbers: Uint32Array,
    ends: Uint32Array,
    plan: Uint8Array,
    dictionaries: readonly Uint8Array[],
  ): Uint8Array;

  /**
   * A dictionary of the words by which most bytes of these texts are saved (docs/formats.md); no bytes where none is worth it. `begins` and `ends`
   * say where in `texts` each is.
   */
  learnWords(texts: Uint8Array, begins: Uint32Array, ends: Uint32Array): Uint8Array;
  /** True for a dictionary that is, by its checksum, as it was learned. Looks at every byte. */
  areWords(dictionary: Uint8Array): boolean;
  /**
   * Packs records that lie one behind the other where they are. `fields` says where the fields of each begin, its end for one that is not to be
   * packed; `ends` where it ends, and afterwards where it ends then. `number`: of the dictionary. A record that would not be shorter is what it was.
   * Returns the end of the last. Throws KernelError `damaged` for what is no dictionary.
   */
  packRecords(
    dictionary: Uint8Array,
    number: number,
    records: Uint8Array,
    fields: Uint32Array,
    ends: Uint32Array,
  ): number;
  /**
   * Unpacks into `texts`. `ranges` has five numbers for each: where in `bytes` it begins, up to where it is copied as it is, and where its packed
   * text behind that ends; where in `texts` it is to begin and to end. Returns how many were unpacked: fewer than there are where one is no packed
   * text of that length. Throws KernelError `damaged` for what is no dictionary.
   */
  unpackWords(dictionary: Uint8Array, bytes: Uint8Array, ranges: Uint32Array, texts: Uint8Array): number;
}

/** Must equal kInterfaceVersion in addon/constants.cc: raised with every change of what crosses the boundary. */
const INTERFACE_VERSION = 14;

/** The folder of package.json above this file: it runs as a source file in tests and as dist/native-bindings/index.js. */
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

/** A number that C++ defines (format.h, plan.h, document_batch.h). An unknown name is a programming error. */
export function kernelConstant(name: string): number {
  const value = kernel.constants[name];
  if (value === undefined) throw new Error(`the kernel has no constant ${name}`);
  return value;
}

export function isKernelError(error: unknown): error is KernelError {
  return error instanceof Error && error.name === 'KernelError';
}
