/** Synonym rules: validation, matching, and candidates from a list's records. */
export * from './synonym-rules.js';
export { findDefinitions, type Definition } from './abbreviations.js';
export type { SynonymCandidate } from './candidate-collector.js';
export { CandidateFinder, type CandidateFinderOptions } from './candidate-finder.js';
export { ruleWord } from './rule-words.js';
export { SynonymMatcher, type SynonymMatch, type SynonymRule } from './synonym-matcher.js';
