/** Vectors as documented: which are accepted, how near two are, and which records are near enough to a query vector. */
import type { ModelRecord } from './reference-list.js';

export type Vector = readonly number[];
/** Vectors sent for a record; null removes those it has. */
export type GivenVectors = readonly Vector[] | null;

/** Calibration of a list, as `explain` shows it. */
export interface Scale {
  readonly farthest: number;
  readonly nearest: number;
  readonly floor: number;
}
/** The vector part of a search. */
export interface Near {
  readonly vector: Vector;
  readonly scale: Scale;
  /** True if all vectors are compared, without the graph. */
  readonly exact: boolean;
  /** 1 includes the records that may or may not be found, -1 excludes them. */
  readonly doubt: 1 | -1;
}

/** Maximum number of vectors found; with words, half as many if each record has one vector. */
const FINDING_MAX = 100;
const FINDING_BESIDE_WORDS = 50;
/** Tolerance for the 16-bit floats of the index. */
export const COSINE_TOLERANCE = 0.003;

/** Returns the vector in 32-bit floats, as it is stored. */
export const asKept = (vector: Vector) => vector.map(Math.fround);

/** True if the vector can be compared: finite as 32-bit floats, and not all zeros. */
export function isDirection(vector: Vector): boolean {
  const kept = asKept(vector);
  return kept.every(Number.isFinite) && kept.some((each) => each !== 0);
}

export function cosine(left: Vector, right: Vector): number {
  const [a, b] = [scaled(left), scaled(right)];
  const product = a.reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}

/** Scales the vector so that its largest component is 1, which avoids overflow and underflow. */
function scaled(vector: Vector): number[] {
  const kept = asKept(vector);
  const longest = Math.max(...kept.map(Math.abs));
  return kept.map((each) => each / longest);
}

/** Returns the cosine of the record's nearest vector; undefined if the record has none. */
export function bestCosine({ vectors }: ModelRecord, vector: Vector): number | undefined {
  return vectors.length === 0 ? undefined : Math.max(...vectors.map((each) => cosine(each, vector)));
}

export function scoreOf(best: number, { farthest, nearest }: Scale): number {
  return Math.min(1, Math.max(0, (best - farthest) / (nearest - farthest)));
}

/** Returns the records of `passing` that are near enough. */
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

/**
 * Returns the cosine of the last vector that is found. Without `exact`, the graph may miss some of these and find
 * others.
 */
function cutOf(all: readonly number[], { exact, doubt }: Near, isBesideWords: boolean): number {
  const found = isBesideWords && doubt < 0 ? FINDING_BESIDE_WORDS : FINDING_MAX;
  if (all.length <= found) return -Infinity;
  if (!exact) return doubt > 0 ? -Infinity : Infinity;
  return [...all].sort((left, right) => right - left)[found - 1] ?? -Infinity;
}
