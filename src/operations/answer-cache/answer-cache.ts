/**
 * In-memory cache of search answers, so that a repeated request on unchanged lists needs no worker.
 *
 * A key contains the sequence numbers of the generations searched. Each names one state of one version of one list and
 * is never reused, so a cached answer is always right for its key. Answers of earlier generations are not found any
 * more, and are evicted when room is needed. An answer may have several keys, for different ways to ask for it.
 *
 * Eviction is by SIEVE (Y. Zhang et al., NSDI 2024): answers are kept in insertion order; a hit only marks an answer; a
 * hand moves from the oldest on, clears marks, and evicts the first answer without one. So many answers requested once
 * do not displace those requested often.
 *
 * Invariant: the bytes of all entries are at most `bytesMax`, and less if memory is short (`giveWay`). Main thread
 * only.
 */
import type { ShownResult } from '../../analytics/index.js';
import type { Metrics, OwnMemory } from '../../platform/index.js';
import { ANSWER_HEAD_BYTES, answerHead, formatTook } from '../../search/index.js';
import { HeadedBytes } from './headed-bytes.js';

/** Larger answers are not cached, since each would displace many. */
const ANSWER_BYTES_MAX = 262_144;
/** Longer keys are not used: such a request is hardly repeated. */
const KEY_CHARACTERS_MAX = 16_384;
/** Keys remembered per answer. */
const KEYS_PER_ANSWER_MAX = 8;
/**
 * If memory is short, the cache shrinks to this part of its room at least. It halves on each report of a shortage, and
 * doubles again afterwards.
 */
const LEAST_PART = 4;
/** Approximate memory of an entry and of a key besides their bytes. */
const ENTRY_OVERHEAD_BYTES = 400;
const KEY_OVERHEAD_BYTES = 100;
const BYTES_PER_KEY_CHARACTER = 2;

export interface AnswerCacheOptions {
  /** 0 disables the cache. */
  readonly bytesMax: number;
  /** Reports shortages of memory. */
  readonly memory?: Pick<OwnMemory, 'tellOfShortage'>;
  readonly metrics: Pick<
    Metrics,
    'beforeReading' | 'searches' | 'searchCacheHits' | 'searchCacheMisses' | 'searchCacheBytes'
  >;
}

/** What analytics need to know of a search answered from the cache. */
export interface AnsweredSearch {
  /** As returned by `searchTerm`. */
  readonly term: string;
  readonly hasResults: boolean;
  readonly isFirstPage: boolean;
  /** Set if the search does not count in analytics. */
  readonly isLeftOut?: true;
  /** Results shown, with their place before reranking. Set only if a reranker ran. */
  readonly shown?: readonly ShownResult[];
}

export interface KeptAnswer {
  readonly body: HeadedBytes;
  /** Milliseconds, as in the body. */
  readonly tookMs: string;
  readonly search: AnsweredSearch;
}

interface Entry {
  readonly keys: string[];
  /** The whole answer; its head is rewritten each time it is sent. */
  readonly body: Buffer;
  readonly search: AnsweredSearch;
  bytes: number;
  wasHit: boolean;
  newer: Entry | undefined;
  older: Entry | undefined;
}

/** Approximate. */
const SHOWN_OVERHEAD_BYTES = 100;

function bytesOf({ term, shown = [] }: AnsweredSearch): number {
  const characters = shown.reduce((sum, { name }) => sum + name.length, term.length);
  return characters * BYTES_PER_KEY_CHARACTER + shown.length * SHOWN_OVERHEAD_BYTES;
}

export class AnswerCache {
  private readonly byKey = new Map<string, Entry>();
  private newest: Entry | undefined;
  private oldest: Entry | undefined;
  private hand: Entry | undefined;
  private used = 0;
  private hits = 0;
  /** Current limit on bytes. */
  private room: number;

  constructor(private readonly options: AnswerCacheOptions) {
    const { metrics, memory } = options;
    memory?.tellOfShortage((isShort) => {
      this.giveWay(isShort);
    });
    this.room = options.bytesMax;
    metrics.beforeReading(() => {
      metrics.searchCacheHits.inc(this.hits);
      metrics.searches.inc(this.hits);
      this.hits = 0;
    });
  }

