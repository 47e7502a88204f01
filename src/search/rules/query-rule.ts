/** Query rules of a list: each turns a part of the search text into a filter. */

export interface QueryRule {
  readonly name: string;
  /** RE2 expression, matched in linear time. Case-insensitive unless it says `(?-i)`. */
  readonly pattern: string;
  /** Filter in which `$1`, `${name}` and `$0` (the whole match) stand for values. */
  readonly filter: string;
  /** True if the matched part stays in the query. Default false. */
  readonly keep?: boolean;
}

export const QUERY_RULES_MAX = 1000;
export const RULE_NAME_CHARACTERS_MAX = 128;
export const RULE_PATTERN_CHARACTERS_MAX = 1000;
export const RULE_FILTER_CHARACTERS_MAX = 10_000;
/**
 * Limit on all filters of a list together. Each thread that searches the list keeps them as trees of about ten times as
 * many bytes.
 */
export const RULES_FILTER_CHARACTERS_MAX = 500_000;

/**
 * Limits on the instructions of one compiled pattern, and of all patterns of a list. A postcode takes 17; repetitions
 * multiply. An instruction takes at most 40 ns per character of text, so that with the next limit a rule costs a search
 * at most 20 ms, and all rules of an adversarial list 0.8 s.
 */
export const RULE_INSTRUCTIONS_MAX = 500;
export const RULES_INSTRUCTIONS_MAX = 20_000;
/** Characters of a query that rules look at. The rest of longer queries is searched as sent. */
export const RULE_TEXT_CHARACTERS_MAX = 1000;
