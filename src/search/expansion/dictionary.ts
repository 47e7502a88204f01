/**
 * Caches the expansions of words from a list's dictionary, chosen and weighted. Popular words recur in query after
 * query, and asking the kernel and weighing a hundred near terms costs more than the rest of a plan. Belongs to one
 * thread.
 */
import { BoundedMap } from '../../platform/index.js';
import type { GenerationHandle, Kernel, WordExpansion } from '../../../native-bindings/index.js';
import { COMPLETIONS_MAX, COMPOUNDS_MAX, STEMS_MAX, TYPO_CANDIDATES_MAX } from './expansion-weights.js';
import { chooseTypos, editsAllowed, type ChosenTypo } from './typo-choice.js';

/** Terms of the list that a word may stand for besides itself. */
export interface WordForms {
  /** True if the list has the word itself or another form of its stem. */
  readonly isKnown: boolean;
  /** Other terms with the word's stem, most frequent first. */
  readonly stems: readonly string[];
  /** Terms that contain the word, most frequent first. */
  readonly compounds: readonly string[];
  /** Most plausible first. Empty if none were asked for. */
  readonly typos: readonly ChosenTypo[];
}

export interface Dictionary {
  /** Returns the forms in the order of `words`, which are folded. */
  forms(words: readonly string[], withTypos: boolean): readonly WordForms[];
  /** Returns the document frequency of each term; 0 if the list lacks it. */
  documentFrequencies(terms: readonly string[]): ArrayLike<number>;
  /**
   * Returns three document frequencies for each place between two characters of the word: of the rarer of the two parts,
   * and of both in one term with `.` and with `_` between them (`Kernel.findSplits`).
   */
  splits(word: string): Uint32Array;
  /** Returns true if a record has the two words next to each other, in this order. */
  areNeighbours(left: string, right: string): boolean;
  /**
   * Returns terms that begin with the word up to that many edits, nearest first, then most frequent. May include the
   * word itself.
   */
  completions(word: string, edits: number): readonly string[];
  /** Returns the result of `work` for this kind of question about a word. Cached as long as the list does not change. */
  kept<Part>(kind: string, word: string, work: () => readonly Part[]): readonly Part[];
  /** The same for two words. Nothing is put together to look them up: each query asks for all its pairs. */
  keptPair<Part>(first: string, second: string, work: () => readonly Part[]): readonly Part[];
}

const VOCABULARIES_MAX = 32;
/** Words cached per vocabulary. A full map is cleared. */
const WORDS_MAX = 8192;
/** Words cached over all vocabularies. The least recently used vocabulary is evicted first. */
const WORDS_OF_ALL_MAX = 16_384;
/**
 * Generations whose answers are cached. Each write makes a new generation, after which earlier ones are rarely
 * searched.
 */
const ANSWERED_GENERATIONS_MAX = 256;
/** Answers cached over all generations. All are dropped when the limit is reached. */
const ANSWERS_MAX = 16_384;
/** Named forms cached over all generations. The oldest is evicted first. */
const NAMED_FORMS_MAX = 8192;

const BOUNDS = { stemsMax: STEMS_MAX, typosMax: TYPO_CANDIDATES_MAX, prefixesMax: 0, compoundsMax: COMPOUNDS_MAX };

interface KeptWord {
  readonly forms: WordForms;
  /** Last vocabulary for which the forms are known to be right. */
  vocabulary: number;
}
type FormsByWord = Map<string, KeptWord>;
/** Forms without typos, and with typos. */
interface KeptForms {
  readonly plain: FormsByWord;
  readonly typos: FormsByWord;
}
/** Cached words of a generation, and the kernel's name for its set of terms. */
interface Vocabulary {
  readonly name: number;
  readonly kept: KeptForms;
}
/** Answers by the first part of what was asked, and then by the second. */
type AnswerTable = Map<string, Map<string, readonly unknown[]>>;
/** Cached answers of a generation: by kind of question and word, and by two words. */
interface KeptAnswers {
  readonly words: AnswerTable;
  readonly pairs: AnswerTable;
}
type DictionaryKernel = Pick<
  Kernel,
  | 'completeWord'
  | 'expand'
  | 'nameExpansions'
  | 'vocabulary'
  | 'affectedWords'
  | 'documentFrequencies'
  | 'findSplits'
  | 'areNeighbours'
