/** Synonym rules: what one may be, and which ones the records of a list suggest. */
export * from './synonym-rules.js';
export { findDefinitions, type Definition } from './abbreviations.js';
export type { SynonymCandidate } from './candidate-collector.js';
export { CandidateFinder, type CandidateFinderOptions } from './candidate-finder.js';
export { SynonymMatcher, type SynonymMatch, type SynonymRule } from './synonym-matcher.js';
