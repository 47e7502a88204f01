/**
 * Answers of searches in memory, so that a repeated request on unchanged lists needs no worker.
 *
 * A key holds the sequences of the generations that were searched, which name one state of one version of one list each
 * and are never used twice: what is found under a key was true for exactly these. Answers of earlier generations are not
 * looked for again and go when room is needed. An answer may have several keys, as it was asked for in several ways.
 *
 * What stays is decided by SIEVE (Y. Zhang et al., NSDI 2024): answers stand in the order in which they came; a hit only
 * marks one; a hand goes from the oldest on, takes marks away and drops the first answer without one. Many that are asked
 * for once do not push out those that are asked for often.
 *
 * Invariant: the bytes of all entries are at most `bytesMax`, and less where memory is short (`giveWay`). Main thread only.
 */
import type { ShownResult } from '../../analytics/index.js';
import type { Metrics, OwnMemory } from '../../platform/index.js';
import { ANSWER_HEAD_BYTES, answerHead, formatTook } from '../../search/index.js';
import { HeadedBytes } from './headed-bytes.js';

/** Larger answers are not kept: one would take the place of many. */
const ANSWER_BYTES_MAX = 262_144;
/** Longer keys are not used: such a request is not asked twice. */
const KEY_CHARACTERS_MAX = 16_384;
/** Ways to ask for one answer that are remembered. */
const KEYS_PER_ANSWER_MAX = 8;
/** Where memory is short, the cache has so small a part of its room; it gives half of what it has each time that it is told so, and takes as much back. */
const LEAST_PART = 4;
/** What an entry and a key take beside their bytes, about. */
const ENTRY_OVERHEAD_BYTES = 400;
const KEY_OVERHEAD_BYTES = 100;
const BYTES_PER_KEY_CHARACTER = 2;

export interface AnswerCacheOptions {
  /** 0: nothing is kept. */
  readonly bytesMax: number;
  /** Where it hears that memory is short. */
  readonly memory?: Pick<OwnMemory, 'tellOfShortage'>;
  readonly metrics: Pick<
    Metrics,
    'beforeReading' | 'searches' | 'searchCacheHits' | 'searchCacheMisses' | 'searchCacheBytes'
  >;
}

/** What analytics have to know of a search that is answered from memory. */
export interface AnsweredSearch {
  /** As `searchTerm` gives it. */
  readonly term: string;
  readonly hasResults: boolean;
  readonly isFirstPage: boolean;
  /** Only where a reranker ran: what is shown, and where it was before. */
  readonly shown?: readonly ShownResult[];
}

export interface KeptAnswer {
  readonly body: HeadedBytes;
  /** Milliseconds, as the body says. */
  readonly tookMs: string;
  readonly search: AnsweredSearch;
}

interface Entry {
  readonly keys: string[];
  /** The whole answer; its head is written anew each time that it is sent. */
  readonly body: Buffer;
  readonly search: AnsweredSearch;
  bytes: number;
  wasHit: boolean;
  newer: Entry | undefined;
  older: Entry | undefined;
}

/** About. */
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
  /** What it may take now. */
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

  /** Bytes of all that is kept, keys and administration included. */
  get bytes(): number {
    return this.used;
  }

  get isOn(): boolean {
    return this.options.bytesMax > 0;
  }

  /** The body with a head of its own; undefined where there is none. Counts as a search. */
  get(key: string, queryId: string, beginMs: number): KeptAnswer | undefined {
    const entry = this.byKey.get(key);
    if (entry === undefined) return undefined;
    entry.wasHit = true;
    this.hits += 1;
    const tookMs = formatTook(performance.now() - beginMs);
    return { body: new HeadedBytes(answerHead(queryId, tookMs), entry.body), tookMs, search: entry.search };
  }

  /** Told again and again whether the service takes more than its budget. */
  giveWay(isShort: boolean): void {
    const { bytesMax } = this.options;
    this.room = isShort ? Math.max(bytesMax / LEAST_PART, this.room / 2) : Math.min(bytesMax, this.room * 2);
    this.makeRoom();
  }

  missed(): void {
    if (this.isOn) this.options.metrics.searchCacheMisses.inc();
  }

  /** Makes another key lead to what this one leads to; nothing where that is not kept. */
  alias(key: string, other: string): void {
    const entry = this.byKey.get(key);
    if (entry === undefined || this.byKey.has(other)) return;
    if (entry.keys.length >= KEYS_PER_ANSWER_MAX || other.length > KEY_CHARACTERS_MAX) return;
    this.addKey(entry, other);
    this.makeRoom(entry);
  }

  /** Keeps a finished answer under these keys. `body` is copied: it may be part of a larger buffer. */
  set(keys: readonly string[], body: Uint8Array, search: AnsweredSearch): void {
    if (!this.isOn || body.length > ANSWER_BYTES_MAX || body.length < ANSWER_HEAD_BYTES) return;
    const usable = keys.filter((key) => key.length <= KEY_CHARACTERS_MAX && !this.byKey.has(key));
    if (usable.length === 0) return;
    // Memory of its own: a part of a pool would keep the whole pool alive.
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

  /** Drops answers until all fit; `kept` only when nothing else is left. */
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
