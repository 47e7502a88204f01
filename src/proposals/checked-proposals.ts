/** Checks proposals from any source like rules typed by a stranger. */
import { keptRule, SYNONYM_TERM_CHARACTERS_MAX, synonymRuleFaults } from '../synonyms/index.js';
import type { Proposal, Words } from './types.js';

/** A rule with more terms is a mere word list that nobody reads before saving it. */
export const PROPOSED_TERMS_MAX = 6;

/**
 * Returns the proposals that could be saved unchanged, each meaning once. Senses of one abbreviation are separate
 * rules.
 */
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

/** Returns a key that is equal for rules with the same meaning. */
function meaningOf({ rule }: Proposal, words: Words): string {
  return JSON.stringify([...new Set(rule.terms.map((term) => words(term).join(' ')))].sort());
}
