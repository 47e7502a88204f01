/**
 * Finds records related to one: first those that people clicked for the same searches, then those found by its
 * significant terms and, if the list has vectors, by nearness to its vector. Belongs to one thread.
 */
import type { GenerationHandle, Kernel, MeaningSearch } from '../../../native-bindings/index.js';
import {
  parseResult,
  QueryPlanWriter,
  type PlanFilter,
  type QueryPlan,
  type QueryResult,
} from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import {
  DamagedRecord,
  decodeRecord,
  parseFields,
  type FieldValue,
  type RecordStoreCache,
  type StoredRecord,
  unknownName,
} from '../../records/index.js';
import type { EarlierSearchesOf } from '../earlier/earlier-searches.js';
import type { ListContext, ListContexts } from '../execution/list-context.js';
import type { RecordReader } from '../execution/record-reader.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { readSearchRequest, type SearchRequest } from '../options/search-request.js';
import { encodePlan } from '../plan/plan-encoder.js';
import { nearTo } from '../plan/meaning-plan.js';
import { planSearch } from '../plan/planner.js';
import type { ResponseWriter } from '../response/response-writer.js';
import { writeDamaged, writeResult } from '../response/result-writer.js';
import type { RelatedTask } from '../types.js';
import { significantTerms, type SignificantTerm } from './significant-terms.js';

/** More terms cost time and add what the record merely mentions. */
const TERMS_MAX = 25;
/** Characters read of each field: the beginning of a long text says what it is about. */
const TEXT_CHARACTERS_MAX = 100_000;

/** Records put first because of clicks. */
const CLICKED_TOGETHER_MAX = 10;

interface RelatedQuery {
  readonly request: SearchRequest;
  readonly terms: readonly SignificantTerm[];
  /** Search by the record's vector. Undefined if it has none. */
  readonly meaning: MeaningSearch | undefined;
  /** Matches all records but the record itself. */
  readonly others: PlanFilter;
}

interface ClickedHit {
  readonly number: number;
  /** Similarity of its text, 0 to 1. */
  readonly score: number;
}

/** Parts that belong to a thread, and the source of earlier searches. */
interface RelatedParts {
  readonly kernel: Kernel;
  readonly contexts: ListContexts;
  readonly stores: RecordStoreCache;
  readonly records: RecordReader;
  readonly earlierSearchesOf: EarlierSearchesOf;
}

export class RelatedExecutor {
  private readonly planWriter = new QueryPlanWriter();

  private readonly kernel: Kernel;
  private readonly contexts: ListContexts;
  private readonly stores: RecordStoreCache;
  private readonly records: RecordReader;
  private readonly earlierSearchesOf: EarlierSearchesOf;

  constructor({ kernel, contexts, stores, records, earlierSearchesOf }: RelatedParts) {
    this.kernel = kernel;
    this.contexts = contexts;
    this.stores = stores;
    this.records = records;
    this.earlierSearchesOf = earlierSearchesOf;
  }

  /** Appends the response body and returns its total_count. Throws `record-not-found`. */
  execute(task: RelatedTask, writer: ResponseWriter): number {
    const begin = performance.now();
    const { generation } = task.target;
    const list = this.contexts.get(generation);
    const request = readSearchRequest({ ...task.options, highlight: false }, [list.settings.definition]);
    const { record, number } = this.find(list, task.recordName);
    const terms = this.terms(list, generation, record);
    const near = this.near(list, generation, number);
    // A record without significant terms is compared by its vector alone.
    const meaning = near && terms.length === 0 ? { ...near, weight: 1 } : near;
    const others: PlanFilter = not([number]);
    const query = { request, terms, meaning, others };
    const clicked = this.clickedTogether(task, list, query);
    const shown = clicked.slice(request.skip, request.skip + request.size);
    const rest = {
      ...request,
      skip: Math.max(0, request.skip - clicked.length),
      size: request.size - shown.length,
    };
    const filter = allOf([others, not(clicked.map((hit) => hit.number))]);
    const result = this.search(generation, this.plan(list, { ...query, request: rest }, filter), meaning);
    const total = clicked.length + result.total;

    writer.ascii('{"list_name":');
    writer.text(JSON.stringify(task.subject.list));
    writer.ascii(`,"version":${task.subject.version},"total_count":${total},"results":[`);
    const { hits } = result;
    this.writeHits(list, request, writer, [
      ...shown,
      ...Array.from({ length: hits.count }, (_, hit) => ({ number: hits.recordNumber(hit), score: hits.score(hit) })),
    ]);
    writer.ascii(`],"took_ms":${(performance.now() - begin).toFixed(3)}}`);
    return total;
  }

