/** Converts the matches of a list's synonym rules in a query into spans. */
import { ruleWord, type SynonymMatch, type SynonymMatcher } from '../../synonyms/index.js';
import { SYNONYM_WEIGHT, SYNONYMS_PER_SPAN_MAX, WRITING_CONTEXT_WORDS_MAX } from './expansion-weights.js';
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
  const terms = termsOf(words);
  const plain = spansOf(terms, withWritings(matcher.match(terms), matchesOfWritings(words, matcher)));
  const withPluses = words.map(ruleWord);
  if (terms.every((term, index) => withPluses[index] === term)) return plain;
  return joinedSpans(spansOf(withPluses, matcher.match(withPluses)), plain);
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

/** Returns the matches of words that a rule has in another writing, alone or among others (`Bosch XR-500`). */
function matchesOfWritings(words: readonly QueryWord[], matcher: SynonymMatcher): readonly SynonymMatch[] {
  return certainWritings(words).flatMap(({ begin, end, spellings }) => {
    const before = termsOf(words.slice(Math.max(0, begin - WRITING_CONTEXT_WORDS_MAX), begin));
    const behind = termsOf(words.slice(end, end + WRITING_CONTEXT_WORDS_MAX));
    return spellings.flatMap((writing) => {
      const whole = matcher.matchOfAll(writing);
      const shift = writing.length - (end - begin);
      const longer = matcher
        .match([...before, ...writing, ...behind])
        .filter((match) => isAround(match, before.length, before.length + writing.length))
        .map((match) => ({
          ...match,
          begin: match.begin + begin - before.length,
          end: match.end + begin - before.length - shift,
        }));
      return whole === undefined ? longer : [{ ...whole, begin, end }, ...longer];
    });
  });
}

/** True if the match has these places and at least one more. */
function isAround(match: SynonymMatch, begin: number, end: number): boolean {
  return match.begin <= begin && match.end >= end && match.end - match.begin > end - begin;
}

function termsOf(words: readonly QueryWord[]): readonly string[] {
  return words.map(({ term }) => term);
}

/**
 * Returns one match for the same words of the query in all their writings. As among the words as typed, nothing applies
 * that is or begins inside of a match.
 */
function withWritings(typed: readonly SynonymMatch[], others: readonly SynonymMatch[]): readonly SynonymMatch[] {
  if (others.length === 0) return typed;
  const kept: SynonymMatch[] = [];
  for (const match of [...typed, ...others].sort((a, b) => a.begin - b.begin || b.end - a.end)) {
    const last = kept.at(-1);
    if (last === undefined || match.begin >= last.end) kept.push(match);
    else if (match.begin === last.begin && match.end === last.end) kept[kept.length - 1] = joinedMatch(last, match);
  }
  return kept;
}

function joinedMatch(first: SynonymMatch, second: SynonymMatch): SynonymMatch {
  const expansions = new Map([...first.expansions, ...second.expansions].map((terms) => [terms.join(' '), terms]));
  const rules = [...new Set([...first.rules, ...second.rules])].sort((a, b) => a - b);
  return { ...first, expansions: [...expansions.values()], rules };
}

function spansOf(terms: readonly string[], matches: readonly SynonymMatch[]): SynonymSpans {
  if (matches.length === 0) return NONE;
  const applied = new Map<string, AppliedSynonym>();
  const spans = matches.map((match) => {
    const typed = terms.slice(match.begin, match.end);
    const word = typed.join(' ');
    applied.set(word, { word, terms: kept(match, typed).map((each) => each.join(' ')), rules: match.rules });
    return spanOf(match, typed);
  });
  return { spans, applied: [...applied.values()] };
}

/** Records may have the terms in other writings, which come behind all terms. */
function spanOf(match: SynonymMatch, typed: readonly string[]): Span {
  const others = writingsOf(match.expansions).filter((writing) => !isSame(writing, typed));
  const variants = [...kept(match, typed), ...others]
    .slice(0, SYNONYMS_PER_SPAN_MAX)
    .map((terms) => ({ kind: 'synonym', weight: SYNONYM_WEIGHT, terms }) as const);
  return { begin: match.begin, end: match.end, variants };
}

/** Other writings of terms, which are the same array whenever a rule applies: 60 terms of four words took 3 ms. */
const knownWritings = new WeakMap<SynonymMatch['expansions'], SynonymMatch['expansions']>();

function writingsOf(expansions: SynonymMatch['expansions']): SynonymMatch['expansions'] {
  const known = knownWritings.get(expansions);
  if (known !== undefined) return known;
  const writings: (readonly string[])[] = [];
  for (const terms of expansions) {
    if (writings.length >= SYNONYMS_PER_SPAN_MAX) break;
    writings.push(...writingsWithDigits(terms));
  }
  knownWritings.set(expansions, writings);
  return writings;
}

/** The words as typed are no synonym of themselves: a rule may have several writings of a term. */
function kept({ expansions }: SynonymMatch, typed: readonly string[]): readonly (readonly string[])[] {
  return expansions.filter((terms) => !isSame(terms, typed)).slice(0, SYNONYMS_PER_SPAN_MAX);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((word, index) => word === others[index]);
}
