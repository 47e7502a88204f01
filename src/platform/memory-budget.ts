/**
 * Who may take how much of `memory.mib`, in one place. What is here as a constant was measured with the service itself
 * (docs/decisions/0041-memory-has-a-budget.md); what is left of the budget after that goes to batches, merges and heaps, so that
 * a larger budget makes imports faster and a smaller one makes them slower, and none makes them fail.
 */
import type { Config } from '../../config/schema.js';
import { HEAP_GROWTH_PERCENT } from './garbage-collection.js';

const MEBIBYTE = 2 ** 20;

/** The main thread, its heap, and what the program needs before it does anything; with what an import keeps it busy with. */
const MAIN_THREAD_MIB = 120;
/** A search thread at work: its heap, its stores, its answers. */
const SEARCH_THREAD_MIB = 22;
/** Threads of dear searches come and go; together they may take this part of what is left for batches and merges, or be one. */
const DEAR_SEARCHES_SHARE = 1 / 4;
/** An ingest thread with the least heap and nothing to do. */
const INGEST_THREAD_MIB = 22;
export const INGEST_THREAD_BYTES = INGEST_THREAD_MIB * MEBIBYTE;
/** The thread of analytics. */
const ANALYTICS_THREAD_MIB = 8;
/** Merges that run at a time, in a thread of their own. */
const MERGE_THREADS = 1;
/** Small writes have a thread of their own where so many times as much is left. */
const SMALL_WRITES_SPARE = 6;
/** The least that is left for batches and merges. */
const WORK_MIB_MIN = 24;

/** A byte of a batch costs this many: raw, as records, as documents, inverted, and as pages of the store. */
const MEMORY_A_BATCH_BYTE = 10;
const BATCH_BYTES_MIN = 256 * 1024;
/** What a record takes beside its bytes weighs more than they do where it is shorter than this. */
const RECORD_BYTES_TYPICAL_MIN = 128;
const WAITING_WRITE_BYTES_MAX = 64 * MEBIBYTE;
const WAITING_BODIES_MIN = 2;
/** What a merge holds of each document: its number, its length, and its values of one column, names above all. */
const MEMORY_A_MERGED_DOCUMENT = 72;
/** And of each byte of its sources: strings of a column, terms and short postings, which are written last. */
const MERGED_FILE_SHARE = 0.4;

/** Young generations of V8 are this large by default; smaller ones cost time, a tenth at the least. It takes a third, rounded up to a power of two, three times. */
const YOUNG_MIB = { min: 6, max: 48 };
const YOUNG_PARTS = 3;
/** A search thread's heap is 20 MiB of live objects, and so three times as much garbage at most; heaps grow so only where there is room for it. */
const GROWTH_MIB_MIN = 64;
const OLD_MIB_MAX = { search: 512, ingest: 1024 };
const OLD_MIB_MIN = 64;
/** What reading a record takes of a heap: its text in two bytes a character, its values, its JSON again. */
const HEAP_A_RECORD_BYTE = 8;

/** Bodies of requests get this part of what is left for work, and bulk uploads as much, no less than lets some pass side by side; so do files that are read. */
const BODIES_PART = 8;
/** What is kept for small bodies, which do not wait for large ones. */
const SMALL_BODIES_BYTES = 2 * MEBIBYTE;
const UPLOADS_MIN = 8;
/** An answer is at most this part of the budget. */
const ANSWER_PART = 8;
/** The largest answer is built beside others on their way, which may hold as much as it, and a part more where they are short. */
const LONGEST_ANSWERS = 2;
const OTHER_ANSWERS_PART = 4;

/** A record that is too long fails alone; one that is so many times too long that it would not fit in here ends the import. */
const TOO_LONG_FACTOR = { min: 2, max: 16 };

/** Entries of lists and groups, which are all in the heap of the main thread, may have this part: V8 gives up where that has a quarter of a machine. */
const CATALOG_PART = 4;

/** With less than this, what is freed goes back to the system at once, and threads share the allocator's arenas. */
const GENEROUS_MIB = 512;
const FRUGAL: AllocatorLimits = { arenasMax: 1, returnedBytesMin: 256 * 1024 };
/**
 * With less than this, heaps grow by half before they are collected, all threads share four arenas of the allocator, and large blocks lie outside of these: once a block
 * was freed, the allocator would take others as large, up to 32 MiB, out of its arenas, where what lies between them keeps them from going back.
 */
const LAVISH_MIB = 1024;
const MODERATE: AllocatorLimits = { arenasMax: 4, returnedBytesMin: 1024 * 1024 };

/** What one bulk upload holds of what was received and nobody has taken yet; a piece of what the network brings comes on top. */
export const UPLOAD_BYTES = 512 * 1024;

export interface HeapLimits {
  readonly maxYoungGenerationSizeMb: number;
  readonly maxOldGenerationSizeMb: number;
}

