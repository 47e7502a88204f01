/**
 * What a list's dictionary knows about words, chosen and weighed, and kept: popular words come again with every query, and
 * asking the kernel and weighing a hundred near terms costs more than the rest of a plan. Belongs to one thread.
 */
import { BoundedMap } from '../../platform/index.js';
import type { GenerationHandle, Kernel, WordExpansion } from '../../../native-bindings/index.js';
import { COMPOUNDS_MAX, STEMS_MAX, TYPO_CANDIDATES_MAX } from './expansion-weights.js';
import { chooseTypos, editsAllowed, type ChosenTypo } from './typo-choice.js';

/** Terms of the list that a word may stand for besides itself. */
export interface WordForms {
  /** Whether the list has the word itself or a form of it. */
  readonly isKnown: boolean;
  /** Other terms of the word's stem, the most frequent first. */
  readonly stems: readonly string[];
  /** Terms that the word is a part of, the most frequent first. */
  readonly compounds: readonly string[];
  /** The most plausible first; empty where none were asked for. */
  readonly typos: readonly ChosenTypo[];
}

export interface Dictionary {
  /** In the order of the words, which are folded. */
  forms(words: readonly string[], withTypos: boolean): readonly WordForms[];
  /** Documents that hold each term; 0 where the list lacks it. */
  documentFrequencies(terms: readonly string[]): ArrayLike<number>;
  /** What `work` made of the list's words for this key, kept as long as the list is the same. */
  kept<Value extends object>(key: string, work: () => Value): Value;
}

const VOCABULARIES_MAX = 32;
/** Of one vocabulary; a map that is full starts anew. */
const WORDS_MAX = 8192;
/** Over all generations; a map that is full starts anew. */
const ANSWERS_MAX = 16_384;
/** Over all generations; the oldest goes first. */
const NAMED_FORMS_MAX = 8192;

const BOUNDS = { stemsMax: STEMS_MAX, typosMax: TYPO_CANDIDATES_MAX, prefixesMax: 0, compoundsMax: COMPOUNDS_MAX };

interface KeptWord {
  readonly forms: WordForms;
  /** The last of which it is known that they are right. */
  vocabulary: number;
}
type FormsByWord = Map<string, KeptWord>;
/** Without typos, and with them. */
interface KeptForms {
  readonly plain: FormsByWord;
  readonly typos: FormsByWord;
}
/** What is kept of a generation's words, and the kernel's name for its terms. */
interface Vocabulary {
  readonly name: number;
  readonly kept: KeptForms;
}
type DictionaryKernel = Pick<
  Kernel,
  'expand' | 'nameExpansions' | 'vocabulary' | 'affectedWords' | 'documentFrequencies'
>;

export class Dictionaries {
  /** By the root of the vocabulary, in the order of use, the least recent first: most writes bring few new terms. */
  readonly #byRoot = new BoundedMap<number, KeptForms>(VOCABULARIES_MAX);
  /** Putting an entry last makes a map grow anew time and again; this one nearly always is. */
  #latest: { readonly generation: GenerationHandle; readonly vocabulary: Vocabulary } | undefined;
  /** By generation and key: popular words come with every query, and a commit may change what is kept of any. */
  readonly #answers = new Map<string, unknown>();
  /** By the kernel's name for what the dictionaries say about a word: with a few terms more, nearly every name is an old one. */
  readonly #byName = new BoundedMap<number, WordForms>(NAMED_FORMS_MAX);

  constructor(private readonly kernel: DictionaryKernel) {}

  of(generation: GenerationHandle): Dictionary {
    return {
      forms: (words, withTypos) => this.#forms(generation, words, withTypos),
      documentFrequencies: (terms) => this.kernel.documentFrequencies(generation, terms),
      kept: (key, work) => this.#kept(`${generation} ${key}`, work),
    };
  }

  #kept<Value>(key: string, work: () => Value): Value {
    const kept = this.#answers.get(key);
    if (kept !== undefined) return kept as Value;
    const answer = work();
    if (this.#answers.size >= ANSWERS_MAX) this.#answers.clear();
    this.#answers.set(key, answer);
    return answer;
  }

