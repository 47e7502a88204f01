/**
 * What a text means to a list whose model was learned from its own records: what the records mean that its words find best
 * (relevance feedback, Rocchio 1971, with nobody asked). Their vectors are added up, each by a power of its record's score, so that the
 * first count most. Filters, order, floors and pages of the search change nothing of it: the same text always means the same to a list.
 */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { parseResult, type QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import type { KernelLayout } from '../../index/segments/kernel-layout.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { encodePlan } from './plan-encoder.js';
import type { QueryNode } from './plan-nodes.js';

/** Measured on five collections, as the weight of meaning is (decision 0118). */
const RECORDS = 10;
const POWER = 6;

export interface FeedbackVector {
  readonly vector: Float32Array;
  /** Record numbers, the best first. */
  readonly like: readonly number[];
}

export interface SearchedList {
  readonly kernel: Pick<Kernel, 'search' | 'recordVectors'>;
  readonly writer: QueryPlanWriter;
  readonly layout: KernelLayout;
  readonly generation: GenerationHandle;
}

/** Undefined where no word finds a record that has a vector. */
export function feedbackVector(searched: SearchedList, query: QueryNode): FeedbackVector | undefined {
  if (query.kind !== 'groups') return undefined;
  const { kernel, generation } = searched;
  const { hits } = parseResult(kernel.search(generation, bestByWords(searched, query)));
  const like = Array.from({ length: hits.count }, (_, hit) => hits.recordNumber(hit));
  if (like.length === 0) return undefined;
  const vectors = kernel.recordVectors(generation, Uint32Array.from(like));
  const dimensions = vectors.length / like.length;
  const best = hits.score(0);
  const sum = new Float32Array(dimensions);
  for (let hit = 0; hit < like.length; ++hit) {
    const weight = (hits.score(hit) / best) ** POWER;
    for (let at = 0; at < dimensions; ++at) {
      sum[at] = (sum[at] as number) + weight * (vectors[hit * dimensions + at] as number);
    }
  }
  return sum.some((value) => value !== 0) ? { vector: sum, like } : undefined;
}

function bestByWords({ writer, layout }: SearchedList, query: QueryNode & { readonly kind: 'groups' }): Uint8Array {
  const plan = encodePlan(
    {
      query: { ...query, groups: query.groups.map((group) => ({ ...group, occur: 'should' })) },
      filter: FILTER_ALL,
      order: [],
      storageOrder: false,
      origin: undefined,
      minimumScore: 0,
      skip: 0,
      size: RECORDS,
      facets: [],
      explain: false,
    },
    layout,
  );
  return writer.write({ ...plan, needTotal: false });
}