export interface MemoryBudget {
  /** The whole. */
  readonly bytes: number;
  /** Of one batch of an import, of one step of a version build, of one piece of a rebuild. */
  readonly batchBytesMax: number;
  readonly batchBytesMin: number;
  readonly batchRecordsMax: number;
  /** What the stores of all lists may keep of their largest transactions. */
  readonly storePagesBytesMax: number;
  /** Entries of lists and groups in the catalogue. */
  readonly catalogBytesMax: number;
  /** What lists may take by being open. */
  readonly openListsBytesMax: number;
  /** What all imports together may hold of records that are not on disk yet. */
  readonly importBufferBytes: number;
  /** Small writes of one list that may wait. */
  readonly waitingWriteBytesMax: number;
  /** Beyond this the end of a record is not looked for any more. */
  readonly splitBytesMax: number;
  /** What a merge may hold; `mergeBytes` says what one would. */
  readonly mergeBytesMax: number;
  /** What all bodies of requests may hold until they are answered, and what of it is for small ones. */
  readonly bodies: { readonly bytesMax: number; readonly keptForSmallBytes: number };
  /** What all bulk uploads may hold of what nobody has taken yet. */
  readonly uploadBytesMax: number;
  /** What files that records link to may hold while they are fetched and read; one that is larger has all of it, and more. */
  readonly readFilesBytesMax: number;
  /** Of one answer. */
  readonly answerBytesMax: number;
  /** Of all answers that are being built at full length or that their readers have not taken yet; the rest of it is for short ones. */
  readonly answers: { readonly bytesMax: number; readonly keptForSmallBytes: number };
  /** Threads that dear searches may have beside the others; one at least, and never more than there are of those. */
  readonly dearSearchThreadsMax: number;
  /** There is room for an ingest thread that small writes have for themselves. */
  readonly hasThreadForSmallWrites: boolean;
  readonly heaps: { readonly search: HeapLimits; readonly ingest: HeapLimits };
  /** By how much a thread's heap may grow before all of it is collected; undefined: as V8 does it. */
  readonly heapGrowthPercent: number | undefined;
  /** Undefined: as the system does it. */
  readonly allocator: AllocatorLimits | undefined;
}

export interface AllocatorLimits {
  readonly arenasMax: number;
  /** A block of this size goes back to the system when it is freed, and so do as many bytes at the end of an arena. */
  readonly returnedBytesMin: number;
}

export type BudgetedConfig = Pick<Config, 'memory' | 'search' | 'ingest' | 'analytics' | 'limits'>;

/** What has a share whatever the budget is, in MiB, each with the setting that it comes from. */
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

/** The smallest `memory.mib` that these settings allow, and what it is made of. */
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

/** What the settings that were given require, with one thread of each kind where their number is chosen: that can be chosen after it. */
export function requiredAutomaticMemory(config: Omit<BudgetedConfig, 'memory' | 'limits'>): number {
  return Math.max(requiredMemory(withOneThread(config)).mib, 2 * config.search.cache_mib);
}

/** Instead of those whose number is still to be chosen. */
function withOneThread<Part extends Omit<BudgetedConfig, 'memory' | 'limits'>>(config: Part): Part {
  const { search, ingest } = config;
  return {
    ...config,
    search: { ...search, threads: search.threads || 1 },
    ingest: { ...ingest, threads: ingest.threads || 1 },
  };
}

/** As many ingest threads as are wanted, or as have room beside one search thread in half of the budget, and beside all that were given; one at least. */
export function affordableIngestThreads(wanted: number, config: Omit<BudgetedConfig, 'limits'>): number {
  const { mib } = config.memory;
  const others = requiredMemory({ ...withOneThread(config), ingest: { ...config.ingest, threads: 0 } }).mib;
  const roomMib = Math.min(mib / 2 - MAIN_THREAD_MIB, mib - others);
  return Math.max(1, Math.min(wanted, Math.floor(roomMib / INGEST_THREAD_MIB)));
}

/** As many search threads as are wanted, or as a budget has room for; one at least. */
export function affordableSearchThreads(wanted: number, config: BudgetedConfig): number {
  const others = requiredMemory({ ...config, search: { ...config.search, threads: 0 } }).mib;
  return Math.max(1, Math.min(wanted, Math.floor((config.memory.mib - others) / SEARCH_THREAD_MIB)));
}

/** The shares of a budget that `loadConfig` found to be large enough. */
export function memoryBudget(config: BudgetedConfig): MemoryBudget {
  const { memory, ingest, limits } = config;
  const { hasThreadForSmallWrites, workMib } = workShare(config);
  // Merges get half, so that few segments stay that are too large for them; a quarter: batches at work; the rest: heaps, batches
  // that wait, and what stores keep.
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
    // One body has to pass, however large it may be.
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
    // One write has to pass, however large it may be.
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

/** What is left for work beside the threads; that of small writes is saved up for before it is there, so that more memory never means less for work. */
function workShare(config: BudgetedConfig): { readonly hasThreadForSmallWrites: boolean; readonly workMib: number } {
  const requiredMib = requiredMemory(config).mib;
  const spareMib = Math.max(0, config.memory.mib - requiredMib);
  const enoughMib = Math.max(SMALL_WRITES_SPARE * INGEST_THREAD_MIB, GENEROUS_MIB - requiredMib);
  const withThreadMib = enoughMib - INGEST_THREAD_MIB;
  return spareMib >= enoughMib
    ? { hasThreadForSmallWrites: true, workMib: WORK_MIB_MIN + spareMib - INGEST_THREAD_MIB }
    : { hasThreadForSmallWrites: false, workMib: WORK_MIB_MIN + Math.min(spareMib, withThreadMib) };
}

/** No more than so many MiB, as V8 has them: of 13 it would make 24. */
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

/** The largest answer: as the settings have it, or what a budget has room for. */
function answerBytes({ limits, memory }: Pick<Config, 'limits' | 'memory'>): number {
  return Math.min(limits.answer_bytes_max, Math.floor((memory.mib * MEBIBYTE) / ANSWER_PART));
}

/** What a merge of segments with so many documents and bytes takes, about. */
export function mergeBytes(segment: { readonly documentCount: number; readonly fileBytes: number }): number {
  return segment.documentCount * MEMORY_A_MERGED_DOCUMENT + segment.fileBytes * MERGED_FILE_SHARE;
}

function clamp(value: number, { min, max }: { readonly min: number; readonly max: number }): number {
  return Math.min(max, Math.max(min, value));
}
