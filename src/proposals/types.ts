/** Proposals of synonym rules, and what they stand on. */
import type { SynonymRule } from '../synonyms/index.js';

/** What a proposal stands on: never a word of a model, but what is counted in the list itself. */
export interface Basis {
  /** `empty-search`: a search that found nothing; `abbreviation`: one that stands in the records with its long form. */
  readonly kind: 'empty-search' | 'abbreviation';
  /** The search text, or the abbreviation. */
  readonly text: string;
  /** How often it was searched for in the last days, or in how many records it is spelt out. */
  readonly count: number;
}

export interface Proposal {
  readonly rule: SynonymRule;
  readonly basis: Basis;
}

export interface SearchedTerm {
  readonly term: string;
  readonly count: number;
}

export interface Abbreviation {
  readonly abbreviation: string;
  readonly sense: string;
  readonly record_count: number;
}

/** What a list knows of the words that people miss. */
export interface Evidence {
  readonly language: string;
  /** Searches that found nothing, most frequent first. */
  readonly empty: readonly SearchedTerm[];
  /** Searches that found something, most frequent first. */
  readonly successful: readonly SearchedTerm[];
  /** One a sense, most frequent first. */
  readonly abbreviations: readonly Abbreviation[];
  readonly rules: readonly SynonymRule[];
}

/** The folded words of a text, by which two texts are the same. */
export type Words = (text: string) => readonly string[];
