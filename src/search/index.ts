/**
 * Search: options and filter language → plan → evaluation → response bytes. All but the types runs in search workers.
 */
export * from './types.js';
export { parseFilter, parseFilters } from './filter/filter-resolver.js';
export type { FilterNode, FilterValue } from './filter/filter-nodes.js';
export { costKey, isNarrowedToFields, optionsKey, readOptions } from './options/option-values.js';
export { SEARCH_OPTIONS, type OptionSchema, type SearchOption } from './options/search-options.js';
export { filterPlan } from './delete-plan.js';
export { SearchExecutor } from './execution/search-executor.js';
export { StoreRecordReader, type RecordReader } from './execution/record-reader.js';
export {
  QUERY_RULES_MAX,
  RULE_FILTER_CHARACTERS_MAX,
  RULE_NAME_CHARACTERS_MAX,
  RULE_INSTRUCTIONS_MAX,
  RULE_PATTERN_CHARACTERS_MAX,
  RULE_TEXT_CHARACTERS_MAX,
  type QueryRule,
} from './rules/query-rule.js';
export { applyQueryRules, compileQueryRules, usableQueryRules } from './rules/query-rules.js';
export { LongAnswerError, ResponseWriter } from './response/response-writer.js';
export { ListContexts } from './execution/list-context.js';
export { RelatedExecutor } from './related/related-executor.js';
export {
  EarlierSearches,
  type EarlierClick,
  type EarlierQuery,
  type EarlierSearchesOf,
  type FoldQuery,
} from './earlier/earlier-searches.js';
export { RecordLister } from './execution/record-lister.js';
export { foldedQuery } from './suggest/query-words.js';
export { SuggestExecutor } from './suggest/suggest-executor.js';
export { ANSWER_HEAD_BYTES, answerHead, formatTook } from './response/answer-head.js';
