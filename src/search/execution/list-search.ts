/** Searches one list: applies the list's rules and expansions to the query, and has the kernel evaluate the plan. */
import {
  kernelConstant,
  type GenerationHandle,
  type Kernel,
  type PartsSearch,
} from '../../../native-bindings/index.js';
import { parseResult, QueryPlanWriter, type QueryResult } from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { ServiceError } from '../../platform/index.js';
import { Dictionaries, type Dictionary } from '../expansion/dictionary.js';
import { queryWords, type QueryWord } from '../expansion/query-words.js';
import { allOf, type FilterNode } from '../filter/filter-nodes.js';
import type { SearchRequest } from '../options/search-request.js';
import { encodePlan, searchedFields } from '../plan/plan-encoder.js';
import type { QueryNode } from '../plan/plan-nodes.js';
import { cosineScale } from '../../vectors/calibration.js';
import { feedbackVector, textAndFeedbackVector } from '../plan/feedback-vector.js';
import { planMeaning, type PlannedMeaning, type QueryMeaning } from '../plan/meaning-plan.js';
import { encodePagesPlan, PAGES, pagesSearch, type PlannedPages } from '../plan/pages-plan.js';
import { planPictures, type PlannedPictures } from '../plan/picture-plan.js';
import { VectorsPerRecord } from '../plan/vectors-per-record.js';
import { planSearch, unroundedFloor, withoutFloor, type PlanWindow } from '../plan/planner.js';
import { analyseQuery, type AnalysedQuery, type QueryVocabulary } from '../expansion/query-analysis.js';
import { applyQueryRules } from '../rules/query-rules.js';
import type { SearchMeaning, SearchTarget } from '../types.js';
import type { ListContext } from './list-context.js';

const HITS_MAX = kernelConstant('HitsMax');
const GROUPS_MAX = kernelConstant('GroupsMax');

const BY_MEANING: QueryNode = Object.freeze({ kind: 'meaning' });
const NOTHING: QueryNode = Object.freeze({ kind: 'nothing' });

/** What a list's rules and dictionary did to the query. */
export interface Applied extends Pick<AnalysedQuery, 'synonyms' | 'typos'> {
  /** Names of the rules. */
  readonly queryRules: readonly string[];
}

export interface ListSearch {
  readonly list: ListContext;
  readonly generation: GenerationHandle;
  readonly query: QueryNode;
  readonly applied: Applied;
  /** Of `SearchPlan`. */
  readonly facetWords: readonly string[];
  /** Encoded plan, as the kernel received it. */
  readonly plan: Uint8Array;
  /** Undefined if only words were searched for. */
  readonly meaning: PlannedMeaning | undefined;
  /** Undefined if the list has no pages. */
  readonly pages: PlannedPages | undefined;
  /** Undefined if no pictures were searched besides words. */
  readonly pictures: PlannedPictures | undefined;
  /** True if the search was for pictures near a picture: the scores are those of pictures. */
  readonly isOfPictures: boolean;
  readonly result: QueryResult;
}

interface PlannedSearch {
  readonly query: QueryNode;
  readonly applied: Applied;
  readonly facetWords: readonly string[];
  readonly bytes: Uint8Array;
  readonly meaning: PlannedMeaning | undefined;
  readonly pages: PlannedPages | undefined;
  readonly pictures: PlannedPictures | undefined;
}

/** Search of several lists, as one of them sees it. */
export interface AskedOfList {
  readonly request: SearchRequest;
  /** Index of this list among the lists, which selects its filter. */
  readonly listIndex: number;
  readonly window: PlanWindow;
  /** Vectors of the search for this list and for its pictures. */
  readonly target: Pick<SearchTarget, 'meaning' | 'isOfVector' | 'pictures'>;
}

export class ListSearcher {
  private readonly planWriter = new QueryPlanWriter();

  private readonly pagesPlanWriter = new QueryPlanWriter();
  private lastWords: { readonly text: string; readonly words: readonly QueryWord[] } | undefined;
  /** Never stale: handles are not reused, and generations are immutable. */
  private lastPages: { readonly generation: GenerationHandle; readonly part: GenerationHandle | undefined } | undefined;
  private readonly vectorsPerRecord: VectorsPerRecord;
  private readonly dictionaries: Dictionaries;
  private readonly dictionariesOfPages: Dictionaries;

  constructor(private readonly kernel: Kernel) {
    this.vectorsPerRecord = new VectorsPerRecord(kernel);
    this.dictionaries = Dictionaries.ofThread(kernel);
    this.dictionariesOfPages = new Dictionaries(kernel);
  }

