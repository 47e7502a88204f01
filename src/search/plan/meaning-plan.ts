/**
 * Plans the search by meaning besides words, for a list with vectors and a search with a vector. Every number comes
 * from the list's calibration or is constant, so that a record's score, and whether it is found, depend on neither page
 * nor order.
 */
import type { MeaningSearch } from '../../../native-bindings/index.js';
import type { GenerationSettings } from '../../index/index.js';
import { BUILT_IN_MODEL } from '../../vectors/built-in/model-name.js';
import { cosineScale } from '../../vectors/calibration.js';
import type { SearchRequest } from '../options/search-request.js';
import type { QueryNode } from './plan-nodes.js';

/** Words and meaning count alike. Measured on five collections with two models (decision 0116). */
const WEIGHT = 0.5;
/** A model learned from the list alone counts half as much as words (decision 0118). */
const BUILT_IN_WEIGHT = 1 / 3;
/** The expected score of the best record for such words counts as full. */
const WORDS_FULL = 0;
/** Score of words that counts as 1. 0 stands for the score that the best record of such words is expected to have. */
const FLOOR = 0.35;
/** Number of nearest vectors that may add hits. Further ones rank behind these, so that more would only take time. */
const WANTED = 100;
/** The same besides words, which find the rest. For records with one vector each (decision 0259). */
const WANTED_BESIDE_WORDS = 50;
const WIDTH = 100;

/** Larger for pictures: one picture may belong to many records. */
const OF_PICTURES = { wanted: 2000, width: 400 };

export interface PlannedMeaning extends MeaningSearch {
  /** Number of vectors when the list's scale of cosines was measured. 0 if it was not yet. */
  readonly calibratedOn: number;
  /** Numbers of the records whose vectors were added up, if the vector came from records. */
  readonly like: readonly number[] | undefined;
}

/** Vector to search for besides words. */
export interface QueryMeaning {
  readonly modelVersion: string;
  readonly vector: Float32Array;
  /** True if the vector is of a picture. */
  readonly ofPictures?: true;
  readonly like?: readonly number[];
}

interface CountedVectors {
  /** Mean number of vectors per record. Default 1. */
  readonly vectorsPerRecord?: () => number;
}
const ONE = () => 1;

/** Returns the plan, or undefined if only words are searched for. */
export function planMeaning(
  request: SearchRequest,
  query: QueryNode,
  { meaning: list, vectorsPerRecord = ONE }: Pick<GenerationSettings, 'meaning'> & CountedVectors,
  given: QueryMeaning | undefined,
): PlannedMeaning | undefined {
  if (given === undefined || list?.modelVersion !== given.modelVersion) return undefined;
  if (given.vector.length !== list.dimensions) return undefined;
  // No record has all words of a text without words.
  if (request.options.match === 'all' && query.kind === 'nothing') return undefined;
  return {
    ...nearTo(given.vector, list),
    ...(query.kind === 'groups' ? { wanted: wantedBesideWords(vectorsPerRecord()) } : { weight: 1 }),
    ...(given.ofPictures === true ? OF_PICTURES : {}),
    adds: request.options.match !== 'all' || query.kind !== 'groups',
    calibratedOn: list.calibration?.vectorCount ?? 0,
    like: given.like,
    exact: request.options.exact,
  };
}

/**
 * Returns the number of vectors wanted besides words. Grows with the vectors per record, since all vectors of one long
 * text may be near, up to the number wanted without words.
 */
function wantedBesideWords(vectorsPerRecord: number): number {
  return Math.min(WANTED, Math.max(WANTED_BESIDE_WORDS, Math.round(WANTED_BESIDE_WORDS * vectorsPerRecord)));
}

/** Returns the search for what is near a vector. */
export function nearTo(vector: Float32Array, list: NonNullable<GenerationSettings['meaning']>): MeaningSearch {
  return {
    vector,
    weight: list.model === BUILT_IN_MODEL ? BUILT_IN_WEIGHT : WEIGHT,
    floor: FLOOR,
    ...cosineScale(list.calibration),
    wanted: WANTED,
    width: WIDTH,
    wordsFull: WORDS_FULL,
  };
}
