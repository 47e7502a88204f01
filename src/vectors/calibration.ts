/** What cosines mean in a list: from those of random pairs, which say nothing, to those of nearest neighbours. Pure. */
import type { SpaceCalibration } from '../store/index.js';

export interface CosineScale {
  /** Cosines that score 0 and 1. */
  readonly farthest: number;
  readonly nearest: number;
}

/** As though so many vectors had been seen whose pairs are at right angles: the few records of a small list may all be of one matter. */
const PRIOR_VECTORS = 16;
/** Nearest neighbours are at least so far from random pairs on the way to equality: of sentence models it is 0.6. */
const SPAN_SHARE_MIN = 0.5;
const NEAREST_MAX = 1;
/** Cosines are single-precision, and all records may be the same. */
const FARTHEST_MAX = 0.98;

export function cosineScale(calibration: SpaceCalibration | undefined): CosineScale {
  if (calibration === undefined) return { farthest: 0, nearest: NEAREST_MAX };
  const { vectorCount, random, nearest } = calibration;
  const farthest = Math.min(FARTHEST_MAX, Math.max(0, random.mean) * (vectorCount / (vectorCount + PRIOR_VECTORS)));
  const least = farthest + SPAN_SHARE_MIN * (1 - farthest);
  return { farthest, nearest: Math.min(NEAREST_MAX, Math.max(nearest.mean, least)) };
}

/** It is taken anew when there are twice as many vectors, or a quarter. */
export function isOutgrown(calibration: SpaceCalibration | undefined, vectorCount: number): boolean {
  if (vectorCount < 2) return false;
  if (calibration === undefined) return true;
  return vectorCount >= 2 * calibration.vectorCount || vectorCount * 4 <= calibration.vectorCount;
}