  /** Returns records that people clicked for the same searches, closest first, that match the filter. */
  private clickedTogether(task: RelatedTask, list: ListContext, query: RelatedQuery): ClickedHit[] {
    const names = this.earlierSearchesOf(task.listId)?.clickedTogether(task.recordName, CLICKED_TOGETHER_MAX) ?? [];
    const store = this.stores.get(list.settings.listPath).version(list.settings.version);
    const known = names.flatMap((name) => store.recordNumberOfName(name) ?? []);
    if (known.length === 0) return [];
    const { generation } = task.target;
    const { others, meaning } = query;
    const window = { ...query, request: { ...query.request, skip: 0, size: known.length } };
    const filter = allOf([others, { op: 'record', numbers: known }]);
    const all = { ...window, terms: 'everything', meaning: undefined } as const;
    const kept = new Set(scoresOf(this.search(generation, this.plan(list, all, filter))).keys());
    const scores = scoresOf(this.search(generation, this.plan(list, window, filter), meaning));
    return known.filter((number) => kept.has(number)).map((number) => ({ number, score: scores.get(number) ?? 0 }));
  }

  private search(generation: GenerationHandle, plan: QueryPlan, meaning?: MeaningSearch): QueryResult {
    return parseResult(this.kernel.search(generation, this.planWriter.write(plan), meaning));
  }

  private near({ settings }: ListContext, generation: GenerationHandle, number: number): MeaningSearch | undefined {
    if (settings.meaning === undefined) return undefined;
    const vector = this.kernel.recordVectors(generation, Uint32Array.of(number));
    return vector.some((value) => value !== 0) ? nearTo(vector, settings.meaning) : undefined;
  }

  private writeHits(
    list: ListContext,
    request: SearchRequest,
    writer: ResponseWriter,
    hits: readonly { readonly number: number; readonly score: number }[],
  ): void {
    const select = request.options.select === undefined ? undefined : new Set(request.options.select);
    let written = 0;
    for (const { number, score } of hits) {
      this.kernel.stopIfAsked();
      const parts = this.records.readOrDamage(list, number);
      if (parts === undefined) continue;
      if (written > 0) writer.ascii(',');
      written += 1;
      if (parts instanceof DamagedRecord) {
        writeDamaged(writer, parts, {});
        continue;
      }
      writeResult(writer, parts, {
        textScore: score,
        distance: undefined,
        location: undefined,
        highlights: undefined,
        listName: undefined,
        explainJson: undefined,
        select,
        fieldsBytesMax: undefined,
      });
    }
  }

  private find({ settings }: ListContext, name: string): { readonly record: StoredRecord; readonly number: number } {
    const store = this.stores.get(settings.listPath).version(settings.version);
    const number = store.recordNumberOfName(name);
    const bytes = number === undefined ? undefined : store.record(number);
    if (number !== undefined && bytes !== undefined) return { record: decodeRecord(bytes), number };
    throw unknownName(store, name, `The list '${settings.list}' has no record of this name`);
  }

  private plan(
    list: ListContext,
    {
      request,
      terms,
      meaning,
    }: Pick<RelatedQuery, 'request' | 'meaning'> & {
      readonly terms: readonly SignificantTerm[] | 'everything';
    },
    only: PlanFilter,
  ): QueryPlan {
    const window = { skip: request.skip, size: request.size, facetValues: 0 };
    const filter = request.filters[0] ?? FILTER_ALL;
    // A record without significant terms is related only to what is near its vector.
    const kind = terms.length > 0 ? 'everything' : meaning === undefined ? 'nothing' : 'meaning';
    const plan = encodePlan(planSearch(request, { query: { kind }, filter }, window), list.layout);
    return {
      ...plan,
      storageOrder: false,
      groups:
        terms === 'everything' || terms.length === 0
          ? plan.groups
          : terms.map(({ term, weight }) => ({
              occur: 'should',
              boost: weight,
              alternatives: [{ weight: 1, terms: [term] }],
            })),
      filter: allOf([plan.filter, only]),
    };
  }

  private terms({ settings }: ListContext, generation: GenerationHandle, record: StoredRecord) {
    const frequencies = new Map<string, number>();
    const fields = parseFields(record.fieldsJson);
    for (const { name, weight } of settings.definition.searchable_fields) {
      const text = textOf(name === 'name' ? record.name : fields[name]).slice(0, TEXT_CHARACTERS_MAX);
      if (text === '') continue;
      for (const { term } of this.kernel.analyse(segmentForKernel(text))) {
        frequencies.set(term, (frequencies.get(term) ?? 0) + Math.max(1, weight));
      }
    }
    const documentFrequencies = this.kernel.documentFrequencies(generation, [...frequencies.keys()]);
    const { documentCount } = this.kernel.generationInfo(generation);
    return significantTerms(frequencies, documentFrequencies, documentCount, TERMS_MAX);
  }
}

function not(numbers: readonly number[]): PlanFilter {
  return { op: 'not', node: { op: 'record', numbers } };
}

function allOf(nodes: readonly PlanFilter[]): PlanFilter {
  return { op: 'and', nodes };
}

function scoresOf({ hits }: QueryResult): Map<number, number> {
  return new Map(Array.from({ length: hits.count }, (_, hit) => [hits.recordNumber(hit), hits.score(hit)]));
}

function textOf(value: FieldValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return (value as readonly unknown[]).map(String).join('\n');
  return typeof value === 'object' ? '' : String(value);
}
