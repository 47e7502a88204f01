/**
 * Finds which synonym rules speak about a query. Terms are compared as sequences of analysed words, through a hash of
 * their first word, so that a search costs its own words and not the number of rules.
 */

export interface SynonymRule {
  readonly kind: 'equivalent' | 'rewrite';
  readonly terms: readonly string[];
  readonly replace_with?: readonly string[];
}

/** Words `begin` to `end` (exclusive) of the query may also be any of `expansions`, each a sequence of words. */
export interface SynonymMatch {
  readonly begin: number;
  readonly end: number;
  readonly expansions: readonly (readonly string[])[];
  /** Numbers of the rules that took part. */
  readonly rules: readonly number[];
}

interface Entry {
  readonly words: readonly string[];
  readonly expansions: (readonly string[])[];
  readonly rules: number[];
}

const SEPARATOR = '\u0000';

export class SynonymMatcher {
  /** Entries by first word, the longest first. */
  readonly #byFirstWord = new Map<string, Entry[]>();
  readonly #byKey = new Map<string, Entry>();

  /** `analyse` gives the folded words of a term, as for queries and records. */
  constructor(rules: readonly SynonymRule[], analyse: (text: string) => readonly string[]) {
    rules.forEach((rule, number) => {
      const terms = rule.terms.map(analyse).filter((words) => words.length > 0);
      const targets = rule.kind === 'equivalent' ? terms : (rule.replace_with ?? []).map(analyse);
      for (const words of terms) this.#add(words, targets, number);
    });
    for (const entries of this.#byFirstWord.values()) entries.sort((a, b) => b.words.length - a.words.length);
  }

  #add(words: readonly string[], targets: readonly (readonly string[])[], rule: number): void {
    const key = words.join(SEPARATOR);
    const others = targets.filter((target) => target.length > 0 && target.join(SEPARATOR) !== key);
    if (others.length === 0) return;
    let entry = this.#byKey.get(key);
    if (entry === undefined) {
      entry = { words, expansions: [], rules: [] };
      this.#byKey.set(key, entry);
      const first = words[0] as string;
      const siblings = this.#byFirstWord.get(first);
      if (siblings === undefined) this.#byFirstWord.set(first, [entry]);
      else siblings.push(entry);
    }
    const known = new Set(entry.expansions.map((expansion) => expansion.join(SEPARATOR)));
    for (const target of others) if (!known.has(target.join(SEPARATOR))) entry.expansions.push(target);
    if (entry.rules.at(-1) !== rule) entry.rules.push(rule);
  }

  get isEmpty(): boolean {
    return this.#byFirstWord.size === 0;
  }

  /**
   * Matches from left to right, the longest at each place. Where a phrase matches, neither a shorter rule inside it nor
   * one that begins inside it applies: a phrase wins over its words.
   */
  match(words: readonly string[]): readonly SynonymMatch[] {
    const found: SynonymMatch[] = [];
    if (this.isEmpty) return found;
    const covered = this.#phrases(words, found);
    words.forEach((word, position) => {
      if (covered.has(position)) return;
      const entry = this.#byFirstWord.get(word)?.find((candidate) => candidate.words.length === 1);
      if (entry !== undefined) found.push(matchOf(entry, position));
    });
    return found.sort((a, b) => a.begin - b.begin);
  }

  #phrases(words: readonly string[], found: SynonymMatch[]): ReadonlySet<number> {
    const covered = new Set<number>();
    let position = 0;
    while (position < words.length) {
      const at = position;
      const entry = this.#byFirstWord
        .get(words[at] as string)
        ?.find(
          (candidate) =>
            candidate.words.length > 1 && candidate.words.every((word, index) => words[at + index] === word),
        );
      if (entry === undefined) {
        position += 1;
        continue;
      }
      found.push(matchOf(entry, at));
      for (let index = 0; index < entry.words.length; index += 1) covered.add(at + index);
      position += entry.words.length;
    }
    return covered;
  }
}

function matchOf(entry: Entry, begin: number): SynonymMatch {
  return { begin, end: begin + entry.words.length, expansions: entry.expansions, rules: entry.rules };
}
