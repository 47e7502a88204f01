/** Converts the matches of a list's synonym rules in a query into spans. */
import { ruleWord, type SynonymMatch, type SynonymMatcher } from '../../synonyms/index.js';
import { SYNONYM_WEIGHT, SYNONYMS_PER_SPAN_MAX } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import type { Span } from './spans.js';

/** Part of `applied.synonyms`. */
export interface AppliedSynonym {
  /** Folded words of the query, separated by blanks. */
  readonly word: string;
  /** Terms that were also searched for. */
  readonly terms: readonly string[];
  /** Indexes of the rules in `synonym_rules`, from 0. */
  readonly rules: readonly number[];
}

export interface SynonymSpans {
  readonly spans: readonly Span[];
  readonly applied: readonly AppliedSynonym[];
}

const NONE: SynonymSpans = Object.freeze({ spans: Object.freeze([]), applied: Object.freeze([]) });

/** Words are compared with their plus signs (`C++`) and without. */
export function synonymSpans(words: readonly QueryWord[], matcher: SynonymMatcher): SynonymSpans {
  const plain = spansOf(
    words.map(({ term }) => term),
    matcher,
  );
  const withPluses = words.map(ruleWord);
  if (words.every(({ term }, index) => withPluses[index] === term)) return plain;
  const { spans, applied } = spansOf(withPluses, matcher);
  const seen = new Set(applied.map(({ word }) => word));
  return {
    spans: [...spans, ...plain.spans],
    applied: [...applied, ...plain.applied.filter(({ word }) => !seen.has(word))],
  };
}

function spansOf(terms: readonly string[], matcher: SynonymMatcher): SynonymSpans {
  const matches = matcher.match(terms);
  if (matches.length === 0) return NONE;
  const applied = new Map<string, AppliedSynonym>();
  for (const match of matches) {
    const word = terms.slice(match.begin, match.end).join(' ');
    const expansions = kept(match).map((expansion) => expansion.join(' '));
    applied.set(word, { word, terms: expansions, rules: match.rules });
  }
  return { spans: matches.map(spanOf), applied: [...applied.values()] };
}

function spanOf(match: SynonymMatch): Span {
  const variants = kept(match).map((terms) => ({ kind: 'synonym', weight: SYNONYM_WEIGHT, terms }) as const);
  return { begin: match.begin, end: match.end, variants };
}

function kept(match: SynonymMatch): readonly (readonly string[])[] {
  return match.expansions.slice(0, SYNONYMS_PER_SPAN_MAX);
}