  search(list: ListContext, generation: GenerationHandle, asked: AskedOfList): ListSearch {
    const { query, applied, facetWords, bytes, meaning, pages, pictures } = this.plan(list, generation, asked);
    const parts = partsOf(asked.request, pages, pictures);
    const result = parseResult(this.kernel.search(generation, bytes, meaning, parts));
    // The plan is copied: its buffer is reused by the next list's plan, and words are marked after all lists were
    // searched.
    const isOfPictures = asked.target.meaning?.ofPictures === true;
    const plan = Buffer.from(bytes);
    return { list, generation, query, applied, facetWords, meaning, plan, pages, pictures, isOfPictures, result };
  }

  /** Plans the search. `bytes` is valid until the next plan. */
  plan(list: ListContext, generation: GenerationHandle, asked: AskedOfList): PlannedSearch {
    const { request, listIndex, window, target } = asked;
    const ruled = applyQueryRules(list.queryRules, request.query);
    const analysed = this.analyse(ruled.query, request, this.vocabulary(list, this.dictionaries.of(generation)));
    const node = inFields(analysed.node, request, list);
    const filter = allOf([request.filters[listIndex] as FilterNode, ruled.filter]);
    const meaning = target.meaning && this.planMeaning(target.meaning, node, request, { list, generation });
    const query = meaning === undefined ? withoutMeaning(node, asked) : node.kind === 'groups' ? node : BY_MEANING;
    const inPages =
      node.kind === 'groups' ? this.analyseForPages(ruled.query, request, { list, generation }) : undefined;
    const ofWords = planSearch(request, { query, filter }, this.reachable(generation, window), this.wordsOf);
    const pictures = node.kind === 'groups' ? planPictures(request, target.pictures) : undefined;
    const plan = inPages === undefined && pictures === undefined ? ofWords : withoutFloor(ofWords);
    const bytes = this.planWriter.write(encodePlan(plan, list.layout));
    const { synonyms } = analysed;
    const typos = inPages === undefined ? analysed.typos : unitedTypos(analysed.typos, inPages.typos);
    const pages = inPages && this.planPages(inPages.node, request, { list, hasMeaning: meaning !== undefined });
    const applied = { queryRules: ruled.applied, synonyms, typos };
    return { query, applied, facetWords: ofWords.facetWords, bytes, meaning, pages, pictures };
  }

  private planMeaning(
    given: SearchMeaning,
    node: QueryNode,
    request: SearchRequest,
    { list, generation }: { readonly list: ListContext; readonly generation: GenerationHandle },
  ): PlannedMeaning | undefined {
    const vectorsPerRecord = () => this.vectorsPerRecord.of(generation);
    const meant = this.meant(given, node, list, generation);
    return planMeaning(request, node, { ...list.settings, vectorsPerRecord }, meant);
  }

  /**
   * Returns the vector to search for: the one given, that of the records which the words find, or a combination of
   * both.
   */
  private meant(
    given: SearchMeaning,
    query: QueryNode,
    list: ListContext,
    generation: GenerationHandle,
  ): QueryMeaning | undefined {
    const { modelVersion, vector, ofPictures, isOfText } = given;
    const { meaning } = list.settings;
    const searched = { kernel: this.kernel, writer: this.planWriter, layout: list.layout, generation };
    if (vector === undefined) {
      if (meaning?.modelVersion !== modelVersion) return undefined;
      const found = feedbackVector(searched, query);
      return found && { modelVersion, ...found };
    }
    const joined =
      isOfText === true && meaning?.modelVersion === modelVersion
        ? textAndFeedbackVector(searched, query, { vector, ...cosineScale(meaning.calibration) })
        : undefined;
    return { modelVersion, vector, ...(ofPictures === undefined ? {} : { ofPictures }), ...joined };
  }

  private analyse(query: string, request: SearchRequest, vocabulary: QueryVocabulary): AnalysedQuery {
    const { match, typo_tolerance: typoTolerance, prefix } = request.options;
    return analyseQuery(query, vocabulary, { match, typoTolerance, prefix, wordsMax: GROUPS_MAX });
  }

  /** Analyses the query with the vocabulary of the pages. Undefined if the list has no pages. */
  private analyseForPages(
    query: string,
    request: SearchRequest,
    { list, generation }: { readonly list: ListContext; readonly generation: GenerationHandle },
  ): AnalysedQuery | undefined {
    if (!list.hasPages || request.searchFields !== undefined) return undefined;
    const part = this.pagesOf(generation);
    if (part === undefined) return undefined;
    return this.analyse(query, request, this.vocabulary(list, this.dictionariesOfPages.of(part)));
  }

