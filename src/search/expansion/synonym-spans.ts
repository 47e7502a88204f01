/** Converts the matches of a list's synonym rules in a query into spans. */
import { ruleWord, type SynonymMatch, type SynonymMatcher } from '../../synonyms/index.js';
import { SYNONYM_WEIGHT, SYNONYMS_PER_SPAN_MAX } from './expansion-weights.js';
import type { QueryWord } from './query-words.js';
import { certainWritings, writingsWithDigits } from './spellings.js';
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

/** Words are compared with their plus signs (`C++`) and without, and in their other writings (`XR-500`, `XR500`). */
export function synonymSpans(words: readonly QueryWord[], matcher: SynonymMatcher): SynonymSpans {
  if (matcher.isEmpty) return NONE;
  const terms = words.map(({ term }) => term);
  const plain = joinedSpans(spansOf(terms, matcher), spansOfWritings(words, matcher));
  const withPluses = words.map(ruleWord);
  if (terms.every((term, index) => withPluses[index] === term)) return plain;
  return joinedSpans(spansOf(withPluses, matcher), plain);
}

/** What is applied to the same words of the query is told once. */
function joinedSpans(first: SynonymSpans, second: SynonymSpans): SynonymSpans {
  if (second.spans.length === 0) return first;
  const seen = new Set(first.applied.map(({ word }) => word));
  return {
    spans: [...first.spans, ...second.spans],
    applied: [...first.applied, ...second.applied.filter(({ word }) => !seen.has(word))],
  };
}

/** Returns the spans of words that a rule has in another writing. */
function spansOfWritings(words: readonly QueryWord[], matcher: SynonymMatcher): SynonymSpans {
  const spans: Span[] = [];
  const applied: AppliedSynonym[] = [];
  for (const { begin, end, spellings } of certainWritings(words)) {
    for (const writing of spellings) {
      const match = matcher.match(writing).find((each) => each.begin === 0 && each.end === writing.length);
      if (match === undefined) continue;
      const typed = words.slice(begin, end).map(({ term }) => term);
      spans.push(spanOf({ ...match, begin, end }));
      applied.push(appliedOf(match, typed));
    }
  }
  return spans.length === 0 ? NONE : { spans, applied };
}

function spansOf(terms: readonly string[], matcher: SynonymMatcher): SynonymSpans {
  const matches = matcher.match(terms);
  if (matches.length === 0) return NONE;
  const applied = new Map<string, AppliedSynonym>();
  for (const match of matches) {
    const told = appliedOf(match, terms.slice(match.begin, match.end));
    applied.set(told.word, told);
  }
  return { spans: matches.map(spanOf), applied: [...applied.values()] };
}

function appliedOf(match: SynonymMatch, words: readonly string[]): AppliedSynonym {
  const terms = kept(match).map((expansion) => expansion.join(' '));
  return { word: words.join(' '), terms, rules: match.rules };
}

/** Records may have the terms in other writings, which come behind all terms. */
function spanOf(match: SynonymMatch): Span {
  const terms = kept(match);
  const writings = [...terms, ...terms.flatMap(writingsWithDigits)].slice(0, SYNONYMS_PER_SPAN_MAX);
  const variants = writings.map((each) => ({ kind: 'synonym', weight: SYNONYM_WEIGHT, terms: each }) as const);
  return { begin: match.begin, end: match.end, variants };
}

function kept(match: SynonymMatch): readonly (readonly string[])[] {
  return match.expansions.slice(0, SYNONYMS_PER_SPAN_MAX);
}
