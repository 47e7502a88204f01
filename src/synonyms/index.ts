/** Synonym rules: what one may be, and which ones the records of a list suggest. */
export * from './synonym-rules.js';
export { findDefinitions, type Definition } from './abbreviations.js';
export { CandidateCollector, CANDIDATES_MAX, type SenseCount, type SynonymCandidate } from './candidate-collector.js';
export { scanAbbreviations, type AbbreviationStep, type AbbreviationTask } from './abbreviation-scan.js';
