/**
 * Meaning beside words: what the kernel is asked for where a list has vectors, and the search has one. Every number is of the list's
 * calibration or the same for all searches, so that a record's score and what is found depend on neither page nor order.
 */
import type { MeaningSearch } from '../../../native-bindings/index.js';
import type { GenerationSettings } from '../../index/index.js';
import { BUILT_IN_MODEL } from '../../vectors/built-in/model-name.js';
import { cosineScale } from '../../vectors/calibration.js';
import type { SearchRequest } from '../options/search-request.js';
import type { QueryNode } from './plan-nodes.js';

/** Words and meaning count alike: measured on five collections with two models (decision 0116). */
const WEIGHT = 0.5;
/** What was learned from the list alone counts half as much as its words (decision 0118). */
const BUILT_IN_WEIGHT = 1 / 3;
/** What the best record of such words is expected to score counts as full. */
const WORDS_FULL = 0;
/** A third of the way from random pairs to nearest neighbours: nine of ten relevant records are nearer. */
const FLOOR = 0.35;
/** At most so many vectors find. What others find alone stands behind these, so more change nothing among as many first hits, and take time. */
const WANTED = 100;
/** Beside words, which find the rest: of records with one vector each (decision 0259). */
const WANTED_BESIDE_WORDS = 50;
const WIDTH = 100;

/** One picture may be that of many records. */
const OF_PICTURES = { wanted: 2000, width: 400 };

export interface PlannedMeaning extends MeaningSearch {
  /** Vectors that there were when the list's scale of cosines was taken; 0: there is none yet. */
  readonly calibratedOn: number;
  /** Numbers of the records whose meaning it is, where it has none of its own. */
  readonly like: readonly number[] | undefined;
}

/** What is searched for beside words. */
export interface QueryMeaning {
  readonly modelVersion: string;
  readonly vector: Float32Array;
  /** It is that of a picture. */
  readonly ofPictures?: true;
  readonly like?: readonly number[];
}

interface CountedVectors {
  /** In the mean; absent: one. */
  readonly vectorsPerRecord?: () => number;
}
const ONE = () => 1;

/** Undefined where words are alone. */
export function planMeaning(
  request: SearchRequest,
  query: QueryNode,
  { meaning: list, vectorsPerRecord = ONE }: Pick<GenerationSettings, 'meaning'> & CountedVectors,
  given: QueryMeaning | undefined,
): PlannedMeaning | undefined {
  if (given === undefined || list?.modelVersion !== given.modelVersion) return undefined;
  if (given.vector.length !== list.dimensions) return undefined;
  // What has all words has none of a text without words.
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

/** More where records have several vectors each, since those of one long text may all be near; at most as many as without words. */
function wantedBesideWords(vectorsPerRecord: number): number {
  return Math.min(WANTED, Math.max(WANTED_BESIDE_WORDS, Math.round(WANTED_BESIDE_WORDS * vectorsPerRecord)));
}

/** What is near to a vector beside what words find. */
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
