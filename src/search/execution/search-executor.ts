/**
 * Executes a search from task to finished response bytes: reads the options, searches each list, fetches, highlights
 * and serialises. Belongs to one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import { readSearchRequest, type SearchRequest } from '../options/search-request.js';
import { answerHead, formatTook } from '../response/answer-head.js';
import { appliedJson } from './applied.js';
import type { ResponseWriter } from '../response/response-writer.js';
import type { Candidates, CandidatesTask, SearchTarget, SearchTask } from '../types.js';
import { candidateOf } from './candidate.js';
import { countDistinctHits } from './distinct-count.js';
import {
  countOfLists,
  facetAnswer,
  joinedFacets,
  requestWithoutOwnConditions,
  type CountedHits,
  type SearchedLists,
} from './facet-answer.js';
import { GroupRanking, type HitPlace } from './group-ranking.js';
import { HitWriter } from './hit-writer.js';
import { IndexedValues } from './indexed-values.js';
import { ListContexts, type ListContext } from './list-context.js';
import { ListSearcher, type ListSearch } from './list-search.js';
import type { RecordReader } from './record-reader.js';
import { rerankedPage } from './reranked-places.js';

/** Facet values that each list of a group reports, so that merged counts are exact. */
const GROUP_FACET_VALUES_MAX = 100_000;

export class SearchExecutor {
  private readonly searcher: ListSearcher;
  private readonly hits: HitWriter;
  private readonly indexed: IndexedValues;

  constructor(
    private readonly kernel: Kernel,
    private readonly records: RecordReader,
    private readonly contexts = new ListContexts(kernel),
  ) {
    this.searcher = new ListSearcher(kernel);
    this.hits = new HitWriter(kernel, records);
    this.indexed = new IndexedValues(kernel);
  }

  /**
   * Appends the response body to the writer and returns its total_count. Throws ServiceError for mistakes of the
   * caller.
   */
  execute(task: SearchTask, writer: ResponseWriter): number {
    const begin = performance.now();
    const lists = this.listsOf(task);
    const request = readSearchRequest(
      task.options,
      lists.map(({ settings }) => settings.definition),
    );
    const searches = this.searchLists(task, lists, request);
    const places = this.places(task, request, searches);
    // Without distinct hits, places are made one by one while hits are written.
    const listed = request.distinct === undefined ? [] : [...places];
    const counted = this.count({ request, searches }, listed);
    const { total: totalCount, sharing } = counted;

    const { subject, queryId } = task;
    const named = subject.kind === 'list' ? 'list_name' : 'group_name';
    const head = writer.length;
    writer.ascii(answerHead(queryId, formatTook(0)));
    writer.ascii(`,"${named}":`);
    writer.text(JSON.stringify(subject.name));
    writer.ascii(`,"version":${subject.version},"total_count":${totalCount},"results":[`);
    const listNames = task.targets.map(({ listName }) => listName);
    const shown = sharing === undefined ? places : listed.map((place, at) => ({ ...place, sharing: sharing[at] }));
    this.hits.write({ request, searches, listNames, places: shown }, writer);
    writer.ascii(']');
    if (request.facets.length > 0) this.writeFacets(counted, { ...task, searches }, writer);
    writer.ascii(',"applied":');
    writer.text(appliedJson(task, searches));
    writer.ascii('}');
    writer.replaceAscii(head, answerHead(queryId, formatTook(performance.now() - begin)));
    return totalCount;
  }

  /** Appends the best hits of the search as `Candidates`, and returns its total_count. */
  candidates(task: CandidatesTask, writer: ResponseWriter): number {
    const lists = this.listsOf(task);
    const options = { ...task.options, skip: 0, size: task.named, facets: [], facet_query: '', explain: false };
    const request = readSearchRequest(
      options,
      lists.map(({ settings }) => settings.definition),
    );
    const { subject, targets } = task;
    const searches = this.searchLists({ ...task, kind: 'search' }, lists, request);
    const places = [...this.places({ subject }, request, searches)];
    const hits = places.map(({ listIndex, hit }, place) => {
      const { list, result } = searches[listIndex] as ListSearch;
      return candidateOf(this.records.read(list, result.hits.recordNumber(hit)), {
        definition: list.settings.definition,
        listName: targets[listIndex]?.listName,
        isRead: place < task.textsMax,
      });
    });
    writer.text(JSON.stringify({ hits } satisfies Candidates));
    return this.count({ request, searches }, []).total;
  }

