/** Searches one list as a worker of the service does, in this thread and without the rest of the service. */
import { DamagedRecord } from '#src/records/index.js';
import { readSearchRequest } from '#src/search/options/search-request.js';
import { highlightRecords } from '#src/search/response/highlighting.js';
import { RecordPage } from '#src/search/response/record-page.js';

/**
 * @import { GenerationHandle } from '#native-bindings/index.js'
 * @import { ResultHits } from '#native-bindings/query-result.js'
 * @import { RecordParts } from '#src/records/index.js'
 * @import { FieldDefinition } from '#src/catalog/types.js'
 * @import { SearchSettings } from '#src/index/index.js'
 * @import { ListContexts, SearchOptions, SearchTask, StoreRecordReader } from '#src/search/index.js'
 * @import { ListSearcher } from '#src/search/execution/list-search.js'
 */

/** @type {SearchSettings} */
export const SETTINGS = { account: 'bench', list: 'bench', language: 'en', synonym_rules: [], query_rules: [] };

/**
 * Returns the fields of a list without files and locations.
 * @param {Pick<FieldDefinition, 'searchable_fields' | 'facets'>} fields
 * @returns {FieldDefinition}
 */
export const definitionOf = (fields, language = 'en') => ({
  resources: [],
  location_field: null,
  inferred: 'no',
  language,
  ...fields,
});

/**
 * Returns the request to a search worker.
 * @param {GenerationHandle} generation
 * @param {SearchOptions} options
 * @returns {SearchTask}
 */
export const taskOf = (generation, options) => ({
  kind: 'search',
  targets: [{ generation }],
  subject: { kind: 'list', name: 'bench', version: 1 },
  options,
  queryId: 'bench',
});

/**
 * Returns the plan of a search by words. Its bytes are valid until the next plan.
 * @param {{ searcher: ListSearcher; contexts: ListContexts }} with
 * @param {GenerationHandle} generation
 * @param {SearchOptions} options
 */
export function planOf({ searcher, contexts }, generation, options) {
  const context = contexts.get(generation);
  const request = readSearchRequest(options, [context.settings.definition]);
  const window = { skip: request.skip, size: request.size, facetValues: request.options.facet_size };
  return searcher.plan(context, generation, { request, listIndex: 0, window, target: {} });
}

/**
 * @param {RecordParts | DamagedRecord} record
 * @returns {record is RecordParts}
 */
const isReadable = (record) => !(record instanceof DamagedRecord);

/** Reads the records of hits from the store and highlights words in them, as for an answer. */
export class HitRecords {
  #page = new RecordPage();
  #reader;
  #context;

  /**
   * @param {StoreRecordReader} reader
   * @param {ReturnType<ListContexts['get']>} context
   */
  constructor(reader, context) {
    this.#reader = reader;
    this.#context = context;
  }

  /**
   * The result is valid until the next call.
   * @param {ResultHits} hits no more than one page has room for
   */
  fetch(hits) {
    this.#page.clear();
    const words = this.#reader.wordsOf(this.#context);
    for (let hit = 0; hit < hits.count; ++hit) {
      const stored = this.#reader.stored(this.#context, hits.recordNumber(hit));
      if (stored !== undefined) this.#page.add(stored, words);
    }
    return this.#page.records().filter(isReadable);
  }

  /**
   * @param {Parameters<typeof highlightRecords>[0]} kernel
   * @param {Uint8Array} plan
   * @param {ReturnType<HitRecords['fetch']>} records
   */
  mark(kernel, plan, records) {
    return highlightRecords(kernel, { fieldNames: this.#context.layout.textFields, plan }, records);
  }
}
