/**
 * Records as rows of a sparse matrix, their words as columns: the weight of a word in a record is that of BM25 (Robertson and
 * Zaragoza 2009, k1 1.2, b 0.75), and a row has length 1. What is gathered is bounded, however many records and words there are.
 */

const K1 = 1.2;
const B = 0.75;
const ENTRIES_AT_FIRST = 4096;
/** A word of one record alone brings it near to no other. */
const RECORDS_OF_TERM_MIN = 2;
/** A word of more than these says nothing of what a record is about: in few records, of 16. */
const RECORDS_OF_TERM_SHARE_MAX = 1 / 12;
const RECORDS_OF_TERM_MAX_LEAST = 16;

export interface MatrixLimits {
  /** Columns: beyond these the rarest words are left out. */
  readonly termsMax: number;
  /** Different words that are counted at all, the first ones: where there are more, most are numbers and names. */
  readonly countedTermsMax: number;
  /** Different words of records, in all. */
  readonly entriesMax: number;
}

export interface TermMatrix {
  /** Records. */
  readonly rowCount: number;
  /** One a column, in the order of the alphabet. */
  readonly terms: readonly string[];
  /** How much each tells: the inverse of its frequency. */
  readonly weights: Float64Array;
  /** Words of a record, on average. */
  readonly averageLength: number;
  /** Where the entries of each row begin; of one more than there are. */
  readonly begins: Uint32Array;
  readonly columns: Uint32Array;
  readonly values: Float32Array;
}

/** How much of a word's weight so many of it in a record are worth, where words in all say how long the record is. */
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
  /** Of all entries: number of the term, and how often it is there. */
  private entries = new Uint32Array(ENTRIES_AT_FIRST);
  private frequencies = new Uint32Array(ENTRIES_AT_FIRST);
  private entryCount = 0;

  constructor(private readonly limits: MatrixLimits) {}

  /** Nothing more is taken. */
  get isFull(): boolean {
    return this.entryCount >= this.limits.entriesMax;
  }

  /** The words of one more record. */
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

  /** The most frequent where there are too many; in an order that does not depend on which record came first. */
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
