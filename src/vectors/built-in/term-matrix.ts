/**
 * Records as rows of a sparse matrix with their words as columns. The weight of a word in a record is that of BM25
 * (Robertson and Zaragoza 2009, k1 1.2, b 0.75), and rows have length 1. The memory is bounded, however many records
 * and words there are.
 */

const K1 = 1.2;
const B = 0.75;
const ENTRIES_AT_FIRST = 4096;
/** A word that occurs in only one record does not bring it closer to any other. */
const RECORDS_OF_TERM_MIN = 2;
/**
 * A word that occurs in a larger fraction of the records says nothing about their subject; with few records, in more
 * than 16.
 */
const RECORDS_OF_TERM_SHARE_MAX = 1 / 12;
const RECORDS_OF_TERM_MAX_LEAST = 16;

export interface MatrixLimits {
  /** Maximum number of columns; beyond it the rarest words are omitted. */
  readonly termsMax: number;
  /**
   * Maximum number of different words that are counted, the first ones; if there are more, most are numbers and names.
   */
  readonly countedTermsMax: number;
  /** Maximum number of entries: different words of each record, summed over all records. */
  readonly entriesMax: number;
}

export interface TermMatrix {
  /** Number of records. */
  readonly rowCount: number;
  /** One term per column, in alphabetical order. */
  readonly terms: readonly string[];
  /** Inverse document frequency of each term. */
  readonly weights: Float64Array;
  /** Average number of words per record. */
  readonly averageLength: number;
  /** Beginning of each row's entries, and the end of the last. */
  readonly begins: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Float32Array;
}

/** Returns the factor of a word's weight that occurs `frequency` times in a record of `length` words. */
export function saturation(frequency: number, length: number, averageLength: number): number {
  const relative = averageLength === 0 ? 1 : length / averageLength;
  return (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * relative));
}

export function frequenciesOf(terms: readonly string[]): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const term of terms) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  return frequencies;
}

export class TermMatrixBuilder {
  private readonly known = new Map<string, number>();
  private readonly recordCounts: number[] = [];
  private readonly lengths: number[] = [];
  private readonly begins: number[] = [0];
  /** For each entry, the number of its term; `frequencies` has how often it occurs. */
  private entries = new Uint32Array(ENTRIES_AT_FIRST);
  private frequencies = new Uint32Array(ENTRIES_AT_FIRST);
  private entryCount = 0;

  constructor(private readonly limits: MatrixLimits) {}

  /** True if no more records are added. */
  get isFull(): boolean {
    return this.entryCount >= this.limits.entriesMax;
  }

  /** Adds the words of one more record. */
  add(terms: readonly string[]): void {
    if (this.isFull) return;
    for (const [term, frequency] of frequenciesOf(terms)) {
      const number = this.numberOf(term);
      if (number === undefined) continue;
      if (this.entryCount === this.entries.length) this.grow();
      this.recordCounts[number] = (this.recordCounts[number] ?? 0) + 1;
      this.entries[this.entryCount] = number;
      this.frequencies[this.entryCount++] = frequency;
    }
    this.lengths.push(terms.length);
    this.begins.push(this.entryCount);
  }

  private grow(): void {
    for (const array of ['entries', 'frequencies'] as const) {
      const grown = new Uint32Array(2 * this.entryCount);
      grown.set(this[array]);
      this[array] = grown;
    }
  }

  finish(): TermMatrix {
    const rowCount = this.lengths.length;
    const columnOf = new Int32Array(this.recordCounts.length).fill(-1);
    const chosen = this.chosen();
    for (const [column, [, number]] of chosen.entries()) columnOf[number] = column;
    const weights = Float64Array.from(chosen, ([, number]) => {
      const records = this.recordCounts[number] as number;
      return Math.log(1 + (rowCount - records + 0.5) / (records + 0.5));
    });
    const averageLength = this.lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, rowCount);
    const terms = chosen.map(([term]) => term);
    return { rowCount, terms, weights, averageLength, ...this.rows(columnOf, weights, averageLength) };
  }

  private numberOf(term: string): number | undefined {
    const known = this.known.get(term);
    if (known !== undefined || this.known.size >= this.limits.countedTermsMax) return known;
    const number = this.known.size;
    this.known.set(term, number);
    return number;
  }

  /**
   * Chooses the terms; the most frequent ones if there are too many. Their order does not depend on the order of the
   * records.
   */
  private chosen(): [term: string, number: number][] {
    const count = (number: number) => this.recordCounts[number] ?? 0;
    const byTerm = (left: readonly [string, number], right: readonly [string, number]) => (left[0] < right[0] ? -1 : 1);
    const most = Math.max(RECORDS_OF_TERM_MAX_LEAST, this.lengths.length * RECORDS_OF_TERM_SHARE_MAX);
    const shared = [...this.known].filter(
      ([, number]) => count(number) >= RECORDS_OF_TERM_MIN && count(number) <= most,
    );
    if (shared.length <= this.limits.termsMax) return shared.sort(byTerm);
    const byCount = shared.sort((left, right) => count(right[1]) - count(left[1]) || byTerm(left, right));
    return byCount.slice(0, this.limits.termsMax).sort(byTerm);
  }

  private rows(columnOf: Int32Array, weights: Float64Array, averageLength: number) {
    const all = this.entries.subarray(0, this.entryCount);
    const kept = all.reduce((sum, number) => sum + ((columnOf[number] as number) >= 0 ? 1 : 0), 0);
    const begins = new Uint32Array(this.lengths.length + 1);
    const columns = new Uint32Array(kept);
    const values = new Float32Array(kept);
    let at = 0;
    for (const [row, length] of this.lengths.entries()) {
      const begin = at;
      let square = 0;
      for (let entry = this.begins[row] as number; entry < (this.begins[row + 1] as number); ++entry) {
        const column = columnOf[this.entries[entry] as number] as number;
        if (column < 0) continue;
        const value =
          (weights[column] as number) * saturation(this.frequencies[entry] as number, length, averageLength);
        columns[at] = column;
        values[at++] = value;
        square += value * value;
      }
      const scale = square === 0 ? 0 : 1 / Math.sqrt(square);
      for (let entry = begin; entry < at; ++entry) values[entry] = (values[entry] as number) * scale;
      begins[row + 1] = at;
    }
    return { begins, columns, values };
  }
}
