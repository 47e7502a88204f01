/** Records like one: a search for the terms that set it apart. Belongs to one thread. */
import type { GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { parseResult, QueryPlanWriter, type PlanFilter, type QueryPlan } from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { CREATED_COLUMN, NAME_COLUMN } from '../../index/index.js';
import { foldFacetValue, ServiceError } from '../../platform/index.js';
import {
  decodeRecord,
  parseFields,
  type FieldValue,
  type RecordStoreCache,
  type StoredRecord,
} from '../../records/index.js';
import type { ListContext, ListContexts } from '../execution/list-context.js';
import type { RecordReader } from '../execution/record-reader.js';
import { FILTER_ALL } from '../filter/filter-nodes.js';
import { readSearchRequest, type SearchRequest } from '../options/search-request.js';
import { encodePlan } from '../plan/plan-encoder.js';
import { planSearch } from '../plan/planner.js';
import type { ResponseWriter } from '../response/response-writer.js';
import { writeResult } from '../response/result-writer.js';
import type { RelatedTask } from '../types.js';
import { significantTerms } from './significant-terms.js';

/** More cost time and bring in what the record only mentions. */
const TERMS_MAX = 25;
/** Of a long record's text, the beginning says what it is about. */
const TEXT_CHARACTERS_MAX = 100_000;

export class RelatedExecutor {
  private readonly planWriter = new QueryPlanWriter();

  constructor(
    private readonly kernel: Kernel,
    private readonly contexts: ListContexts,
    private readonly stores: RecordStoreCache,
    private readonly records: RecordReader,
  ) {}

  /** Appends the response body and returns its total_count. Throws `record-not-found`. */
  execute(task: RelatedTask, writer: ResponseWriter): number {
    const begin = performance.now();
    const { generation } = task.target;
    const list = this.contexts.get(generation);
    const request = readSearchRequest({ ...task.options, highlight: false }, [list.settings.definition]);
    const record = this.find(list, task.recordName);
    const result = parseResult(
      this.kernel.search(generation, this.planWriter.write(this.plan(list, generation, request, record))),
    );

    writer.ascii('{"list_name":');
    writer.text(JSON.stringify(task.subject.list));
    writer.ascii(`,"version":${task.subject.version},"total_count":${result.total},"results":[`);
    const select = request.select === undefined ? undefined : new Set(request.select);
    let written = 0;
    for (let hit = 0; hit < result.hits.count; ++hit) {
      const parts = this.records.read(list, result.hits.recordNumber(hit));
      if (parts === undefined) continue;
      if (written > 0) writer.ascii(',');
      written += 1;
      writeResult(writer, parts, {
        score: result.hits.score(hit),
        distance: undefined,
        location: undefined,
        highlightsJson: undefined,
        listName: undefined,
        explainJson: undefined,
        select,
      });
    }
    writer.ascii(`],"took_ms":${(performance.now() - begin).toFixed(3)}}`);
    return result.total;
  }

  private find({ settings }: ListContext, name: string): StoredRecord {
    const store = this.stores.get(settings.listPath).version(settings.version);
    const recordNumber = store.recordNumberOfName(name);
    const bytes = recordNumber === undefined ? undefined : store.record(recordNumber);
    if (bytes !== undefined) return decodeRecord(bytes);
    throw new ServiceError('record-not-found', `The list '${settings.list}' has no record of this name.`);
  }

  private plan(
    list: ListContext,
    generation: GenerationHandle,
    request: SearchRequest,
    record: StoredRecord,
  ): QueryPlan {
    const terms = this.terms(list, generation, record);
    const window = { skip: request.skip, size: request.size, facetValues: 0 };
    const filter = request.filters[0] ?? FILTER_ALL;
    // A record without a significant term is like no other.
    const plan = encodePlan(
      planSearch(request, { kind: terms.length === 0 ? 'nothing' : 'everything' }, filter, window),
      list.layout,
    );
    return {
      ...plan,
      storageOrder: false,
      groups: terms.map(({ term, weight }) => ({
        occur: 'should',
        boost: weight,
        alternatives: [{ weight: 1, terms: [term] }],
      })),
      filter: { op: 'and', nodes: [plan.filter, notTheRecord(list, record)] },
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

/** Columns compare names without their case; the time tells most of the records apart that differ in nothing else. */
function notTheRecord({ layout }: ListContext, record: StoredRecord): PlanFilter {
  const [name, created] = [layout.column(NAME_COLUMN), layout.column(CREATED_COLUMN)];
  if (name === undefined || created === undefined) throw new Error('a layout has no column of names');
  return {
    op: 'not',
    node: {
      op: 'and',
      nodes: [
        { op: 'equal', column: name, value: foldFacetValue(record.name) },
        { op: 'equal', column: created, value: record.createdMs },
      ],
    },
  };
}

function textOf(value: FieldValue | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return (value as readonly unknown[]).map(String).join('\n');
  return typeof value === 'object' ? '' : String(value);
}
