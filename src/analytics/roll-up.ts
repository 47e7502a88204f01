/** The roll-up of an hour or a day of one list or group: sums, and the most frequent terms. */
import { aligned, encodeTermList, TermList, termListEnd } from './term-list.js';
import { TermTable } from './term-table.js';

/**
 * Sums in the order in which they are stored. A new sum is added at the end, and increases the number of
 * `EVENTS_FORMAT`.
 */
const SUMS = [
  'searches',
  'zeroResultSearches',
  'clicks',
  'rerankedSearches',
  /** Reranked searches whose first result changed. */
  'topChanged',
  /** Places that shown results of reranked searches moved up, and the number of these results. */
  'placesMovedUp',
  'resultsShown',
  /** The same for clicked results. */
  'clickedPlacesMovedUp',
  'clickedResults',
] as const;
export type Sums = Record<(typeof SUMS)[number], number>;

/**
 * Tables of counted texts, in the order in which they are stored; a new one is added as a new sum is. `clickedTerms`
 * are the terms of searches that led to clicks, one count per click; `clickedPairs` are term, NUL and name of the
 * clicked record. Both are empty for groups, since only list clicks are learned from.
 */
const TABLES = ['terms', 'zeroResultTerms', 'clickedTerms', 'clickedPairs'] as const;
export type TableName = (typeof TABLES)[number];

/** Half of the number of different texts up to which a table counts exactly; see `TermTable`. */
const COUNTED_MAX: Readonly<Record<TableName, number>> = {
  terms: 65_536,
  zeroResultTerms: 32_768,
  clickedTerms: 16_384,
  clickedPairs: 32_768,
};
/** Texts stored per hour: if no hour has more different ones, the 500 of the day are exact. */
const HOUR_LIMITS: Readonly<Record<TableName, number>> = {
  terms: 8192,
  zeroResultTerms: 4096,
  clickedTerms: 2048,
  clickedPairs: 4096,
};
/** Texts stored per day. */
const DAY_LIMITS: Readonly<Record<TableName, number>> = {
  terms: 500,
  zeroResultTerms: 500,
  clickedTerms: 500,
  clickedPairs: 1000,
};

const FORMAT = 1;
const SUM_BYTES = 8;
/** The sums follow the format number and the numbers of sums and lists, aligned to 8 bytes. */
const SUMS_AT = 8;
/** Numbers of sums and tables of releases that did not store them. */
const FIRST_SUMS = 9;
const FIRST_TABLES = 4;

export class RollUp {
  readonly sums: Sums = noSums();
  readonly tables: Readonly<Record<TableName, TermTable>> = {
    terms: new TermTable(COUNTED_MAX.terms),
    zeroResultTerms: new TermTable(COUNTED_MAX.zeroResultTerms),
    clickedTerms: new TermTable(COUNTED_MAX.clickedTerms),
    clickedPairs: new TermTable(COUNTED_MAX.clickedPairs),
  };

  /** Adds a stored roll-up. */
  addStored(stored: StoredRollUp): void {
    addSums(this.sums, stored.sums);
    for (const name of TABLES) this.tables[name].addList(stored.list(name));
  }

  /** Encodes an hour. */
  encodeHour(): Buffer {
    return this.encode(HOUR_LIMITS, false);
  }

  /** Encodes a day: the lists are sorted, the most frequent first. */
  encodeDay(): Buffer {
    return this.encode(DAY_LIMITS, true);
  }

  private encode(limits: Readonly<Record<TableName, number>>, isSorted: boolean): Buffer {
    const head = Buffer.alloc(SUMS_AT + SUMS.length * SUM_BYTES);
    head.set([FORMAT, SUMS.length, TABLES.length]);
    for (const [index, name] of SUMS.entries()) head.writeDoubleLE(this.sums[name], SUMS_AT + index * SUM_BYTES);
    return Buffer.concat([head, ...TABLES.map((name) => this.tables[name].encode(limits[name], { isSorted }))]);
  }
}

export interface StoredRollUp {
  readonly sums: Sums;
  /** Throws a RangeError if the bytes are not a list. */
  list(name: TableName): TermList;
}

/**
 * Decodes the result of `RollUp.encode`; what an earlier release did not count is 0. Throws a RangeError for other
 * bytes.
 */
export function readRollUp(stored: Uint8Array): StoredRollUp {
  const bytes = aligned(stored);
  const [format, sumCount = 0, tableCount = 0] = bytes;
  if (format !== FORMAT) throw new RangeError(`A roll-up of format ${format} cannot be read`);
  const storedSums = sumCount === 0 ? FIRST_SUMS : sumCount;
  const storedTables = tableCount === 0 ? FIRST_TABLES : tableCount;
  if (storedSums > SUMS.length || storedTables > TABLES.length)
    throw new RangeError('A roll-up counts what is not known');
  const sums = noSums();
  for (const [index, name] of SUMS.slice(0, storedSums).entries())
    sums[name] = bytes.readDoubleLE(SUMS_AT + index * SUM_BYTES);
  const listsAt = SUMS_AT + storedSums * SUM_BYTES;
  return {
    sums,
    list: (name) => (TABLES.indexOf(name) < storedTables ? listOf(bytes, name, listsAt) : new TermList(NO_TERMS, 0)),
  };
}

const NO_TERMS = aligned(encodeTermList({ errorMax: 0, unlistedMax: 0, terms: [] }));

function listOf(bytes: Buffer, wanted: TableName, listsAt: number): TermList {
  let at = listsAt;
  for (const before of TABLES) {
    if (before === wanted) break;
    at = termListEnd(bytes, at);
  }
  return new TermList(bytes, at);
}

export function noSums(): Sums {
  return Object.fromEntries(SUMS.map((name) => [name, 0])) as Sums;
}

export function addSums(to: Sums, from: Sums): void {
  for (const name of SUMS) to[name] += from[name];
}
