/**
 * Divides `memory.mib` among all that use memory. The constants were measured with the service itself
 * (docs/decisions/0041-memory-has-a-budget.md). The rest of the budget goes to batches, merges and heaps: a larger
 * budget makes imports faster, a smaller one slower, and none makes them fail.
 */
import type { Config } from '../../config/schema.js';
import { HEAP_GROWTH_PERCENT } from './garbage-collection.js';

const MEBIBYTE = 2 ** 20;

/** The main thread with its heap, under import load, and the program itself. */
const MAIN_THREAD_MIB = 120;
/** A search thread at work: heap, stores, answers. Counts of facets come on top while it counts (docs/operating.md). */
const SEARCH_THREAD_MIB = 22;
/**
 * Threads for expensive searches come and go. Together they may take this part of the memory for batches and merges,
 * but there may always be one.
 */
const DEAR_SEARCHES_SHARE = 1 / 4;
/** An idle ingest thread with the smallest heap. */
const INGEST_THREAD_MIB = 22;
export const INGEST_THREAD_BYTES = INGEST_THREAD_MIB * MEBIBYTE;
/** The analytics thread. */
const ANALYTICS_THREAD_MIB = 8;
/** Number of merges at a time, in a thread of their own. */
const MERGE_THREADS = 1;
/** Small writes get a thread of their own if this many times its memory is to spare. */
const SMALL_WRITES_SPARE = 6;
/** Minimum for batches and merges. */
const WORK_MIB_MIN = 24;

/** Memory per byte of a batch: raw, as records, as documents, inverted, and as pages of the store. */
const MEMORY_A_BATCH_BYTE = 10;
const BATCH_BYTES_MIN = 256 * 1024;
/** Bytes of a record below which its fixed cost outweighs its bytes. */
const RECORD_BYTES_TYPICAL_MIN = 128;
const WAITING_WRITE_BYTES_MAX = 64 * MEBIBYTE;
const WAITING_BODIES_MIN = 2;
/** Memory of a merge per document: number, length, and values of one column, mostly names. */
const MEMORY_A_MERGED_DOCUMENT = 72;
/**
 * Memory of a merge per byte of its sources: strings of a column, terms and short posting lists, which are written
 * last.
 */
const MERGED_FILE_SHARE = 0.4;

/**
 * V8's default young generation is the maximum; smaller ones cost time, a tenth or more. V8 divides the limit by three,
 * rounds that up to a power of two, and uses three spaces of that size.
 */
const YOUNG_MIB = { min: 6, max: 48 };
const YOUNG_PARTS = 3;
/**
 * Room in MiB per thread from which heaps may grow generously: a search thread has 20 MiB of live objects, so up to
 * three times as much garbage.
 */
const GROWTH_MIB_MIN = 64;
const OLD_MIB_MAX = { search: 512, ingest: 1024 };
const OLD_MIB_MIN = 64;
/**
 * Heap bytes per byte of a record being read: its text with two bytes per character, its values, and its JSON again.
 */
const HEAP_A_RECORD_BYTE = 8;

/**
 * Divisor for the share of the work memory that request bodies get; bulk uploads get as much, and so do files that are
 * read. Each has a minimum that lets some pass at the same time.
 */
const BODIES_PART = 8;
/** Kept for small bodies, so that they do not wait for large ones. */
const SMALL_BODIES_BYTES = 2 * MEBIBYTE;
const UPLOADS_MIN = 8;
/** Divisor of the budget for the largest answer. */
const ANSWER_PART = 8;
/**
 * Number of answers of maximum size that may be in memory, one being built and others being sent. Short answers get a
 * further part of one (`OTHER_ANSWERS_PART`).
 */
const LONGEST_ANSWERS = 2;
const OTHER_ANSWERS_PART = 4;

/**
 * A record longer than the limit fails alone; one longer than this many times the limit, if that does not fit into
 * memory, ends the import.
 */
const TOO_LONG_FACTOR = { min: 2, max: 16 };

/**
 * Divisor of the budget for entries of lists and groups. They are in the heap of the main thread, where V8 gives up
 * beyond a quarter of the machine's memory.
 */
const CATALOG_PART = 4;

