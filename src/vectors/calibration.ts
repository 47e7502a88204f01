/**
 * Maps the cosines of a list to scores: from those of random pairs, which mean nothing, to those of nearest neighbours.
 * Pure.
 */
import type { SpaceCalibration } from '../store/index.js';

export interface CosineScale {
  /** Cosines that are mapped to 0 and 1. */
  readonly farthest: number;
  readonly nearest: number;
}

/**
 * Acts as if so many orthogonal vectors had been seen in addition, because the few records of a small list may all have
 * the same subject.
 */
const PRIOR_VECTORS = 16;
/**
 * Minimum distance of nearest neighbours from random pairs, as a fraction of the way to equality; sentence models have
 * 0.6.
 */
const SPAN_SHARE_MIN = 0.5;
const NEAREST_MAX = 1;
/** Below 1, because cosines are single-precision, and all records may be equal. */
const FARTHEST_MAX = 0.98;

export function cosineScale(calibration: SpaceCalibration | undefined): CosineScale {
  if (calibration === undefined) return { farthest: 0, nearest: NEAREST_MAX };
  const { vectorCount, random, nearest } = calibration;
  const farthest = Math.min(FARTHEST_MAX, Math.max(0, random.mean) * (vectorCount / (vectorCount + PRIOR_VECTORS)));
  const least = farthest + SPAN_SHARE_MIN * (1 - farthest);
  return { farthest, nearest: Math.min(NEAREST_MAX, Math.max(nearest.mean, least)) };
}

/** True if the calibration has to be repeated: there are twice as many vectors, or a quarter. */
export function isOutgrown(calibration: SpaceCalibration | undefined, vectorCount: number): boolean {
  if (vectorCount < 2) return false;
  if (calibration === undefined) return true;
  return vectorCount >= 2 * calibration.vectorCount || vectorCount * 4 <= calibration.vectorCount;
}
