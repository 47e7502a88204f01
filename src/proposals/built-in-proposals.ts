/**
 * Makes proposals without a model: abbreviations with their long forms, and searches without results with similar
 * searches that had some.
 */
import { looksTheSame } from './forms.js';
import type { Evidence, Proposal, Words } from './types.js';

/** Returns proposals by importance: searches without results come before abbreviations. */
export function builtInProposals({ empty, successful, abbreviations }: Evidence, words: Words): Proposal[] {
  const known = successful.map(({ term }) => ({ term, words: words(term) }));
  const searched = empty.flatMap(({ term, count }): Proposal[] => {
    const missed = words(term);
    const alike = known.find((each) => looksTheSame(missed, each.words));
    if (alike === undefined) return [];
    return [{ rule: equivalent(term, alike.term), basis: { kind: 'empty-search', text: term, count } }];
  });
  const abbreviated = abbreviations.map(({ abbreviation, sense, record_count: count }): Proposal => {
    return { rule: equivalent(abbreviation, sense), basis: { kind: 'abbreviation', text: abbreviation, count } };
  });
  return [...searched, ...abbreviated];
}

function equivalent(...terms: string[]): Proposal['rule'] {
  return { kind: 'equivalent', terms };
}
