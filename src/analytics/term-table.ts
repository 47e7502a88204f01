/**
 * Counts terms (byte strings) in bounded memory: Space-Saving (Metwally, Agrawal and El Abbadi, 2005), with batched
 * eviction.
 *
 * Exact with fewer than twice `capacity` different terms. Beyond that, the table keeps the `capacity` terms with the
 * highest estimates; a term that is added (again) later may have had at most `floor` counts before. Each eviction
 * leaves `capacity` terms whose estimates are at least `floor` and sum up to at most the number of occurrences, so
 * `floor` is at most occurrences / capacity.
 *
 * Invariants: the `count` of a term is at most its occurrences, and at most `errorMax` lower; a term that is not in the
 * table occurred at most `unlistedMax` times. Belongs to one thread.
 */
import { encodeTermList, type TermList } from './term-list.js';
import { hashBytes } from './hash.js';

/** Position up to which a list has been counted. */
export interface ListPart {
  readonly list: TermList;
  index: number;
  textAt: number;
}

/** Returns the beginning of the list. */
export function listPart(list: TermList): ListPart {
  return { list, index: 0, textAt: list.textBegin };
}

const ENTRIES_AT_FIRST = 64;
const ARENA_BYTES_AT_FIRST = 1024;
const EMPTY = -1;

export class TermTable {
  private slots = new Int32Array(ENTRIES_AT_FIRST * 2).fill(EMPTY);
  private hashes = new Uint32Array(ENTRIES_AT_FIRST);
  private offsets = new Uint32Array(ENTRIES_AT_FIRST);
  private lengths = new Uint16Array(ENTRIES_AT_FIRST);
  private counts = new Float64Array(ENTRIES_AT_FIRST);
  /** Upper bound of the counts that a term may have had before it was added. */
  private missed = new Float64Array(ENTRIES_AT_FIRST);
  private arena = new Uint8Array(ARENA_BYTES_AT_FIRST);
  private arenaUsed = 0;
  private floor = 0;
  /** Uncertainty from lists that were added. */
  private inherited = 0;
  size = 0;

  /** `Infinity`: nothing is ever evicted. */
  constructor(private readonly capacity: number) {}

  get errorMax(): number {
    return this.floor + this.inherited;
  }

  get unlistedMax(): number {
    return this.floor + this.inherited;
  }

  /** Adds `count` to the term in these bytes. */
  add(bytes: Uint8Array, begin: number, end: number, count = 1): void {
    const entry = this.findOrInsert(bytes, begin, end, hashBytes(bytes, begin, end));
    this.addCount(entry, count);
  }

  /** Adds to the count of an entry; evicts entries if the table is full. */
  private addCount(entry: number, count: number): void {
    this.counts[entry] = (this.counts[entry] as number) + count;
    if (this.size >= 2 * this.capacity) this.evict();
  }

  /** Adds the counts of a list. */
  addList(list: TermList): void {
    this.addPart(listPart(list), list.length);
    this.inherited += list.unlistedMax;
  }

  /**
   * Adds counts of the list from `part` on, and moves `part` forward, up to `end` or to the first count below
   * `countMin`.
   */
  addPart(part: ListPart, end: number, countMin = 0): void {
    const { bytes, counts, hashes, lengths } = part.list;
    let { index, textAt } = part;
    for (; index < end && (counts[index] as number) >= countMin; ++index) {
      const textEnd = textAt + (lengths[index] as number);
      const entry = this.findOrInsert(bytes, textAt, textEnd, hashes[index] as number);
      this.addCount(entry, counts[index] as number);
      textAt = textEnd;
    }
    part.index = index;
    part.textAt = textAt;
  }

  /** Adds the counts from `part` on of those terms that the table already has. */
  addKnown({ list, index, textAt }: ListPart): void {
    const { bytes, counts, hashes, lengths } = list;
    const mask = this.slots.length - 1;
    let begin = textAt;
    for (let at = index; at < list.length; ++at) {
      const end = begin + (lengths[at] as number);
      const hash = hashes[at] as number;
      if (this.slots[hash & mask] !== EMPTY) {
        const entry = this.find(bytes, begin, end, hash);
        if (entry !== EMPTY) this.counts[entry] = (this.counts[entry] as number) + (counts[at] as number);
      }
      begin = end;
    }
  }

