/** The model of pictures that needs no download, as lists have it. */
import type { PictureModel } from '../extracts/index.js';
import { DESCRIPTOR_DIMENSIONS, DESCRIPTOR_VERSION } from './descriptor.js';

/**
 * Cosines of 2,000 pictures of eight kinds (`bench/pictures`): two at random have this mean; only the same picture has 1. What pictures mean to
 * each other does not depend on the list.
 */
const CALIBRATION = {
  vectorCount: 2000,
  random: { mean: 0.25, deviation: 0.16 },
  // Vectors are kept as 16-bit floats: the same picture has nearly 1.
  nearest: { mean: 0.999, deviation: 0 },
} as const;

export const BUILT_IN_PICTURES: PictureModel = {
  model: 'built-in',
  modelVersion: DESCRIPTOR_VERSION,
  dimensions: DESCRIPTOR_DIMENSIONS,
  calibration: CALIBRATION,
};
