/** The built-in model of pictures, which needs no download. */
import type { PictureModel } from '../extracts/index.js';
import { DESCRIPTOR_DIMENSIONS, DESCRIPTOR_VERSION } from './descriptor.js';

/**
 * Distribution of cosines of 2,000 pictures of eight kinds (`bench/pictures`): the mean of random pairs; only the same
 * picture has 1. Independent of the list.
 */
const CALIBRATION = {
  vectorCount: 2000,
  random: { mean: 0.25, deviation: 0.16 },
  // Vectors are stored as 16-bit floats, so the same picture has slightly less than 1.
  nearest: { mean: 0.999, deviation: 0 },
} as const;

export const BUILT_IN_PICTURES: PictureModel = {
  model: 'built-in',
  modelVersion: DESCRIPTOR_VERSION,
  dimensions: DESCRIPTOR_DIMENSIONS,
  calibration: CALIBRATION,
};