  /** Adds the counts of this table to another. */
  addTo(other: TermTable): void {
    for (let entry = 0; entry < this.size; ++entry) {
      const begin = this.offsets[entry] as number;
      const end = begin + (this.lengths[entry] as number);
      const theirs = other.findOrInsert(this.arena, begin, end, this.hashes[entry] as number);
      other.addCount(theirs, this.counts[entry] as number);
    }
    other.inherited += this.unlistedMax;
  }

  /** Returns the count of a term; 0 if it is not in the table. */
  count(term: string): number {
    const bytes = Buffer.from(term);
    const entry = this.find(bytes, 0, bytes.length, hashBytes(bytes, 0, bytes.length));
    return entry === EMPTY ? 0 : (this.counts[entry] as number);
  }

  /** Returns the most frequent terms by descending count; equally frequent ones in order of their bytes. */
  top(max: number): { readonly term: string; readonly count: number }[] {
    return this.best(max).map((entry) => {
      const begin = this.offsets[entry] as number;
      const text = Buffer.from(this.arena.buffer, this.arena.byteOffset + begin, this.lengths[entry] as number);
      return { term: text.toString('utf8'), count: this.counts[entry] as number };
    });
  }

  /** Encodes the most frequent terms as a `TermList`, with their uncertainty. Only sorted if requested. */
  encode(max: number, { isSorted }: { readonly isSorted: boolean }): Buffer {
    const isCut = this.size > max;
    const entries = isCut || isSorted ? this.best(max) : Array.from({ length: this.size }, (_, entry) => entry);
    return encodeTermList({
      errorMax: this.errorMax,
      unlistedMax: this.unlistedMax + (isCut ? this.largestBut(max) : 0),
      terms: entries.map((entry) => {
        const begin = this.offsets[entry] as number;
        return {
          bytes: this.arena.subarray(begin, begin + (this.lengths[entry] as number)),
          hash: this.hashes[entry] as number,
          count: this.counts[entry] as number,
        };
      }),
    });
  }

