/** Validates synonym rules, and converts them to the form in which they are stored. */
import type { ErrorPlace } from '../platform/index.js';
import type { SynonymRule } from './synonym-matcher.js';

export const SYNONYM_RULES_MAX = 20_000;
export const SYNONYM_TERMS_MAX = 100;
export const SYNONYM_TERM_CHARACTERS_MAX = 200;
/**
 * Limits on all rules of a list together: each thread that searches the list holds them, and a change waits until every
 * rule is checked.
 */
export const SYNONYM_TERMS_OF_LIST_MAX = 100_000;
export const SYNONYM_CHARACTERS_OF_LIST_MAX = 2_000_000;
const EQUIVALENT_TERMS_MIN = 2;

/**
 * Characters that Unicode names arrows, as ranges of a character class: the blocks Arrows, Supplemental Arrows-A and
 * -B, and those in Dingbats, Miscellaneous Symbols and Arrows, and the half-width forms. Without those above U+FFFF,
 * which some regular-expression engines see as surrogates.
 */
const ARROWS =
  '\\u2190-\\u21FF\\u2794\\u2798-\\u27AF\\u27B1-\\u27BE\\u27F0-\\u27FF\\u2900-\\u297F\\u2B00-\\u2B11\\u2B30-\\u2B4F\\u2B5A-\\u2B95\\u2B98-\\u2BB8\\uFFE9-\\uFFEC';

/** Characters with a meaning in common synonym file formats. Lists without them can be exported to any other engine. */
const REFUSED: readonly (readonly [held: RegExp, what: string])[] = [
  [/,/u, 'a comma'],
  [new RegExp(`[-=]>|[${ARROWS}]`, 'u'), 'an arrow'],
  [/#/u, 'a #'],
  [/\\/u, 'a backslash'],
  [/\p{Surrogate}/u, 'half of a surrogate pair'],
];

/** The same as a regular expression without lookahead, for the schema of a term. */
export const SYNONYM_TERM_PATTERN = `^(?:[^\\-=,#\\\\${ARROWS}]|[\\-=]+(?:[^\\-=>,#\\\\${ARROWS}]|$))*$`;

/** Returns the folded words of a text. Terms with equal words are the same. */
export type Analyse = (text: string) => readonly string[];

/**
 * Returns the faults of a rule, with pointers below `pointer`. Empty if there are none. Schema faults (types, lengths)
 * were found before.
 */
export function synonymRuleFaults(rule: SynonymRule, pointer: string, analyse: Analyse): ErrorPlace[] {
  const faults = [
    ...rule.terms.flatMap((term, index) => termFaults(term, `${pointer}/terms/${index}`, analyse)),
    ...(rule.replace_with ?? []).flatMap((term, index) =>
      termFaults(term, `${pointer}/replace_with/${index}`, analyse),
    ),
  ];
  const fault = (member: string, detail: string) => faults.push({ pointer: `${pointer}/${member}`, detail });
  const hasReplacement = rule.replace_with !== undefined && rule.replace_with.length > 0;
  switch (rule.kind) {
    case 'equivalent':
      if (hasReplacement)
        fault(
          'replace_with',
          'Only a rewrite rule can have replace_with; the terms of an equivalent rule all mean the same.',
        );
      if (faults.length === 0 && differentTerms(rule.terms, analyse) < EQUIVALENT_TERMS_MIN) {
        fault('terms', 'An equivalent rule needs at least two different terms.');
      }
      break;
    case 'rewrite':
      if (rule.terms.length === 0) fault('terms', 'A rewrite rule needs at least one term.');
      if (!hasReplacement)
        fault('replace_with', 'A rewrite rule needs replace_with: the words that its terms also find.');
      break;
  }
  return faults;
}

/**
 * Returns how a list's rules exceed the limits together. Undefined if they do not. `stored` has the list's current
 * rules, which may exceed the limits because earlier releases allowed more; they may then be reduced gradually.
 */
export function synonymRulesExcess(
  rules: readonly SynonymRule[],
  stored: readonly SynonymRule[] = [],
): string | undefined {
  const { terms, characters } = sizeOf(rules);
  if (terms <= SYNONYM_TERMS_OF_LIST_MAX && characters <= SYNONYM_CHARACTERS_OF_LIST_MAX) return undefined;
  const before = sizeOf(stored);
  if (terms > Math.max(SYNONYM_TERMS_OF_LIST_MAX, before.terms))
    return `The rules have ${terms} terms together; those of a list may have ${SYNONYM_TERMS_OF_LIST_MAX}.`;
  if (characters > Math.max(SYNONYM_CHARACTERS_OF_LIST_MAX, before.characters))
    return `The terms of the rules have ${characters} characters together; those of a list may have ${SYNONYM_CHARACTERS_OF_LIST_MAX}.`;
  return undefined;
}

function sizeOf(rules: readonly SynonymRule[]): { readonly terms: number; readonly characters: number } {
  let [terms, characters] = [0, 0];
  for (const { terms: ofRule, replace_with = [] } of rules) {
    for (const each of [ofRule, replace_with]) {
      terms += each.length;
      for (const term of each) characters += term.length;
    }
  }
  return { terms, characters };
}

/** Returns the rule in the form in which it is stored and read back. */
export function keptRule({ kind, terms, replace_with }: SynonymRule): SynonymRule {
  const trimmed = terms.map((term) => term.trim());
  return kind === 'equivalent'
    ? { kind, terms: trimmed }
    : { kind, terms: trimmed, replace_with: (replace_with ?? []).map((term) => term.trim()) };
}

function termFaults(term: string, pointer: string, analyse: Analyse): ErrorPlace[] {
  if (term.trim() === '') return [{ pointer, detail: 'A term cannot be empty.' }];
  const refused = REFUSED.find(([held]) => held.test(term));
  if (refused !== undefined) return [{ pointer, detail: `A term cannot contain ${refused[1]}.` }];
  if (analyse(term).length === 0) return [{ pointer, detail: 'A term needs at least one letter or digit.' }];
  return [];
}

function differentTerms(terms: readonly string[], analyse: Analyse): number {
  return new Set(terms.map((term) => analyse(term).join(' '))).size;
}
