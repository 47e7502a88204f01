/** Reads the result of Kernel.search (kernel/query/plan.h) in place: no object a hit. */
import { kernelConstant } from './index.js';

const RESULT_MAGIC = kernelConstant('ResultMagic');
const HEADER_BYTES = 16;
const HIT_BYTES = 32;

export interface QueryResult {
  /** Matches before skip and size. */
  readonly total: number;
  readonly hits: ResultHits;
  /** JSON as the service answers it, or '' where none was asked for. */
  readonly facetsJson: string;
  readonly rangesJson: string;
  readonly explainJson: string;
}

/** The hits, best first. `index` has to be below `count`. */
export class ResultHits {
  readonly count: number;
  readonly #view: DataView;

  constructor(view: DataView, count: number) {
    this.#view = view;
    this.count = count;
  }

  recordNumber(index: number): number {
    return this.#view.getUint32(this.#offset(index), true);
  }

  /** 0..1. */
  score(index: number): number {
    return this.#view.getFloat32(this.#offset(index) + 4, true);
  }

  /** Metres; NaN where the hit has no location or the plan asked for no distance. */
  distance(index: number): number {
    return this.#view.getFloat64(this.#offset(index) + 8, true);
  }

  /** Degrees; NaN as with the distance. */
  latitude(index: number): number {
    return this.#view.getFloat64(this.#offset(index) + 16, true);
  }

  longitude(index: number): number {
    return this.#view.getFloat64(this.#offset(index) + 24, true);
  }

  recordNumbers(): Uint32Array {
    return Uint32Array.from({ length: this.count }, (_, index) => this.recordNumber(index));
  }

  #offset(index: number): number {
    if (!(index >= 0 && index < this.count)) throw new RangeError(`there is no hit ${index} among ${this.count}`);
    return HEADER_BYTES + index * HIT_BYTES;
  }
}

/** Throws RangeError where `bytes` is no result. The hits keep reading from `bytes`. */
export function parseResult(bytes: Uint8Array): QueryResult {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== RESULT_MAGIC) throw new RangeError('these bytes are no query result');
  const count = view.getUint32(4, true);
  let offset = HEADER_BYTES + count * HIT_BYTES;
  const nextJson = (): string => {
    const length = view.getUint32(offset, true);
    const begin = offset + 4;
    offset = begin + length;
    if (offset > buffer.length) throw new RangeError('the query result is cut off');
    return length === 0 ? '' : buffer.toString('utf8', begin, offset);
  };
  return {
    total: view.getFloat64(8, true),
    hits: new ResultHits(view, count),
    facetsJson: nextJson(),
    rangesJson: nextJson(),
    explainJson: nextJson(),
  };
}