  /** Bytes of everything cached, including keys and overhead. */
  get bytes(): number {
    return this.used;
  }

  get isOn(): boolean {
    return this.options.bytesMax > 0;
  }

  /** Returns the body with a head of its own. Undefined if it is not cached. A hit counts as a search. */
  get(key: string, queryId: string, beginMs: number): KeptAnswer | undefined {
    const entry = this.byKey.get(key);
    if (entry === undefined) return undefined;
    entry.wasHit = true;
    this.hits += 1;
    const tookMs = formatTook(performance.now() - beginMs);
    return { body: new HeadedBytes(answerHead(queryId, tookMs), entry.body), tookMs, search: entry.search };
  }

  /** Adjusts the limit. Called repeatedly, with whether the service exceeds its memory budget. */
  giveWay(isShort: boolean): void {
    const { bytesMax } = this.options;
    this.room = isShort ? Math.max(bytesMax / LEAST_PART, this.room / 2) : Math.min(bytesMax, this.room * 2);
    this.makeRoom();
  }

  missed(): void {
    if (this.isOn) this.options.metrics.searchCacheMisses.inc();
  }

  /** Makes another key lead to the answer of `key`. Does nothing if that is not cached. */
  alias(key: string, other: string): void {
    const entry = this.byKey.get(key);
    if (entry === undefined || this.byKey.has(other)) return;
    if (entry.keys.length >= KEYS_PER_ANSWER_MAX || other.length > KEY_CHARACTERS_MAX) return;
    this.addKey(entry, other);
    this.makeRoom(entry);
  }

  /** Caches a finished answer under these keys. `body` is copied, since it may be part of a larger buffer. */
  set(keys: readonly string[], body: Uint8Array, search: AnsweredSearch): void {
    if (!this.isOn || body.length > ANSWER_BYTES_MAX || body.length < ANSWER_HEAD_BYTES) return;
    const usable = keys.filter((key) => key.length <= KEY_CHARACTERS_MAX && !this.byKey.has(key));
    if (usable.length === 0) return;
    // Own memory, since a part of a pooled buffer would keep the whole pool alive.
    const own = Buffer.allocUnsafeSlow(body.length);
    own.set(body);
    const entry: Entry = { keys: [], body: own, search, bytes: 0, wasHit: false, newer: undefined, older: this.newest };
    this.charge(entry, own.length + bytesOf(search) + ENTRY_OVERHEAD_BYTES);
    for (const key of usable) this.addKey(entry, key);
    if (this.newest === undefined) this.oldest = entry;
    else this.newest.newer = entry;
    this.newest = entry;
    if (entry.bytes > this.room) this.remove(entry);
    else this.makeRoom(entry);
  }

  private addKey(entry: Entry, key: string): void {
    entry.keys.push(key);
    this.byKey.set(key, entry);
    this.charge(entry, key.length * BYTES_PER_KEY_CHARACTER + KEY_OVERHEAD_BYTES);
  }

  private charge(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.used += bytes;
    this.options.metrics.searchCacheBytes.set(this.used);
  }

  /** Evicts answers until the rest fits; `kept` only if nothing else is left. */
  private makeRoom(kept?: Entry): void {
    while (this.used > this.room) {
      let candidate = this.hand ?? this.oldest;
      while (candidate !== undefined && (candidate.wasHit || candidate === kept)) {
        if (candidate === kept && this.oldest === this.newest) break;
        candidate.wasHit = false;
        candidate = candidate.newer ?? this.oldest;
      }
      if (candidate === undefined) return;
      this.hand = candidate.newer;
      this.remove(candidate);
    }
  }

  private remove(entry: Entry): void {
    for (const key of entry.keys) this.byKey.delete(key);
    if (entry.newer === undefined) this.newest = entry.older;
    else entry.newer.older = entry.older;
    if (entry.older === undefined) this.oldest = entry.newer;
    else entry.older.newer = entry.newer;
    if (this.hand === entry) this.hand = entry.newer;
    this.charge(entry, -entry.bytes);
  }
}
