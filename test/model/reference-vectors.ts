/** What the documents say of vectors: which are taken, how near two are, and which records are near enough to one that is sent. */
import type { ModelRecord } from './reference-list.js';

export type Vector = readonly number[];
/** Of a record: several, one or none that is sent; null removes those that are there. */
export type GivenVectors = readonly Vector[] | null;

/** A list's calibration, as `explain` shows it. */
export interface Scale {
  readonly farthest: number;
  readonly nearest: number;
  readonly floor: number;
}
/** What is looked for beside the words of a search. */
export interface Near {
  readonly vector: Vector;
  readonly scale: Scale;
  /** Whether all vectors are compared. */
  readonly exact: boolean;
  /** 1: with what may be found, -1: without what may not. */
  readonly doubt: 1 | -1;
}

/** So many vectors find at most; beside words half as many where records have one each. */
const FINDING_MAX = 100;
const FINDING_BESIDE_WORDS = 50;
/** The index has floats of 16 bits. */
export const COSINE_TOLERANCE = 0.003;

/** Of 32 bits, as they are kept. */
export const asKept = (vector: Vector) => vector.map(Math.fround);

/** Whether they can be compared: finite numbers of 32 bits that are not all zeros. */
export function isDirection(vector: Vector): boolean {
  const kept = asKept(vector);
  return kept.every(Number.isFinite) && kept.some((each) => each !== 0);
}

export function cosine(left: Vector, right: Vector): number {
  const [a, b] = [scaled(left), scaled(right)];
  const product = a.reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}

/** The same direction, with 1 as its longest part. */
function scaled(vector: Vector): number[] {
  const kept = asKept(vector);
  const longest = Math.max(...kept.map(Math.abs));
  return kept.map((each) => each / longest);
}

/** Of the nearest of its vectors; undefined of a record without any. */
export function bestCosine({ vectors }: ModelRecord, vector: Vector): number | undefined {
  return vectors.length === 0 ? undefined : Math.max(...vectors.map((each) => cosine(each, vector)));
}

export function scoreOf(best: number, { farthest, nearest }: Scale): number {
  return Math.min(1, Math.max(0, (best - farthest) / (nearest - farthest)));
}

/** Those of `passing` that are near enough. */
export function nearRecords(passing: readonly ModelRecord[], near: Near, isBesideWords: boolean): Set<ModelRecord> {
  const { vector, scale, doubt } = near;
  const { farthest, nearest, floor } = scale;
  const least = farthest + floor * (nearest - farthest);
  const all = passing.flatMap(({ vectors }) => vectors.map((each) => cosine(each, vector)));
  const cut = cutOf(all, near, isBesideWords);
  const isNear = (record: ModelRecord) => {
    const best = bestCosine(record, vector) ?? -Infinity;
    return best > Math.max(least, cut) - doubt * COSINE_TOLERANCE;
  };
  return new Set(passing.filter(isNear));
}

/** What the last has that finds; a graph may miss some of these and find others. */
function cutOf(all: readonly number[], { exact, doubt }: Near, isBesideWords: boolean): number {
  const found = isBesideWords && doubt < 0 ? FINDING_BESIDE_WORDS : FINDING_MAX;
  if (all.length <= found) return -Infinity;
  if (!exact) return doubt > 0 ? -Infinity : Infinity;
  return [...all].sort((left, right) => right - left)[found - 1] ?? -Infinity;
}
