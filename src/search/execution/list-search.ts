/** One list's part of a search: its plan evaluated by the kernel. */
import { kernelConstant, type GenerationHandle, type Kernel } from '../../../native-bindings/index.js';
import { parseResult, QueryPlanWriter, type QueryResult } from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { ServiceError } from '../../platform/index.js';
import type { SearchRequest } from '../options/search-request.js';
import { encodePlan } from '../plan/plan-encoder.js';
import type { QueryNode } from '../plan/plan-nodes.js';
import { planSearch, type PlanWindow } from '../plan/planner.js';
import { analyseQuery } from '../plan/query-analysis.js';
import type { ListContext } from './list-context.js';

const HITS_MAX = kernelConstant('HitsMax');
const GROUPS_MAX = kernelConstant('GroupsMax');

export interface ListSearch {
  readonly list: ListContext;
  readonly query: QueryNode;
  readonly result: QueryResult;
}

export class ListSearcher {
  private readonly planWriter = new QueryPlanWriter();

  constructor(private readonly kernel: Kernel) {}

  search(
    list: ListContext,
    generation: GenerationHandle,
    request: SearchRequest,
    listIndex: number,
    window: PlanWindow,
  ): ListSearch {
    const query = analyseQuery(request.query, request.match, {
      analyse: this.analyse,
      expansion: { language: list.settings.language, typoTolerance: request.typoTolerance },
      groupsMax: GROUPS_MAX,
      phraseTermsMax: GROUPS_MAX,
    });
    const plan = planSearch(request, listIndex, query, this.reachable(generation, window));
    const bytes = this.planWriter.write(encodePlan(plan, list.layout));
    return { list, query, result: parseResult(this.kernel.search(generation, bytes)) };
  }

  private readonly analyse = (text: string): string[] =>
    this.kernel.analyse(segmentForKernel(text)).map(({ term }) => term);

  /** Any skip is allowed, but the kernel ranks no more than HITS_MAX hits: behind the last record there is nothing to rank. */
  private reachable(generation: GenerationHandle, window: PlanWindow): PlanWindow {
    if (window.skip + window.size <= HITS_MAX) return window;
    if (window.skip >= this.kernel.generationInfo(generation).liveCount) return { ...window, skip: 0, size: 0 };
    const detail = `skip and size together reach beyond ${HITS_MAX} results; narrow the search with a filter`;
    throw new ServiceError('unprocessable', `${detail}.`, { errors: [{ parameter: 'skip', detail }] });
  }
}