>;

const ofThreads = new WeakMap<DictionaryKernel, Dictionaries>();

export class Dictionaries {
  /**
   * By root of the vocabulary, least recently used first. Most writes add few terms, so generations with one root share
   * their words.
   */
  readonly #byRoot = new Map<number, KeptForms>();
  #words = 0;
  /**
   * Last generation used, which nearly always is the next one too: moving an entry to the end of a Map makes the Map
   * rehash again and again.
   */
  #latest: { readonly generation: GenerationHandle; readonly vocabulary: Vocabulary } | undefined;
  /**
   * By generation (least recently used first). Unlike words, answers are not carried over to the next generation: a
   * commit may change any of them.
   */
  readonly #answers = new Map<GenerationHandle, KeptAnswers>();
  #answerCount = 0;
  /** Last generation used, as for #latest. */
  #latestAnswers: { readonly generation: GenerationHandle; readonly answers: KeptAnswers } | undefined;
  /**
   * By the kernel's name for what the dictionary says about a word. After a write that adds a few terms, nearly all
   * names are unchanged.
   */
  readonly #byName = new BoundedMap<number, WordForms>(NAMED_FORMS_MAX);

  #ofLatest: GenerationDictionary | undefined;

  constructor(private readonly kernel: DictionaryKernel) {}

  /**
   * Returns the dictionaries of this thread, shared by searches and suggestions, which ask for the same words of the
   * same lists.
   */
  static ofThread(kernel: DictionaryKernel): Dictionaries {
    const known = ofThreads.get(kernel) ?? new Dictionaries(kernel);
    ofThreads.set(kernel, known);
    return known;
  }

