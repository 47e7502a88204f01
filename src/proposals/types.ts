/** Types of proposals of synonym rules, and of the evidence for them. */
import type { SynonymRule } from '../synonyms/index.js';

/** Basis of a proposal: always something counted in the list, never a word of a model. */
export interface Basis {
  /** `empty-search`: a search without results. `abbreviation`: one that is in the records with its long form. */
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
  /** Searches without results, most frequent first. */
  readonly empty: readonly SearchedTerm[];
  /** Searches with results, most frequent first. */
  readonly successful: readonly SearchedTerm[];
  /** One per sense, most frequent first. */
  readonly abbreviations: readonly Abbreviation[];
  readonly rules: readonly SynonymRule[];
}

/** Returns the folded words of a text. Texts with equal words are the same. */
export type Words = (text: string) => readonly string[];