/** Below this, freed memory is returned to the system at once, and all threads share the allocator's arenas. */
const GENEROUS_MIB = 512;
const FRUGAL: AllocatorLimits = { arenasMax: 1, returnedBytesMin: 256 * 1024 };
/**
 * Below this, heaps grow by half before they are collected, all threads share four arenas, and large blocks lie outside
 * of arenas. Without that limit, once a large block was freed, the allocator would place others of up to 32 MiB in its
 * arenas, where small blocks between them prevent returning them.
 */
const LAVISH_MIB = 1024;
const MODERATE: AllocatorLimits = { arenasMax: 4, returnedBytesMin: 1024 * 1024 };

/**
 * Received bytes that one bulk upload may hold before they are consumed; one chunk from the network may come on top.
 */
export const UPLOAD_BYTES = 512 * 1024;

export interface HeapLimits {
  readonly maxYoungGenerationSizeMb: number;
  readonly maxOldGenerationSizeMb: number;
}

export interface MemoryBudget {
  /** The whole budget. */
  readonly bytes: number;
  /** Bytes of one batch of an import, one step of a version build, or one piece of a rebuild. */
  readonly batchBytesMax: number;
  readonly batchBytesMin: number;
  readonly batchRecordsMax: number;
  /** Bytes that the stores of all lists may keep of their largest transactions. */
  readonly storePagesBytesMax: number;
  /** Bytes of the entries of lists and groups in the catalogue. */
  readonly catalogBytesMax: number;
  /** Bytes that open lists may take. */
  readonly openListsBytesMax: number;
  /** Bytes that all imports together may hold of records that are not on disk yet. */
  readonly importBufferBytes: number;
  /** Bytes of the small writes of one list that may wait. */
  readonly waitingWriteBytesMax: number;
  /** Bytes beyond which the end of a record is not searched for. */
  readonly splitBytesMax: number;
  /** Bytes that a merge may hold; see `mergeBytes`. */
  readonly mergeBytesMax: number;
  /** Bytes that all request bodies may hold until they are answered, and the part kept for small ones. */
  readonly bodies: { readonly bytesMax: number; readonly keptForSmallBytes: number };
  /** Bytes that all bulk uploads may hold before they are consumed. */
  readonly uploadBytesMax: number;
  /**
   * Bytes that files linked by records may hold while they are fetched and read. A larger file gets all of it, and
   * exceeds it.
   */
  readonly readFilesBytesMax: number;
  /** Bytes of one answer. */
  readonly answerBytesMax: number;
  /**
   * Bytes of all answers that are being built at full length or have not been read by their clients; a part is kept for
   * short ones.
   */
  readonly answers: { readonly bytesMax: number; readonly keptForSmallBytes: number };
  /** Threads that expensive searches may have in addition: at least 1, at most `search.threads`. */
  readonly dearSearchThreadsMax: number;
  /** True if there is memory for an ingest thread that only does small writes. */
  readonly hasThreadForSmallWrites: boolean;
  readonly heaps: { readonly search: HeapLimits; readonly ingest: HeapLimits };
  /** Growth of a thread's heap, in percent, before a full collection; undefined: V8's default. */
  readonly heapGrowthPercent: number | undefined;
  /** Undefined: the system's defaults. */
  readonly allocator: AllocatorLimits | undefined;
}

export interface AllocatorLimits {
  readonly arenasMax: number;
  /** A freed block of this size is returned to the system, and so are that many free bytes at the end of an arena. */
  readonly returnedBytesMin: number;
}

export type BudgetedConfig = Pick<Config, 'memory' | 'search' | 'ingest' | 'analytics' | 'limits'>;

/** Returns the shares that do not depend on the budget, in MiB, each with the setting that causes it. */
function fixedShares({ search, ingest, analytics }: Omit<BudgetedConfig, 'memory' | 'limits'>) {
  return [
    { mib: MAIN_THREAD_MIB, why: 'the service itself' },
    { mib: search.threads * SEARCH_THREAD_MIB, why: `search.threads (${search.threads})` },
    {
      mib: (ingest.threads + MERGE_THREADS) * INGEST_THREAD_MIB,
      why: `ingest.threads (${ingest.threads}) and merging`,
    },
    { mib: analytics.enabled ? ANALYTICS_THREAD_MIB : 0, why: 'analytics.enabled' },
    { mib: search.cache_mib, why: 'search.cache_mib' },
    { mib: WORK_MIB_MIN, why: 'batches and merges' },
  ].filter(({ mib }) => mib > 0);
}