  of(generation: GenerationHandle): Dictionary {
    if (this.#ofLatest?.generation !== generation)
      this.#ofLatest = new GenerationDictionary(this, this.kernel, generation);
    return this.#ofLatest;
  }

  /** Numbers of cached words and answers, which determine the memory a thread uses. */
  get sizes(): { readonly words: number; readonly answers: number } {
    return { words: this.#words, answers: this.#answerCount };
  }

  /** Returns the result of `work` for these parts of a question, and caches it in the table of a generation. */
  kept<Part>(table: AnswerTable, first: string, second: string, work: () => readonly Part[]): readonly Part[] {
    const kept = table.get(first)?.get(second);
    if (kept !== undefined) return kept as readonly Part[];
    const answer = work();
    if (this.#answerCount >= ANSWERS_MAX) this.#forgetAnswers();
    const answers = table.get(first) ?? new Map<string, readonly unknown[]>();
    table.set(first, answers);
    // Most answers are empty and share one array.
    answers.set(second, answer.length === 0 ? NONE : answer);
    this.#answerCount += 1;
    return answer;
  }

  /** Returns the cached answers of a generation. */
  answersOf(generation: GenerationHandle): KeptAnswers {
    if (this.#latestAnswers?.generation === generation) return this.#latestAnswers.answers;
    const answers = this.#answers.get(generation) ?? { words: new Map(), pairs: new Map() };
    this.#answers.delete(generation);
    this.#answers.set(generation, answers);
    for (const [oldest, { words, pairs }] of this.#answers) {
      if (this.#answers.size <= ANSWERED_GENERATIONS_MAX) break;
      this.#answerCount -= sizeOf(words) + sizeOf(pairs);
      this.#answers.delete(oldest);
    }
    this.#latestAnswers = { generation, answers };
    return answers;
  }

  #forgetAnswers(): void {
    for (const { words, pairs } of this.#answers.values()) for (const table of [words, pairs]) table.clear();
    this.#answerCount = 0;
  }

  /** Returns the forms of words in a generation, as `Dictionary.forms` does. */
  forms(generation: GenerationHandle, words: readonly string[], withTypos: boolean): readonly WordForms[] {
    const { name, kept: all } = this.#vocabulary(generation);
    const kept = all[withTypos ? 'typos' : 'plain'];
    // Nearly all searches ask only for words that are cached for this vocabulary.
    const current: WordForms[] = [];
    for (const word of words) {
      const entry = kept.get(word);
      if (entry?.vocabulary !== name) break;
      current.push(entry.forms);
    }
    if (current.length === words.length) return current;
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
    // The last entry is the one in use now.
    for (const [root, { plain, typos }] of this.#byRoot) {
      if ((this.#words <= WORDS_OF_ALL_MAX && this.#byRoot.size <= VOCABULARIES_MAX) || this.#byRoot.size === 1) return;
      this.#words -= plain.size + typos.size;
      this.#byRoot.delete(root);
    }
  }

  /** Returns the words that are not cached, or whose forms may have changed since they were. */
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

  /**
   * Returns the forms of words not cached for this generation. Asks the kernel to expand only words whose named forms
   * are not cached either.
   */
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

/** The dictionary of one generation. A class, since object literals of functions are made anew for each search. */
class GenerationDictionary implements Dictionary {
  constructor(
    private readonly dictionaries: Dictionaries,
    private readonly kernel: DictionaryKernel,
    readonly generation: GenerationHandle,
  ) {}

  forms(words: readonly string[], withTypos: boolean): readonly WordForms[] {
    return this.dictionaries.forms(this.generation, words, withTypos);
  }

  documentFrequencies(terms: readonly string[]): ArrayLike<number> {
    return this.kernel.documentFrequencies(this.generation, terms);
  }

  splits(word: string): Uint32Array {
    return this.kernel.findSplits(this.generation, word);
  }

  areNeighbours(left: string, right: string): boolean {
    return this.kernel.areNeighbours(this.generation, left, right);
  }

  completions(word: string, edits: number): readonly string[] {
    return this.kept(`begins ${edits}`, word, () =>
      this.kernel.completeWord(this.generation, word, edits, COMPLETIONS_MAX).map(({ term }) => term),
    );
  }

  kept<Part>(kind: string, word: string, work: () => readonly Part[]): readonly Part[] {
    return this.dictionaries.kept(this.dictionaries.answersOf(this.generation).words, kind, word, work);
  }

  keptPair<Part>(first: string, second: string, work: () => readonly Part[]): readonly Part[] {
    return this.dictionaries.kept(this.dictionaries.answersOf(this.generation).pairs, first, second, work);
  }
}

const NONE: readonly never[] = Object.freeze([]);
/** The kernel's name if the list has neither the word nor anything like it. */
const NOTHING_KNOWN_NAME = 0;
const NOTHING_KNOWN: WordForms = Object.freeze({
  isKnown: false,
  stems: NONE,
  compounds: NONE,
  typos: NONE,
});
const NONE_ASKED: ReadonlyMap<string, WordForms> = new Map();

function sizeOf(table: AnswerTable): number {
  return [...table.values()].reduce((sum, { size }) => sum + size, 0);
}

function formsOf(word: string, expansion: WordExpansion): WordForms {
  return Object.freeze({
    isKnown: expansion.documentFrequency > 0 || expansion.stems.length > 0,
    stems: orNone(expansion.stems.map(({ term }) => term)),
    compounds: orNone(expansion.compounds.map(({ term }) => term)),
    typos: orNone(chooseTypos(word, expansion)),
  });
}

/** Returns the parts frozen. Empty arrays, which most words have, are shared. */
function orNone<Part>(parts: readonly Part[]): readonly Part[] {
  return parts.length === 0 ? NONE : Object.freeze(parts);
}
