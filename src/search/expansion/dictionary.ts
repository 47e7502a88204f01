/**
 * What a list's dictionary knows about words, chosen and weighed, and kept: popular words come again with every query, and
 * asking the kernel and weighing a hundred near terms costs more than the rest of a plan. Belongs to one thread.
 */
import { BoundedMap } from '../../platform/index.js';
import type { GenerationHandle, Kernel, WordExpansion } from '../../../native-bindings/index.js';
import { COMPLETIONS_MAX, COMPOUNDS_MAX, STEMS_MAX, TYPO_CANDIDATES_MAX } from './expansion-weights.js';
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
  /** Terms that begin with the word but for so many edits, the nearest first, then the most frequent; the word itself may be among them. */
  completions(word: string, edits: number): readonly string[];
  /** What `work` made of the list's words for this key, kept as long as the list is the same. */
  kept<Part>(key: string, work: () => readonly Part[]): readonly Part[];
}

const VOCABULARIES_MAX = 32;
/** Of one vocabulary; a map that is full starts anew. */
const WORDS_MAX = 8192;
/** Of all vocabularies; those that were not asked for the longest time go first. */
const WORDS_OF_ALL_MAX = 16_384;
/** Generations of which answers are kept: with each write there is another, and of those before few are searched again. */
const ANSWERED_GENERATIONS_MAX = 256;
/** Over all generations; when they are so many, all are worked out anew. */
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
  'completeWord' | 'expand' | 'nameExpansions' | 'vocabulary' | 'affectedWords' | 'documentFrequencies'
>;

const ofThreads = new WeakMap<DictionaryKernel, Dictionaries>();

export class Dictionaries {
  /** By the root of the vocabulary, in the order of use, the least recent first: most writes bring few new terms. */
  readonly #byRoot = new Map<number, KeptForms>();
  #words = 0;
  /** Putting an entry last makes a map grow anew time and again; this one nearly always is. */
  #latest: { readonly generation: GenerationHandle; readonly vocabulary: Vocabulary } | undefined;
  /** By generation, in the order of use, and key: popular words come with every query, and a commit may change what is kept of any. */
  readonly #answers = new Map<GenerationHandle, Map<string, readonly unknown[]>>();
  #answerCount = 0;
  /** As above. */
  #latestAnswers:
    { readonly generation: GenerationHandle; readonly answers: Map<string, readonly unknown[]> } | undefined;
  /** By the kernel's name for what the dictionaries say about a word: with a few terms more, nearly every name is an old one. */
  readonly #byName = new BoundedMap<number, WordForms>(NAMED_FORMS_MAX);

  constructor(private readonly kernel: DictionaryKernel) {}

  /** Those of this thread, where searches and suggestions ask for the same words of the same lists. */
  static ofThread(kernel: DictionaryKernel): Dictionaries {
    const known = ofThreads.get(kernel) ?? new Dictionaries(kernel);
    ofThreads.set(kernel, known);
    return known;
  }

  of(generation: GenerationHandle): Dictionary {
    return {
      forms: (words, withTypos) => this.#forms(generation, words, withTypos),
      documentFrequencies: (terms) => this.kernel.documentFrequencies(generation, terms),
      completions: (word, edits) =>
        this.#kept(generation, `begins ${edits} ${word}`, () =>
          this.kernel.completeWord(generation, word, edits, COMPLETIONS_MAX).map(({ term }) => term),
        ),
      kept: (key, work) => this.#kept(generation, key, work),
    };
  }

  /** Words and answers that are kept now: what a thread takes is by these. */
  get sizes(): { readonly words: number; readonly answers: number } {
    return { words: this.#words, answers: this.#answerCount };
  }

  #kept<Part>(generation: GenerationHandle, key: string, work: () => readonly Part[]): readonly Part[] {
    const answers = this.#answersOf(generation);
    const kept = answers.get(key);
    if (kept !== undefined) return kept as readonly Part[];
    const answer = work();
    if (this.#answerCount >= ANSWERS_MAX) this.#forgetAnswers();
    // Most are empty: one for all of them.
    answers.set(key, answer.length === 0 ? NONE : answer);
    this.#answerCount += 1;
    return answer;
  }

  #answersOf(generation: GenerationHandle): Map<string, readonly unknown[]> {
    if (this.#latestAnswers?.generation === generation) return this.#latestAnswers.answers;
    const answers = this.#answers.get(generation) ?? new Map<string, readonly unknown[]>();
    this.#answers.delete(generation);
    this.#answers.set(generation, answers);
    for (const [oldest, { size }] of this.#answers) {
      if (this.#answers.size <= ANSWERED_GENERATIONS_MAX) break;
      this.#answerCount -= size;
      this.#answers.delete(oldest);
    }
    this.#latestAnswers = { generation, answers };
    return answers;
  }

  #forgetAnswers(): void {
    for (const answers of this.#answers.values()) answers.clear();
    this.#answerCount = 0;
  }

  #forms(generation: GenerationHandle, words: readonly string[], withTypos: boolean): readonly WordForms[] {
    const { name, kept: all } = this.#vocabulary(generation);
    const kept = all[withTypos ? 'typos' : 'plain'];
    const other = words.filter((word) => kept.get(word)?.vocabulary !== name);
    const missing = other.length > 0 ? this.#affected(generation, name, other, kept) : other;
    const asked = missing.length > 0 ? this.#ask(generation, missing, withTypos) : NONE_ASKED;
    const forms = words.map((word) => (asked.get(word) ?? kept.get(word)?.forms) as WordForms);
    this.#keep(kept, name, asked);
    return forms;
  }

  #keep(kept: FormsByWord, vocabulary: number, asked: ReadonlyMap<string, WordForms>): void {
    const before = kept.size;
    if (before + asked.size > WORDS_MAX) kept.clear();
    for (const [word, forms] of asked) if (kept.size < WORDS_MAX) kept.set(word, { forms, vocabulary });
    this.#words += kept.size - before;
    // The last is the one that is asked now.
    for (const [root, { plain, typos }] of this.#byRoot) {
      if ((this.#words <= WORDS_OF_ALL_MAX && this.#byRoot.size <= VOCABULARIES_MAX) || this.#byRoot.size === 1) return;
      this.#words -= plain.size + typos.size;
      this.#byRoot.delete(root);
    }
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
    this.#byRoot.delete(root);
    this.#byRoot.set(root, kept);
    const vocabulary = { name, kept };
    this.#latest = { generation, vocabulary };
    return vocabulary;
  }
}

const NONE: readonly never[] = Object.freeze([]);
/** What the kernel calls it where the list has neither the word nor anything like it. */
const NOTHING_KNOWN_NAME = 0;
const NOTHING_KNOWN: WordForms = Object.freeze({
  isKnown: false,
  stems: NONE,
  compounds: NONE,
  typos: NONE,
});
const NONE_ASKED: ReadonlyMap<string, WordForms> = new Map();

function formsOf(word: string, expansion: WordExpansion): WordForms {
  return Object.freeze({
    isKnown: expansion.documentFrequency > 0 || expansion.stems.length > 0,
    stems: orNone(expansion.stems.map(({ term }) => term)),
    compounds: orNone(expansion.compounds.map(({ term }) => term)),
    typos: orNone(chooseTypos(word, expansion)),
  });
}

/** Of thousands of words most have one of the three or none: what is empty is one for all. */
function orNone<Part>(parts: readonly Part[]): readonly Part[] {
  return parts.length === 0 ? NONE : Object.freeze(parts);
}