  /** Returns the generation of pages. Caches the last one, which is nearly always the next one too. */
  private pagesOf(generation: GenerationHandle): GenerationHandle | undefined {
    if (this.lastPages?.generation !== generation) {
      const part = this.kernel.generationParts(generation).find(({ name }) => name === PAGES);
      this.lastPages = { generation, part: part?.generation };
    }
    return this.lastPages.part;
  }

  private planPages(
    query: QueryNode,
    request: SearchRequest,
    { list, hasMeaning }: { readonly list: ListContext; readonly hasMeaning: boolean },
  ): PlannedPages | undefined {
    if (query.kind !== 'groups') return undefined;
    const plans = list.pageKinds.map(({ kind, filter }) => {
      // The plan is copied: words are marked after all lists were planned.
      const plan = Buffer.from(this.pagesPlanWriter.write(encodePagesPlan(query, request, filter)));
      return { kind, plan };
    });
    const [first] = plans;
    return first && { query, plan: first.plan, search: pagesSearch(plans, request, hasMeaning) };
  }

  private vocabulary({ synonyms, functionWords, settings }: ListContext, dictionary: Dictionary): QueryVocabulary {
    return { words: this.words, dictionary, synonyms, functionWords, language: settings.language };
  }

  /** As the kernel finds them in values, which nobody has segmented. */
  private readonly wordsOf = (text: string): readonly string[] =>
    this.kernel.analyse(text).flatMap(({ term }) => (term === '' ? [] : [term]));

  /** Returns the words of a text. Caches the last text: a list with pages asks for it twice. */
  private readonly words = (text: string): readonly QueryWord[] => {
    if (this.lastWords?.text !== text) {
      const segmented = segmentForKernel(text);
      this.lastWords = { text, words: queryWords(segmented, this.kernel.analyse(segmented)) };
    }
    return this.lastWords.words;
  };

  /**
   * Limits the window to what the kernel can rank (HITS_MAX). A skip behind the last record is allowed and finds
   * nothing. Throws `unprocessable` if skip and size reach beyond HITS_MAX.
   */
  private reachable(generation: GenerationHandle, window: PlanWindow): PlanWindow {
    if (window.skip + window.size <= HITS_MAX) return window;
    if (window.skip >= this.kernel.generationInfo(generation).liveCount) return { ...window, skip: 0, size: 0 };
    const detail = `skip and size together reach beyond ${HITS_MAX} results; narrow the search with a filter`;
    throw new ServiceError('unprocessable', `${detail}.`, { errors: [{ parameter: 'skip', detail }] });
  }
}

/** In a list of a group that has none of the fields, no word is found. */
function inFields(node: QueryNode, { searchFields }: SearchRequest, { layout }: ListContext): QueryNode {
  return node.kind === 'groups' && searchedFields(searchFields, layout).length === 0 ? NOTHING : node;
}

/**
 * A query without text but with a vector finds what is near the vector, not everything. A list without comparable
 * vectors then finds nothing.
 */
function withoutMeaning(node: QueryNode, { request, target }: AskedOfList): QueryNode {
  return target.isOfVector === true && request.query === '' ? NOTHING : node;
}

/**
 * Returns what is searched besides the fields' text. Undefined if nothing is; the text's floor is then part of the
 * plan.
 */
function partsOf(
  request: SearchRequest,
  pages: PlannedPages | undefined,
  pictures: PlannedPictures | undefined,
): PartsSearch | undefined {
  if (pages === undefined && pictures === undefined) return undefined;
  return {
    textFloor: unroundedFloor(request.options.minimum_text_score),
    parts: pages?.search ?? [],
    ...(pictures === undefined ? {} : { pictures }),
  };
}

/** Merges the typo corrections found in fields and in pages. */
function unitedTypos(fields: AnalysedQuery['typos'], pages: AnalysedQuery['typos']): AnalysedQuery['typos'] {
  if (pages.length === 0) return fields;
  if (fields.length === 0) return pages;
  const terms = new Map<string, Set<string>>();
  for (const typo of [...fields, ...pages])
    terms.set(typo.word, new Set([...(terms.get(typo.word) ?? []), ...typo.terms]));
  return Array.from(terms, ([word, found]) => ({ word, terms: [...found] }));
}