  #forms(generation: GenerationHandle, words: readonly string[], withTypos: boolean): readonly WordForms[] {
    const { name, kept: all } = this.#vocabulary(generation);
    const kept = all[withTypos ? 'typos' : 'plain'];
    const other = words.filter((word) => kept.get(word)?.vocabulary !== name);
    const missing = other.length > 0 ? this.#affected(generation, name, other, kept) : other;
    const asked = missing.length > 0 ? this.#ask(generation, missing, withTypos) : NONE_ASKED;
    const forms = words.map((word) => (asked.get(word) ?? kept.get(word)?.forms) as WordForms);
    if (kept.size + asked.size > WORDS_MAX) kept.clear();
    for (const [word, found] of asked) if (kept.size < WORDS_MAX) kept.set(word, { forms: found, vocabulary: name });
    return forms;
  }

  /** Those of the words whose forms may be others than are kept, or of which none are. */
  #affected(
    generation: GenerationHandle,
    name: number,
    words: readonly string[],
    kept: FormsByWord,
  ): readonly string[] {
    const known = words.flatMap((word) => {
      const entry = kept.get(word);
      return entry === undefined ? [] : [{ word, entry }];
    });
    if (known.length === 0) return words;
    const affected = this.kernel.affectedWords(
      generation,
      known.map(({ word }) => word),
      known.map(({ word }) => editsAllowed(word)),
      known.map(({ entry }) => entry.vocabulary),
    );
    known.forEach(({ entry }, index) => {
      if (affected[index] === 0) entry.vocabulary = name;
    });
    return words.filter((word) => kept.get(word)?.vocabulary !== name);
  }

  /** The forms of words that are not known of the generation: worked out only where none of an earlier one are the same. */
  #ask(generation: GenerationHandle, words: readonly string[], withTypos: boolean): ReadonlyMap<string, WordForms> {
    const asked = new Map<string, WordForms>();
    const editsMax = words.map((word) => (withTypos ? editsAllowed(word) : 0));
    const names = this.kernel.nameExpansions(generation, words, { ...BOUNDS, editsMax });
    const unnamed = words.flatMap((word, index) => {
      const name = names[index] as number;
      const forms = name === NOTHING_KNOWN_NAME ? NOTHING_KNOWN : this.#byName.get(name);
      if (forms !== undefined) asked.set(word, forms);
      return forms === undefined ? [{ word, name, edits: editsMax[index] as number }] : [];
    });
    if (unnamed.length === 0) return asked;
    const expansions = this.kernel.expand(
      generation,
      unnamed.map(({ word }) => word),
      { ...BOUNDS, editsMax: unnamed.map(({ edits }) => edits) },
    );
    unnamed.forEach(({ word, name }, index) => {
      const forms = formsOf(word, expansions[index] as WordExpansion);
      asked.set(word, forms);
      this.#byName.set(name, forms);
    });
    return asked;
  }

  #vocabulary(generation: GenerationHandle): Vocabulary {
    if (this.#latest?.generation === generation) return this.#latest.vocabulary;
    const { name, root } = this.kernel.vocabulary(generation);
    const kept = this.#byRoot.get(root) ?? { plain: new Map(), typos: new Map() };
    this.#byRoot.renew(root, kept);
    const vocabulary = { name, kept };
    this.#latest = { generation, vocabulary };
    return vocabulary;
  }
}

/** What the kernel calls it where the list has neither the word nor anything like it. */
const NOTHING_KNOWN_NAME = 0;
const NOTHING_KNOWN: WordForms = Object.freeze({
  isKnown: false,
  stems: Object.freeze([]),
  compounds: Object.freeze([]),
  typos: Object.freeze([]),
});
const NONE_ASKED: ReadonlyMap<string, WordForms> = new Map();

function formsOf(word: string, expansion: WordExpansion): WordForms {
  return Object.freeze({
    isKnown: expansion.documentFrequency > 0 || expansion.stems.length > 0,
    stems: Object.freeze(expansion.stems.map(({ term }) => term)),
    compounds: Object.freeze(expansion.compounds.map(({ term }) => term)),
    typos: Object.freeze(chooseTypos(word, expansion)),
  });
}