  /** Returns the entry of the term, creating it with a count of 0 if necessary. */
  private findOrInsert(bytes: Uint8Array, begin: number, end: number, hash: number): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (;;) {
      const entry = this.slots[slot] as number;
      if (entry === EMPTY) break;
      if (this.hashes[entry] === hash && this.isTerm(entry, bytes, begin, end)) return entry;
      slot = (slot + 1) & mask;
    }
    return this.insert(slot, hash, bytes.subarray(begin, end));
  }

  private find(bytes: Uint8Array, begin: number, end: number, hash: number): number {
    const mask = this.slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = this.slots[slot] as number;
      if (entry === EMPTY) return EMPTY;
      if (this.hashes[entry] === hash && this.isTerm(entry, bytes, begin, end)) return entry;
    }
  }

  private isTerm(entry: number, bytes: Uint8Array, begin: number, end: number): boolean {
    const length = this.lengths[entry] as number;
    if (length !== end - begin) return false;
    const offset = this.offsets[entry] as number;
    const { arena } = this;
    for (let index = 0; index < length; ++index) if (arena[offset + index] !== bytes[begin + index]) return false;
    return true;
  }

  private insert(slot: number, hash: number, term: Uint8Array): number {
    const entry = this.size;
    this.slots[slot] = entry;
    this.hashes[entry] = hash;
    this.offsets[entry] = this.arenaUsed;
    this.lengths[entry] = term.length;
    this.counts[entry] = 0;
    this.missed[entry] = this.floor;
    this.reserveArena(term.length);
    this.arena.set(term, this.arenaUsed);
    this.arenaUsed += term.length;
    this.size += 1;
    // If the table is about to be evicted, it does not grow.
    if (this.size < 2 * this.capacity && this.size === this.hashes.length) this.grow();
    return entry;
  }

  private reserveArena(bytes: number): void {
    if (this.arenaUsed + bytes <= this.arena.length) return;
    const grown = new Uint8Array(Math.max(this.arena.length * 2, this.arenaUsed + bytes));
    grown.set(this.arena.subarray(0, this.arenaUsed));
    this.arena = grown;
  }

  private grow(): void {
    const entries = this.hashes.length * 2;
    this.hashes = copied(this.hashes, new Uint32Array(entries));
    this.offsets = copied(this.offsets, new Uint32Array(entries));
    this.lengths = copied(this.lengths, new Uint16Array(entries));
    this.counts = copied(this.counts, new Float64Array(entries));
    this.missed = copied(this.missed, new Float64Array(entries));
    this.slots = new Int32Array(entries * 2);
    this.place();
  }

  /** Assigns slots to all entries. */
  private place(): void {
    this.slots.fill(EMPTY);
    const mask = this.slots.length - 1;
    for (let entry = 0; entry < this.size; ++entry) {
      let slot = (this.hashes[entry] as number) & mask;
      while (this.slots[slot] !== EMPTY) slot = (slot + 1) & mask;
      this.slots[slot] = entry;
    }
  }

  /** Keeps the `capacity` terms that may have occurred most often. */
  private evict(): void {
    const estimates = Float64Array.from({ length: this.size }, (_, entry) => this.estimate(entry));
    const kept = bestOf(estimates, this.size, this.capacity, () => 0);
    const isKept = new Uint8Array(this.size);
    for (const entry of kept) isKept[entry] = 1;
    for (let entry = 0; entry < this.size; ++entry) {
      if (isKept[entry] === 0) this.floor = Math.max(this.floor, estimates[entry] as number);
    }
    this.compact(isKept);
    this.place();
  }

  private estimate(entry: number): number {
    return (this.counts[entry] as number) + (this.missed[entry] as number);
  }

  private compact(isKept: Uint8Array): void {
    let to = 0;
    let arenaTo = 0;
    for (let from = 0; from < this.size; ++from) {
      if (isKept[from] === 0) continue;
      const [offset, length] = [this.offsets[from] as number, this.lengths[from] as number];
      this.arena.copyWithin(arenaTo, offset, offset + length);
      this.hashes[to] = this.hashes[from] as number;
      this.offsets[to] = arenaTo;
      this.lengths[to] = length;
      this.counts[to] = this.counts[from] as number;
      this.missed[to] = this.missed[from] as number;
      arenaTo += length;
      to += 1;
    }
    this.size = to;
    this.arenaUsed = arenaTo;
  }

  private best(max: number): number[] {
    return bestOf(this.counts, this.size, max, (a, b) => this.compareTerms(a, b));
  }

  /** Returns the highest count after the first `max`. */
  private largestBut(max: number): number {
    return this.counts.slice(0, this.size).sort()[this.size - max - 1] ?? 0;
  }

  private compareTerms(a: number, b: number): number {
    const [beginA, beginB] = [this.offsets[a] as number, this.offsets[b] as number];
    const [lengthA, lengthB] = [this.lengths[a] as number, this.lengths[b] as number];
    const { arena } = this;
    for (let index = 0; index < lengthA && index < lengthB; ++index) {
      const difference = (arena[beginA + index] as number) - (arena[beginB + index] as number);
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }
}

/**
 * Returns the entries with the highest values, by descending value, then by `compare`. Only sorts those at or above the
 * limit.
 */
function bestOf(values: Float64Array, size: number, max: number, compare: (a: number, b: number) => number): number[] {
  let limit = Number.NEGATIVE_INFINITY;
  if (size > max) limit = values.slice(0, size).sort()[size - max] as number;
  const candidates: number[] = [];
  for (let entry = 0; entry < size; ++entry) if ((values[entry] as number) >= limit) candidates.push(entry);
  candidates.sort((a, b) => (values[b] as number) - (values[a] as number) || compare(a, b));
  return candidates.slice(0, max);
}

function copied<Numbers extends Uint32Array | Uint16Array | Float64Array>(from: Numbers, to: Numbers): Numbers {
  to.set(from);
  return to;
}
