/**
 * Finds which synonym rules speak about a query. Terms are compared as sequences of analysed words, through a hash of
 * their first word, so that a search costs its own words and not the number of rules. What is kept of the rules is their text and a few
 * numbers for each term, outside of the heap: a thread has the rules of many lists. What a term is made of is worked out for the queries
 * that hold its first word, and forgotten when it has become much.
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
/** Terms of which the words are kept. */
const WORKED_OUT_MAX = 10_000;

export class SynonymMatcher {
  readonly #rules: PackedRules;
  /** Of each term that has words, that of the first one, in order. */
  readonly #hashes: Uint32Array;
  /** The terms of these hashes, those of one in their order. */
  readonly #terms: Uint32Array;
  /** Entries by first word, the longest first. */
  readonly #byFirstWord = new Map<string, readonly Entry[]>();
  #workedOut = 0;

  /**
   * `analyse` gives the folded words of a term, as for queries and records. `before`: of the rules that stand before these, which are not looked at
   * anew.
   */
  constructor(
    rules: readonly SynonymRule[],
    private readonly analyse: (text: string) => readonly string[],
    private readonly before?: SynonymMatcher,
  ) {
    this.#rules = new PackedRules(rules);
    const hashes = new Uint32Array(this.#rules.termCount);
    const terms: number[] = [];
    for (const [rule, { terms: ofRule }] of rules.entries()) {
      for (const [place, term] of ofRule.entries()) {
        const [first] = analyse(term);
        if (first === undefined) continue;
        const number = this.#rules.firstTermOf(rule) + place;
        hashes[number] = hashOf(first);
        terms.push(number);
      }
    }
    const hash = (term: number) => hashes[term] as number;
    this.#terms = Uint32Array.from(terms).sort((a, b) => hash(a) - hash(b) || a - b);
    this.#hashes = this.#terms.map(hash);
  }

  get isEmpty(): boolean {
    return this.#terms.length === 0 && this.before?.isEmpty !== false;
  }

  /** These rules and one more. */
  withRule(rule: SynonymRule): SynonymMatcher {
    return new SynonymMatcher([rule], this.analyse, this);
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
      const entry = this.#entries(word).find((candidate) => candidate.words.length === 1);
      if (entry !== undefined && this.#expansions(entry).length > 0) found.push(this.#matchOf(entry, position));
    });
    return found.sort((a, b) => a.begin - b.begin);
  }

  #phrases(words: readonly string[], found: SynonymMatch[]): ReadonlySet<number> {
    const covered = new Set<number>();
    let position = 0;
    while (position < words.length) {
      const at = position;
      const entry = this.#entries(words[at] as string).find(
        (candidate) => candidate.words.length > 1 && candidate.words.every((word, index) => words[at + index] === word),
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

  /** Those whose first word it is. */
  #entries(word: string): readonly Entry[] {
    const known = this.#byFirstWord.get(word);
    if (known !== undefined) return known;
    const hash = hashOf(word);
    const place = placeOf(this.#hashes, hash);
    // Nothing is remembered of words that no rule has: there is no end of those.
    if (this.#hashes[place] !== hash) return this.#entriesBefore(word);
    const entries = new Map<string, Entry>();
    for (const { words, rules } of this.#entriesBefore(word))
      entries.set(words.join(SEPARATOR), { words, rules: [...rules], expansions: undefined });
    for (let at = place; this.#hashes[at] === hash; at += 1) this.#add(this.#terms[at] as number, word, entries);
    const siblings = [...entries.values()].sort((a, b) => b.words.length - a.words.length);
    this.#workedOut += siblings.length;
    if (this.#workedOut > WORKED_OUT_MAX) {
      this.#byFirstWord.clear();
      this.#workedOut = siblings.length;
    }
    this.#byFirstWord.set(word, siblings);
    return siblings;
  }

  #entriesBefore(word: string): readonly Entry[] {
    return this.before === undefined ? NO_ENTRIES : this.before.#entries(word);
  }

  #add(term: number, first: string, entries: Map<string, Entry>): void {
    const words = this.analyse(this.#rules.term(term));
    if (words[0] !== first) return;
    const rule = this.#firstRule + this.#rules.ruleOf(term);
    const key = words.join(SEPARATOR);
    const known = entries.get(key);
    if (known === undefined) entries.set(key, { words, rules: [rule], expansions: undefined });
    else if (known.rules.at(-1) !== rule) known.rules.push(rule);
  }

  /** What the rules of a term lead to, each sequence of words once and never the term itself. */
  #expansions(entry: Entry): readonly (readonly string[])[] {
    if (entry.expansions === undefined) {
      const found = new Map<string, readonly string[]>();
      for (const rule of entry.rules) {
        for (const words of this.#wantedOf(rule).map(this.analyse)) {
          const key = words.join(SEPARATOR);
          if (key !== '' && !found.has(key)) found.set(key, words);
        }
      }
      found.delete(entry.words.join(SEPARATOR));
      entry.expansions = [...found.values()];
    }
    return entry.expansions;
  }

  /** How many rules stand before these. */
  get #firstRule(): number {
    return this.before === undefined ? 0 : this.before.#ruleCount;
  }

  get #ruleCount(): number {
    return this.#firstRule + this.#rules.ruleCount;
  }

