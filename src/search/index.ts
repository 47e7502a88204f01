/** Search: options and filter language → plan → evaluation → response bytes. Everything but types runs in search workers. */
export * from './types.js';
export { parseFilter, parseFilters } from './filter/filter-resolver.js';
export type { FilterNode, FilterValue } from './filter/filter-nodes.js';
export { filterPlan } from './delete-plan.js';
export { SearchExecutor } from './execution/search-executor.js';
export { StoreRecordReader, type RecordReader } from './execution/record-reader.js';
export { ResponseWriter } from './response/response-writer.js';
