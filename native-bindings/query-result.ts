/** Reads the result of Kernel.search (kernel/query/plan.h) in place, without an object per hit. */
import { kernelConstant } from './index.js';

const RESULT_MAGIC = kernelConstant('ResultMagic');
const HEADER_BYTES = 16;
const HIT_BYTES = 32;

const KINDS = ['words', 'meaning', 'document', 'image', 'video', 'audio', 'column', 'text'] as const;
const SCORE_BYTES = 8;
const NO_PLACE = 0xffffffff;

/** What a score is about; the index is the ScoreKind of kernel/sources/source.h. */
export type ScoreKind = (typeof KINDS)[number];

/** The score of each hit by each source. */
export class SourceScores {
  /** Kinds of the sources, in the order in which their scores are summed; empty if only words were searched. */
  readonly kinds: readonly ScoreKind[];
  readonly #view: DataView;
  readonly #begin: number;
  /** Offset after the scores. */
  readonly end: number;

  constructor(view: DataView, offset: number, hits: number) {
    const count = view.getUint32(offset, true);
    const kinds: ScoreKind[] = [];
    for (let index = 0; index < count; ++index) {
      const kind = KINDS[view.getUint8(offset + 4 + index)];
      if (kind === undefined) throw new RangeError('the query result has a score of an unknown kind');
      kinds.push(kind);
    }
    this.kinds = kinds;
    this.#view = view;
    this.#begin = offset + 4 + count;
    this.end = this.#begin + hits * count * SCORE_BYTES;
    if (this.end > view.byteLength) throw new RangeError('the query result is cut off');
  }

  /** Returns a score in 0..1; 0 if the source did not find the hit. */
  score(hit: number, source: number): number {
    return this.#view.getFloat32(this.#offset(hit, source), true);
  }

  /** Returns the passage or page of the record that the score comes from; undefined if the source has none. */
  place(hit: number, source: number): number | undefined {
    const place = this.#view.getUint32(this.#offset(hit, source) + 4, true);
    return place === NO_PLACE ? undefined : place;
  }

  #offset(hit: number, source: number): number {
    if (!(source >= 0 && source < this.kinds.length)) {
      throw new RangeError(`there is no source ${source} among ${this.kinds.length}`);
    }
    return this.#begin + (hit * this.kinds.length + source) * SCORE_BYTES;
  }
}

export interface QueryResult {
  /** Number of matches before skip and size. */
  readonly total: number;
  readonly hits: ResultHits;
  /** JSON as the service returns it; '' if it was not asked for. */
  readonly facetsJson: string;
  readonly rangesJson: string;
  readonly explainJson: string;
  readonly scores: SourceScores;
  /** The set of all matches, if the plan asked for it; only `Kernel.countDistinct` reads it. */
  readonly matches: Uint8Array;
}

/** The hits, best first. `index` must be below `count`. */
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

  /** Metres; NaN if the hit has no location or the plan asked for no distance. */
  distance(index: number): number {
    return this.#view.getFloat64(this.#offset(index) + 8, true);
  }

  /** Degrees; NaN as for the distance. */
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

/** Throws RangeError if `bytes` is not a result. The hits keep reading from `bytes`. */
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
  const facetsJson = nextJson();
  const rangesJson = nextJson();
  const explainJson = nextJson();
  const scores = new SourceScores(view, offset, count);
  return {
    total: view.getFloat64(8, true),
    hits: new ResultHits(view, count),
    facetsJson,
    rangesJson,
    explainJson,
    scores,
    matches: bytes.subarray(scores.end),
  };
}
