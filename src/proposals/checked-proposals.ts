/** Proposals, wherever they come from, checked as though a stranger had typed them. */
import { keptRule, SYNONYM_TERM_CHARACTERS_MAX, synonymRuleFaults } from '../synonyms/index.js';
import type { Proposal, Words } from './types.js';

/** A rule of more is a list of words, and nobody reads it before it is saved. */
export const PROPOSED_TERMS_MAX = 6;

/** Those that could be saved as they are, and each meaning once; senses of one abbreviation are rules of their own. */
export function checkedProposals(given: Iterable<Proposal>, words: Words): Proposal[] {
  const kept = new Map<string, Proposal>();
  for (const { rule, basis } of given) {
    const checked = { rule: keptRule(rule), basis };
    if (!isRule(checked, words)) continue;
    const key = meaningOf(checked, words);
    if (!kept.has(key)) kept.set(key, checked);
  }
  return [...kept.values()];
}

function isRule({ rule }: Proposal, words: Words): boolean {
  const { kind, terms } = rule;
  return (
    kind === 'equivalent' &&
    terms.length <= PROPOSED_TERMS_MAX &&
    terms.every((term) => term.length <= SYNONYM_TERM_CHARACTERS_MAX) &&
    synonymRuleFaults(rule, '', words).length === 0
  );
}

/** The same for rules that say the same. */
function meaningOf({ rule }: Proposal, words: Words): string {
  return JSON.stringify([...new Set(rule.terms.map((term) => words(term).join(' ')))].sort());
}