  #wantedOf(rule: number): readonly string[] {
    return this.before !== undefined && rule < this.#firstRule
      ? this.before.#wantedOf(rule)
      : this.#rules.wantedOf(rule - this.#firstRule);
  }
}

const NO_ENTRIES: readonly Entry[] = [];

/** The terms of rules by their numbers, those of a rule and what it replaces them with behind each other, as bytes. */
class PackedRules {
  readonly #text: Buffer;
  /** Where each term begins, and where the last one ends. */
  readonly #begins: Uint32Array;
  /** Of each rule, its first term and the first of those that replace; and the ends. */
  readonly #firsts: Uint32Array;
  readonly #replacing: Uint32Array;

  constructor(rules: readonly SynonymRule[]) {
    const texts = rules.flatMap(({ terms, replace_with = [] }) => [...terms, ...replace_with]);
    this.#text = Buffer.allocUnsafeSlow(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0));
    this.#begins = new Uint32Array(texts.length + 1);
    for (const [term, text] of texts.entries()) {
      const begin = this.#begins[term] as number;
      this.#begins[term + 1] = begin + this.#text.write(text, begin);
    }
    this.#firsts = new Uint32Array(rules.length + 1);
    this.#replacing = new Uint32Array(rules.length);
    for (const [rule, { kind, terms, replace_with = [] }] of rules.entries()) {
      const first = this.#firsts[rule] as number;
      // The terms of an equivalent rule stand for each other.
      this.#replacing[rule] = kind === 'equivalent' ? first : first + terms.length;
      this.#firsts[rule + 1] = first + terms.length + replace_with.length;
    }
  }

  get ruleCount(): number {
    return this.#replacing.length;
  }

  get termCount(): number {
    return this.#begins.length - 1;
  }

  firstTermOf(rule: number): number {
    return this.#firsts[rule] as number;
  }

  ruleOf(term: number): number {
    // Of rules without a term, the last one begins where the next one does.
    return placeOf(this.#firsts, term + 1) - 1;
  }

  term(number: number): string {
    return this.#text.toString('utf8', this.#begins[number], this.#begins[number + 1]);
  }

  /** What the terms of the rule are to find. */
  wantedOf(rule: number): string[] {
    const [begin, end] = [this.#replacing[rule] as number, this.#firsts[rule + 1] as number];
    return Array.from({ length: end - begin }, (_, place) => this.term(begin + place));
  }
}

/** Of the first one that is no less, in ascending order. */
function placeOf(sorted: Uint32Array, wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** FNV-1a. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