/** Returns the smallest `memory.mib` that these settings allow, and its parts. */
export function requiredMemory(config: Omit<BudgetedConfig, 'memory' | 'limits'>): {
  readonly mib: number;
  readonly parts: string;
} {
  const shares = fixedShares(config);
  return {
    mib: shares.reduce((sum, { mib }) => sum + mib, 0),
    parts: shares.map(({ mib, why }) => `${mib} for ${why}`).join(', '),
  };
}

/**
 * Returns the memory that the given settings require, in MiB. Counts one thread of each kind whose number is automatic,
 * since that is chosen afterwards.
 */
export function requiredAutomaticMemory(config: Omit<BudgetedConfig, 'memory' | 'limits'>): number {
  return Math.max(requiredMemory(withOneThread(config)).mib, 2 * config.search.cache_mib);
}

/** Replaces automatic numbers of threads by one. */
function withOneThread<Part extends Omit<BudgetedConfig, 'memory' | 'limits'>>(config: Part): Part {
  const { search, ingest } = config;
  return {
    ...config,
    search: { ...search, threads: search.threads || 1 },
    ingest: { ...ingest, threads: ingest.threads || 1 },
  };
}

/**
 * Returns how many of the wanted ingest threads fit into half of the budget next to the main thread, and next to one
 * search thread and all given settings; at least one.
 */
export function affordableIngestThreads(wanted: number, config: Omit<BudgetedConfig, 'limits'>): number {
  const { mib } = config.memory;
  const others = requiredMemory({ ...withOneThread(config), ingest: { ...config.ingest, threads: 0 } }).mib;
  const roomMib = Math.min(mib / 2 - MAIN_THREAD_MIB, mib - others);
  return Math.max(1, Math.min(wanted, Math.floor(roomMib / INGEST_THREAD_MIB)));
}

/** Returns how many of the wanted search threads fit into the budget; at least one. */
export function affordableSearchThreads(wanted: number, config: BudgetedConfig): number {
  const others = requiredMemory({ ...config, search: { ...config.search, threads: 0 } }).mib;
  return Math.max(1, Math.min(wanted, Math.floor((config.memory.mib - others) / SEARCH_THREAD_MIB)));
}

/** Returns the shares of a budget that `loadConfig` has checked to be large enough. */
export function memoryBudget(config: BudgetedConfig): MemoryBudget {
  const { memory, ingest, limits } = config;
  const { hasThreadForSmallWrites, workMib } = workShare(config);
  // Half is for merges, so that few segments are too large to be merged; a quarter for batches at work; the rest for
  // heaps, waiting batches, and what stores keep.
  const share = Math.floor((workMib * MEBIBYTE) / 4);
  const threads = ingest.threads + MERGE_THREADS + config.search.threads;
  const young = youngMib(clamp(YOUNG_MIB.min + workMib / 8 / threads, YOUNG_MIB));
  const old = (most: number) =>
    Math.max(
      Math.min(most, Math.max(OLD_MIB_MIN, Math.floor(memory.mib / 4))),
      Math.ceil((limits.record_bytes_max * HEAP_A_RECORD_BYTE) / MEBIBYTE),
    );
  const importBufferBytes = Math.max(4 * BATCH_BYTES_MIN, Math.floor(share / 2));
  const batchBytesMax = Math.min(
    ingest.batch_bytes_max,
    Math.max(BATCH_BYTES_MIN, Math.floor(share / ingest.threads / MEMORY_A_BATCH_BYTE)),
  );
  const part = Math.floor((workMib * MEBIBYTE) / BODIES_PART);
  const answerBytesMax = answerBytes(config);
  const otherAnswersBytes = Math.floor(answerBytesMax / OTHER_ANSWERS_PART);
  return {
    bytes: memory.mib * MEBIBYTE,
    // One body must fit, however large it is.
    bodies: {
      bytesMax: Math.max(part, limits.json_body_bytes_max + SMALL_BODIES_BYTES),
      keptForSmallBytes: SMALL_BODIES_BYTES,
    },
    uploadBytesMax: Math.max(part, UPLOADS_MIN * UPLOAD_BYTES),
    readFilesBytesMax: part,
    answerBytesMax,
    answers: { bytesMax: LONGEST_ANSWERS * answerBytesMax + otherAnswersBytes, keptForSmallBytes: otherAnswersBytes },
    hasThreadForSmallWrites,
    batchBytesMax,
    batchBytesMin: Math.min(BATCH_BYTES_MIN, ingest.batch_bytes_max),
    storePagesBytesMax: Math.floor(share / 2),
    catalogBytesMax: Math.floor((memory.mib * MEBIBYTE) / CATALOG_PART),
    openListsBytesMax: share,
    batchRecordsMax: Math.min(ingest.batch_records_max, Math.ceil(batchBytesMax / RECORD_BYTES_TYPICAL_MIN)),
    importBufferBytes,
    // One write must fit, however large it is.
    waitingWriteBytesMax: Math.min(
      WAITING_WRITE_BYTES_MAX,
      Math.max(importBufferBytes, limits.json_body_bytes_max * WAITING_BODIES_MIN),
    ),
    splitBytesMax: clamp(share, {
      min: limits.record_bytes_max * TOO_LONG_FACTOR.min,
      max: limits.record_bytes_max * TOO_LONG_FACTOR.max,
    }),
    mergeBytesMax: 2 * share,
    dearSearchThreadsMax: clamp(Math.floor((workMib * DEAR_SEARCHES_SHARE) / SEARCH_THREAD_MIB), {
      min: 1,
      max: config.search.threads,
    }),
    heaps: {
      search: { maxYoungGenerationSizeMb: young, maxOldGenerationSizeMb: old(OLD_MIB_MAX.search) },
      ingest: { maxYoungGenerationSizeMb: young, maxOldGenerationSizeMb: old(OLD_MIB_MAX.ingest) },
    },
    heapGrowthPercent: heapGrowth(memory.mib, workMib / 8 / threads),
    allocator: allocatorLimits(memory.mib),
  };
}

