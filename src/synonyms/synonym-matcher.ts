/**
 * Finds the synonym rules that apply to a query. Terms are compared as sequences of analysed words, by a hash of their
 * first word, so that the cost depends on the query's words and not on the number of rules. Rules are kept outside the
 * JavaScript heap, as text and a few numbers per term, since a thread has the rules of many lists. A term's words are
 * analysed when a query contains its first word, and cached up to a limit.
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
  /** Indexes of the rules that contributed. */
  readonly rules: readonly number[];
}

interface Entry {
  readonly words: readonly string[];
  /** Indexes of the rules with this term, each once, in order. */
  readonly rules: number[];
  /** Undefined until a query first contains the term: of many rules, most are never used. */
  expansions: readonly (readonly string[])[] | undefined;
}

/** Terms that begin with the same word. */
interface Siblings {
  /** Numbers of words of these terms, the largest first. Far fewer than terms, of which thousands may begin alike. */
  readonly lengths: readonly number[];
  /** By `keyOf` their words. */
  readonly byKey: ReadonlyMap<string, Entry>;
}

const SEPARATOR = '\u0000';
/** Limit on terms whose words are cached. */
const WORKED_OUT_MAX = 10_000;

export class SynonymMatcher {
  readonly #rules: PackedRules;
  /** Hashes of the first words of all terms that have words, ascending. */
  readonly #hashes: Uint32Array;
  /** Indexes of the terms with these hashes; those with equal hashes in order. */
  readonly #terms: Uint32Array;
  readonly #byFirstWord = new Map<string, Siblings>();
  #workedOut = 0;

  /**
   * `analyse` returns the folded words of a term, as for queries and records. `before` has the rules that precede
   * these; they are reused without new work.
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

  /** Returns a matcher of these rules and one more. */
  withRule(rule: SynonymRule): SynonymMatcher {
    return new SynonymMatcher([rule], this.analyse, this);
  }

  /**
   * Returns matches from left to right, the longest at each position. Where a phrase matches, neither a shorter rule
   * inside it nor one that begins inside it applies.
   */
  match(words: readonly string[]): readonly SynonymMatch[] {
    const found: SynonymMatch[] = [];
    if (this.isEmpty) return found;
    const covered = this.#phrases(words, found);
    words.forEach((word, position) => {
      if (covered.has(position)) return;
      const entry = this.#siblings(word).byKey.get(word);
      if (entry !== undefined && this.#expansions(entry).length > 0) found.push(this.#matchOf(entry, position));
    });
    return found.sort((a, b) => a.begin - b.begin);
  }

  /** Returns the match of all of the words together, if they are a term: at the same cost however many begin like it. */
  matchOfAll(words: readonly string[]): SynonymMatch | undefined {
    const entry = this.#siblings(words[0] ?? '').byKey.get(keyOf(words));
    return entry === undefined || this.#expansions(entry).length === 0 ? undefined : this.#matchOf(entry, 0);
  }

  #phrases(words: readonly string[], found: SynonymMatch[]): ReadonlySet<number> {
    const covered = new Set<number>();
    let position = 0;
    while (position < words.length) {
      const entry = this.#phraseAt(words, position);
      if (entry === undefined) {
        position += 1;
        continue;
      }
      found.push(this.#matchOf(entry, position));
      for (let index = 0; index < entry.words.length; index += 1) covered.add(position + index);
      position += entry.words.length;
    }
    return covered;
  }

  /** Returns the longest term of several words that begins at this position. */
  #phraseAt(words: readonly string[], position: number): Entry | undefined {
    const { lengths, byKey } = this.#siblings(words[position] as string);
    for (const length of lengths) {
      if (length === 1) return undefined;
      if (position + length > words.length) continue;
      const entry = byKey.get(keyOf(words.slice(position, position + length)));
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  #matchOf(entry: Entry, begin: number): SynonymMatch {
    return { begin, end: begin + entry.words.length, expansions: this.#expansions(entry), rules: entry.rules };
  }

  /** Returns the terms that begin with this word. */
  #siblings(word: string): Siblings {
    const known = this.#byFirstWord.get(word);
    if (known !== undefined) return known;
    const hash = hashOf(word);
    const place = placeOf(this.#hashes, hash);
    // Words of no rule are not cached, since they are unlimited.
    if (this.#hashes[place] !== hash) return this.#siblingsBefore(word);
    const entries = new Map<string, Entry>();
    for (const { words, rules } of this.#siblingsBefore(word).byKey.values())
      entries.set(keyOf(words), { words, rules: [...rules], expansions: undefined });
    for (let at = place; this.#hashes[at] === hash; at += 1) this.#add(this.#terms[at] as number, word, entries);
    const lengths = [...new Set([...entries.values()].map(({ words }) => words.length))].sort((a, b) => b - a);
    const siblings = { lengths, byKey: entries };
    this.#workedOut += entries.size;
    if (this.#workedOut > WORKED_OUT_MAX) {
      this.#byFirstWord.clear();
      this.#workedOut = entries.size;
    }
    this.#byFirstWord.set(word, siblings);
    return siblings;
  }

  #siblingsBefore(word: string): Siblings {
    return this.before === undefined ? NO_SIBLINGS : this.before.#siblings(word);
  }

  #add(term: number, first: string, entries: Map<string, Entry>): void {
    const words = this.analyse(this.#rules.term(term));
    if (words[0] !== first) return;
    const rule = this.#firstRule + this.#rules.ruleOf(term);
    const key = keyOf(words);
    const known = entries.get(key);
    if (known === undefined) entries.set(key, { words, rules: [rule], expansions: undefined });
    else if (known.rules.at(-1) !== rule) known.rules.push(rule);
  }

  /** Returns what the rules of a term expand to: each sequence of words once, without the term itself. */
  #expansions(entry: Entry): readonly (readonly string[])[] {
    if (entry.expansions === undefined) {
      const found = new Map<string, readonly string[]>();
      for (const rule of entry.rules) {
        for (const words of this.#wantedOf(rule).map(this.analyse)) {
          const key = keyOf(words);
          if (key !== '' && !found.has(key)) found.set(key, words);
        }
      }
      found.delete(keyOf(entry.words));
      entry.expansions = [...found.values()];
    }
    return entry.expansions;
  }

  /** Number of rules before these. */
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

const NO_SIBLINGS: Siblings = { lengths: [], byKey: new Map() };

function keyOf(words: readonly string[]): string {
  return words.join(SEPARATOR);
}

/** Terms of rules as bytes, by index. The terms of a rule are followed by its replacements. */
class PackedRules {
  readonly #text: Buffer;
  /** Beginning of each term, and the end of the last one. */
  readonly #begins: Uint32Array;
  /** Index of the first term of each rule, and of its first replacement, plus the ends. */
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
      // The terms of an equivalent rule replace each other.
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
    // A rule without terms begins at the same term as the next rule, so the last rule is taken.
    return placeOf(this.#firsts, term + 1) - 1;
  }

  term(number: number): string {
    return this.#text.toString('utf8', this.#begins[number], this.#begins[number + 1]);
  }

  /** Returns what the rule's terms expand to. */
  wantedOf(rule: number): string[] {
    const [begin, end] = [this.#replacing[rule] as number, this.#firsts[rule + 1] as number];
    return Array.from({ length: end - begin }, (_, place) => this.term(begin + place));
  }
}

/** Returns the index of the first number that is not less than `wanted` (binary search in ascending order). */
function placeOf(sorted: Uint32Array, wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** FNV-1a over UTF-16 code units. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < word.length; at += 1) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