  private searchLists(task: SearchTask, lists: readonly ListContext[], request: SearchRequest): ListSearch[] {
    const fromFirst = request.size === 0 ? 0 : Math.max(request.skip + request.size, task.reranked?.order?.length ?? 0);
    const facetValues = task.subject.kind === 'list' ? request.options.facet_size : GROUP_FACET_VALUES_MAX;
    const window =
      task.subject.kind === 'list' && !isReordered(task)
        ? { skip: request.skip, size: request.size, facetValues }
        : // A page of a group may come entirely from one list, starting with its first hit.
          { skip: 0, size: fromFirst, facetValues };
    return lists.map((list, index) => {
      this.kernel.stopIfAsked();
      const target = task.targets[index] as SearchTarget;
      return this.searcher.search(list, target.generation, { request, listIndex: index, window, target });
    });
  }

  /** Returns the hits of the answer in order. */
  private places(
    { subject, reranked }: Pick<SearchTask, 'subject' | 'reranked'>,
    request: SearchRequest,
    searches: readonly ListSearch[],
  ): Iterable<HitPlace> {
    const { skip, size } = request;
    const ranking = new GroupRanking(
      request,
      searches,
      { records: this.records, indexed: this.indexed },
      this.stopIfAsked,
    );
    const hits = () => allHits(0, searches[0]?.result.hits.count ?? 0);
    if (reranked === undefined || !isReordered({ reranked })) {
      return subject.kind === 'list' ? hits() : ranking.page(skip, size);
    }
    const wanted = Math.max(skip + size, reranked.order?.length ?? 0);
    return rerankedPage(subject.kind === 'list' ? [...hits()] : ranking.page(0, wanted), reranked, request);
  }

  private count(searched: SearchedLists, places: readonly HitPlace[]): CountedHits {
    if (searched.request.distinct === undefined) return countOfLists(searched);
    return countDistinctHits(this.kernel, searched, places);
  }

  private writeFacets(counted: CountedHits, task: SearchedTask, writer: ResponseWriter): void {
    const { request } = counted;
    const all = [counted, ...this.countedAlone(request, task)];
    const answers = all.map((each) => facetAnswer(each, task.subject.kind === 'list', this.stopIfAsked));
    const { facets, ranges } = joinedFacets(answers, request.facets);
    writer.ascii(',"facets":');
    writer.text(facets);
    if (ranges === undefined) return;
    writer.ascii(',"facet_ranges":');
    writer.text(ranges);
  }

  /** Counts each facet that has conditions of its own without them, by a separate search that writes no hits. */
  private countedAlone(request: SearchRequest, { searches, ...task }: SearchedTask): CountedHits[] {
    if (!request.options.disjunctive_facets) return [];
    return request.facets.flatMap((facet) => {
      const alone = requestWithoutOwnConditions(request, facet);
      if (alone === undefined) return [];
      const lists = searches.map(({ list }) => list);
      return [this.count({ request: alone, searches: this.searchLists(task, lists, alone) }, [])];
    });
  }

  /**
   * Returns the contexts of the lists. Compiling the rules of many lists may take a while, so checks in between whether
   * the search has to stop.
   */
  private listsOf({
    targets,
    extraSynonymRule: rule,
  }: Pick<SearchTask, 'targets' | 'extraSynonymRule'>): ListContext[] {
    return targets.map(({ generation }, place) => {
      if (place > 0) this.kernel.stopIfAsked();
      return rule === undefined ? this.contexts.get(generation) : this.contexts.withSynonymRule(generation, rule);
    });
  }

  private readonly stopIfAsked = () => {
    this.kernel.stopIfAsked();
  };
}

/** A task with its searches, one per list. */
interface SearchedTask extends SearchTask {
  readonly searches: readonly ListSearch[];
}

function isReordered({ reranked }: Pick<SearchTask, 'reranked'>): boolean {
  return reranked !== undefined && reranked.order !== null;
}

function* allHits(listIndex: number, count: number): Generator<HitPlace> {
  for (let hit = 0; hit < count; ++hit) yield { listIndex, hit };
}