/**
 * Returns what is left for work besides the threads. Memory is reserved for the thread of small writes before there is
 * enough for it, so that a larger budget never means less memory for work.
 */
function workShare(config: BudgetedConfig): { readonly hasThreadForSmallWrites: boolean; readonly workMib: number } {
  const requiredMib = requiredMemory(config).mib;
  const spareMib = Math.max(0, config.memory.mib - requiredMib);
  const enoughMib = Math.max(SMALL_WRITES_SPARE * INGEST_THREAD_MIB, GENEROUS_MIB - requiredMib);
  const withThreadMib = enoughMib - INGEST_THREAD_MIB;
  return spareMib >= enoughMib
    ? { hasThreadForSmallWrites: true, workMib: WORK_MIB_MIN + spareMib - INGEST_THREAD_MIB }
    : { hasThreadForSmallWrites: false, workMib: WORK_MIB_MIN + Math.min(spareMib, withThreadMib) };
}

/** Returns the largest young generation of at most `most` MiB that V8 rounds to: it would turn 13 into 24. */
function youngMib(most: number): number {
  return YOUNG_PARTS * 2 ** Math.floor(Math.log2(most / YOUNG_PARTS));
}

function heapGrowth(mib: number, roomForEachMib: number): number | undefined {
  if (roomForEachMib >= GROWTH_MIB_MIN) return HEAP_GROWTH_PERCENT.generous;
  return mib < LAVISH_MIB ? HEAP_GROWTH_PERCENT.moderate : undefined;
}

function allocatorLimits(mib: number): AllocatorLimits | undefined {
  if (mib < GENEROUS_MIB) return FRUGAL;
  return mib < LAVISH_MIB ? MODERATE : undefined;
}

/** Returns the size of the largest answer: that of the settings, or what fits into the budget. */
function answerBytes({ limits, memory }: Pick<Config, 'limits' | 'memory'>): number {
  return Math.min(limits.answer_bytes_max, Math.floor((memory.mib * MEBIBYTE) / ANSWER_PART));
}

/** Estimates the memory that merging a segment of this size takes. */
export function mergeBytes(segment: { readonly documentCount: number; readonly fileBytes: number }): number {
  return segment.documentCount * MEMORY_A_MERGED_DOCUMENT + segment.fileBytes * MERGED_FILE_SHARE;
}

function clamp(value: number, { min, max }: { readonly min: number; readonly max: number }): number {
  return Math.min(max, Math.max(min, value));
}
