/**
 * Computes the vector of a search text by pseudo-relevance feedback (Rocchio 1971): adds up the vectors of the records
 * that the text's words find best, each weighted by a power of its score, so that the first count most. For a model
 * learned from the list's own records, the sum is the text's vector; for a model that reads texts, it is mixed with the
 * model's vector of the text. Filters, order, floors and pages of the search have no influence: a text always has the
 * same vector in a list.
 */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { parseResult, type QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import type { CosineScale } from '../../vectors/calibration.js';
import type { KernelLayout } from '../../index/segments/kernel-layout.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { encodePlan } from './plan-encoder.js';
import type { QueryNode } from './plan-nodes.js';

/**
 * Number of records, and power of their scores. Measured on five collections, like the weight of meaning (decision
 * 0118).
 */
const RECORDS = 10;
const POWER = 6;
/** For a model that reads texts (decision 0251): share of the records in the vector, and power of their scores. */
const RECORDS_SHARE = 0.4;
const POWER_BESIDE_TEXT = 8;

export interface FeedbackVector {
  readonly vector: Float32Array;
  /** Record numbers, best first. */
  readonly like: readonly number[];
}

export interface SearchedList {
  readonly kernel: Pick<Kernel, 'search' | 'recordVectors'>;
  readonly writer: QueryPlanWriter;
  readonly layout: KernelLayout;
  readonly generation: GenerationHandle;
}

/** The model's vector of the text, and the cosines that score 0 and 1 in this list. */
export interface TextVector extends CosineScale {
  readonly vector: Float32Array;
}

/** Returns the vector of the records that the words find. Undefined if no word finds a record with a vector. */
export function feedbackVector(searched: SearchedList, query: QueryNode): FeedbackVector | undefined {
  const best = bestRecords(searched, query);
  const vector = best && sumOf(best, (hit) => (best.scores[hit] as number) ** POWER);
  return best && vector && { vector, like: best.like };
}

/**
 * Returns the given vector of the text mixed with that of the records. A record weighs most if both its words and its
 * nearness to the text's vector say so. Undefined if no word finds a record with a vector; the text's own vector is
 * then used alone.
 */
export function textAndFeedbackVector(
  searched: SearchedList,
  query: QueryNode,
  { vector: given, farthest, nearest }: TextVector,
): FeedbackVector | undefined {
  const best = bestRecords(searched, query);
  if (best?.dimensions !== given.length) return undefined;
  const text = unit(given);
  const units = { ...best, vectors: best.vectors.map(unit) };
  const sums = units.vectors.map((vector, hit) => {
    const nearness = Math.max(0, (product(vector, text) - farthest) / (nearest - farthest));
    return (best.scores[hit] as number) + nearness;
  });
  const most = Math.max(...sums);
  const records = sumOf(units, (hit) => ((sums[hit] as number) / most) ** POWER_BESIDE_TEXT);
  if (records === undefined) return undefined;
  const like = unit(records);
  const vector = text.map((value, at) => (1 - RECORDS_SHARE) * value + RECORDS_SHARE * (like[at] as number));
  return { vector, like: best.like };
}

interface BestRecords {
  readonly like: readonly number[];
  /** Scores of the records' words, relative to the first record's. */
  readonly scores: readonly number[];
  /** All zeros for a record without a vector. */
  readonly vectors: readonly Float32Array[];
  readonly dimensions: number;
}

function bestRecords(searched: SearchedList, query: QueryNode): BestRecords | undefined {
  if (query.kind !== 'groups') return undefined;
  const { kernel, generation } = searched;
  const { hits } = parseResult(kernel.search(generation, bestByWords(searched, query)));
  const like = Array.from({ length: hits.count }, (_, hit) => hits.recordNumber(hit));
  if (like.length === 0) return undefined;
  const rows = kernel.recordVectors(generation, Uint32Array.from(like));
  const dimensions = rows.length / like.length;
  return {
    like,
    scores: like.map((_, hit) => hits.score(hit) / hits.score(0)),
    vectors: like.map((_, hit) => rows.subarray(hit * dimensions, (hit + 1) * dimensions)),
    dimensions,
  };
}

/** Returns the weighted sum, or undefined if it is zero. */
function sumOf({ vectors, dimensions }: BestRecords, weightOf: (hit: number) => number): Float32Array | undefined {
  const sum = new Float32Array(dimensions);
  for (const [hit, vector] of vectors.entries()) {
    const weight = weightOf(hit);
    for (let at = 0; at < dimensions; ++at) sum[at] = (sum[at] as number) + weight * (vector[at] as number);
  }
  return sum.some((value) => value !== 0) ? sum : undefined;
}

function product(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; ++at) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

/** Returns the vector scaled to length 1. A zero vector is returned as it is. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(product(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

function bestByWords({ writer, layout }: SearchedList, query: QueryNode & { readonly kind: 'groups' }): Uint8Array {
  const plan = encodePlan(
    {
      query: { ...query, groups: query.groups.map((group) => ({ ...group, occur: 'should' })) },
      textFields: undefined,
      filter: FILTER_ALL,
      order: [],
      storageOrder: false,
      origin: undefined,
      minimumScore: 0,
      skip: 0,
      size: RECORDS,
      facets: [],
      facetWords: [],
      distinct: undefined,
      explain: false,
    },
    layout,
  );
  return writer.write({ ...plan, needTotal: false });
}
