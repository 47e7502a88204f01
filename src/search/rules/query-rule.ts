/** Query rules as a list has them: a part of the search text that becomes a filter. */

export interface QueryRule {
  readonly name: string;
  /** An RE2 expression, which takes linear time by construction; case is ignored unless it says `(?-i)`. */
  readonly pattern: string;
  /** A filter in which `$1`, `${name}` and `$0` (all that matched) stand for values. */
  readonly filter: string;
  /** Whether the matched part stays in the query. Default false. */
  readonly keep?: boolean;
}

export const QUERY_RULES_MAX = 1000;
export const RULE_NAME_CHARACTERS_MAX = 128;
export const RULE_PATTERN_CHARACTERS_MAX = 1000;
export const RULE_FILTER_CHARACTERS_MAX = 10_000;
/** Of all filters of a list together: each thread that searches it has them as trees, of some ten times as many bytes. */
export const RULES_FILTER_CHARACTERS_MAX = 500_000;

/**
 * Instructions of one compiled pattern, and of all patterns of a list. A postcode takes 17; repetitions multiply. An
 * instruction and character of the text take 40 ns at worst, so these and the next bound what rules cost a search: 20 ms
 * for one, 0.8 s for all of a list that tries hard.
 */
export const RULE_INSTRUCTIONS_MAX = 500;
export const RULES_INSTRUCTIONS_MAX = 20_000;
/** Rules look at the beginning of longer queries. The rest is searched as sent. */
export const RULE_TEXT_CHARACTERS_MAX = 1000;
