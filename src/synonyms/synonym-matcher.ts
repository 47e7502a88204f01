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
  /** Numbers of the rules with this term, each once, in their order. */
  readonly rules: number[];
  /** Worked out when a query first holds the term: most of many rules are never asked for. */
  expansions: readonly (readonly string[])[] | undefined;
}

const SEPARATOR = '\u0000';

export class SynonymMatcher {
  /** Entries by first word, the longest first. */
  readonly #byFirstWord = new Map<string, Entry[]>();

  /** `analyse` gives the folded words of a term, as for queries and records. */
  constructor(
    private readonly rules: readonly SynonymRule[],
    private readonly analyse: (text: string) => readonly string[],
  ) {
    const entries = new Map<string, Entry>();
    rules.forEach((rule, number) => {
      for (const term of rule.terms) this.#add(analyse(term), number, entries);
    });
    for (const siblings of this.#byFirstWord.values()) {
      if (siblings.length > 1) siblings.sort((a, b) => b.words.length - a.words.length);
    }
  }

  #add(words: readonly string[], rule: number, entries: Map<string, Entry>): void {
    const [first] = words;
    if (first === undefined) return;
    const key = words.length === 1 ? first : words.join(SEPARATOR);
    const known = entries.get(key);
    if (known !== undefined) {
      if (known.rules.at(-1) !== rule) known.rules.push(rule);
      return;
    }
    const entry: Entry = { words, rules: [rule], expansions: undefined };
    entries.set(key, entry);
    const siblings = this.#byFirstWord.get(first);
    if (siblings === undefined) this.#byFirstWord.set(first, [entry]);
    else siblings.push(entry);
  }

  /** What the rules of a term lead to, each sequence of words once and never the term itself. */
  #expansions(entry: Entry): readonly (readonly string[])[] {
    if (entry.expansions === undefined) {
      const found = new Map<string, readonly string[]>();
      for (const number of entry.rules) {
        const { kind, terms, replace_with = [] } = this.rules[number] as SynonymRule;
        for (const words of (kind === 'equivalent' ? terms : replace_with).map(this.analyse)) {
          const key = words.join(SEPARATOR);
          if (key !== '' && !found.has(key)) found.set(key, words);
        }
      }
      found.delete(entry.words.join(SEPARATOR));
      entry.expansions = [...found.values()];
    }
    return entry.expansions;
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
      if (entry !== undefined && this.#expansions(entry).length > 0) found.push(this.#matchOf(entry, position));
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
      found.push(this.#matchOf(entry, at));
      for (let index = 0; index < entry.words.length; index += 1) covered.add(at + index);
      position += entry.words.length;
    }
    return covered;
  }

  #matchOf(entry: Entry, begin: number): SynonymMatch {
    return { begin, end: begin + entry.words.length, expansions: this.#expansions(entry), rules: entry.rules };
  }
}
