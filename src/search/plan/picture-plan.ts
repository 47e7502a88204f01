/**
 * Plans the search for pictures besides words, for a list whose pictures can be compared with texts. As with meaning,
 * every number is the same for all searches with the model, so that a score depends on neither page nor order (decision
 * 0179). Pure functions.
 */
import type { PicturesSearch } from '../../../native-bindings/index.js';
import type { SearchRequest } from '../options/search-request.js';
import type { SearchPictures } from '../types.js';
import { unroundedFloor } from './planner.js';

/**
 * Distance from the mean cosine of unrelated texts and pictures to that of matching ones, in standard deviations of the
 * unrelated.
 */
const DEVIATIONS = 6;
const SPAN_MIN = 0.02;
const FARTHEST_MAX = 0.98;
/** Half of that distance: of random pairs, one in a thousand is nearer. */
const FLOOR = 0.5;
/**
 * Number of nearest pictures. One picture may belong to many records; more change nothing among the first hits and take
 * time.
 */
const WANTED = 1000;
const WIDTH = 400;

export type PlannedPictures = PicturesSearch;

/** Returns the plan, or undefined if pictures take no part: `match` of `all` or `phrase` is decided by words. */
export function planPictures(request: SearchRequest, given: SearchPictures | undefined): PlannedPictures | undefined {
  if (given === undefined || request.options.match !== 'any') return undefined;
  const { mean, deviation } = given.random;
  const farthest = Math.min(FARTHEST_MAX, Math.max(-1, mean));
  return {
    generation: given.generation,
    vector: given.vector,
    farthest,
    nearest: Math.min(1, Math.max(farthest + SPAN_MIN, farthest + DEVIATIONS * deviation)),
    floor: Math.max(FLOOR, unroundedFloor(request.options.minimum_image_score)),
    wanted: WANTED,
    width: WIDTH,
    exact: request.options.exact,
  };
}
