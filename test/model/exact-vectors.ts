/** Compares records with vectors by brute force, to tell what a vector index should find and with which scores. */
import { scoreOf, type Scale } from './reference-vectors.js';

export interface VectorRecord {
  readonly name: string;
  readonly place: number;
  readonly side: string;
  readonly vectors: readonly (readonly number[])[];
}
export interface Near {
  readonly name: string;
  readonly score: number;
  readonly side: string;
}

/** Maximum number of vectors that a search by vector finds. */
const FINDING_MAX = 100;
const HALF_DIGITS = 10;
const HALF_EXPONENT_MIN = -14;

/** Returns the vector normalized to length 1 in 32-bit floats, as a query is compared. */
export function asDirection(vector: readonly number[]): Float32Array {
  const kept = Float32Array.from(vector);
  const length = Math.hypot(...kept);
  return kept.map((each) => each / length);
}

/** Rounds to the nearest 16-bit float, ties to even, as vectors are stored in an index (docs/formats.md). */
function asHalf(value: number): number {
  const exponent = Math.max(HALF_EXPONENT_MIN, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - HALF_DIGITS);
  const units = value / unit;
  const below = Math.floor(units);
  const isDown = units - below < 0.5 || (units - below === 0.5 && below % 2 === 0);
  return (isDown ? below : below + 1) * unit;
}

function product(left: Float32Array, right: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < left.length; at += 1) sum += (left[at] ?? 0) * (right[at] ?? 0);
  return sum;
}

export class ExactVectors {
  readonly #records = new Map<string, VectorRecord & { readonly kept: readonly Float32Array[] }>();

  get size(): number {
    return this.#records.size;
  }

  get names(): string[] {
    return [...this.#records.keys()];
  }

  put(records: readonly VectorRecord[]): void {
    for (const record of records) {
      const kept = record.vectors.map((vector) => asDirection(vector).map(asHalf));
      this.#records.set(record.name, { ...record, kept });
    }
  }

  delete(isDeleted: (record: VectorRecord) => boolean): number {
    const gone = [...this.#records.values()].filter(isDeleted);
    for (const { name } of gone) this.#records.delete(name);
    return gone.length;
  }

  copy(): ExactVectors {
    const copy = new ExactVectors();
    for (const [name, record] of this.#records) copy.#records.set(name, record);
    return copy;
  }

  /** Returns the score of a record, however far away it is. */
  scoreOf(name: string, vector: readonly number[], scale: Scale): number {
    const query = asDirection(vector);
    const cosines = (this.#records.get(name)?.kept ?? []).map((each) => product(each, query));
    return scoreOf(Math.max(...cosines), scale);
  }

  passes(name: string, isPassing: (record: VectorRecord) => boolean): boolean {
    const record = this.#records.get(name);
    return record !== undefined && isPassing(record);
  }

  /** Returns the records of the `FINDING_MAX` nearest vectors that reach the floor of the scale, best first. */
  nearest(vector: readonly number[], isPassing: (record: VectorRecord) => boolean, scale: Scale): Near[] {
    const query = asDirection(vector);
    const all: { readonly record: VectorRecord; readonly cosine: number }[] = [];
    for (const record of this.#records.values())
      if (isPassing(record)) for (const each of record.kept) all.push({ record, cosine: product(each, query) });
    all.sort((left, right) => right.cosine - left.cosine);
    const found = new Map<string, Near>();
    for (const { record, cosine } of all.slice(0, FINDING_MAX)) {
      const score = (cosine - scale.farthest) / (scale.nearest - scale.farthest);
      if (score < scale.floor || found.has(record.name)) continue;
      found.set(record.name, { name: record.name, score: Math.min(1, score), side: record.side });
    }
    return [...found.values()];
  }
}
