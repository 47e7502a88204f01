/**
 * What a list's dictionary knows about words, chosen and weighed, kept a generation: popular words come again with every
 * query, and asking the kernel and weighing a hundred near terms costs more than the rest of a plan. Belongs to one thread.
 */
import type { GenerationHandle, Kernel, WordExpansion } from '../../../native-bindings/index.js';
import { STEMS_MAX, TYPO_CANDIDATES_MAX } from './expansion-weights.js';
import { chooseTypos, editsAllowed, type ChosenTypo } from './typo-choice.js';

/** Terms of the list that a word may stand for besides itself. */
export interface WordForms {
  /** Whether the list has the word itself or a form of it. */
  readonly isKnown: boolean;
  /** Other terms of the word's stem, the most frequent first. */
  readonly stems: readonly string[];
  /** The most plausible first; empty where none were asked for. */
  readonly typos: readonly ChosenTypo[];
}

export interface Dictionary {
  /** In the order of the words, which are folded. */
  forms(words: readonly string[], withTypos: boolean): readonly WordForms[];
  /** Documents that hold each term; 0 where the list lacks it. */
  documentFrequencies(terms: readonly string[]): ArrayLike<number>;
}

const GENERATIONS_MAX = 32;
/** Of one generation; a map that is full starts anew. */
const WORDS_MAX = 8192;

type FormsByWord = Map<string, WordForms>;

export class Dictionaries {
  /** In the order of use, the least recent first. */
  readonly #byGeneration = new Map<GenerationHandle, { readonly plain: FormsByWord; readonly typos: FormsByWord }>();

  constructor(private readonly kernel: Pick<Kernel, 'expand' | 'documentFrequencies'>) {}

  of(generation: GenerationHandle): Dictionary {
    return {
      forms: (words, withTypos) => this.#forms(generation, words, withTypos),
      documentFrequencies: (terms) => this.kernel.documentFrequencies(generation, terms),
    };
  }

  #forms(generation: GenerationHandle, words: readonly string[], withTypos: boolean): readonly WordForms[] {
    const kept = this.#kept(generation)[withTypos ? 'typos' : 'plain'];
    const missing = words.filter((word) => !kept.has(word));
    const asked = new Map<string, WordForms>();
    if (missing.length > 0) {
      const expansions = this.kernel.expand(generation, missing, {
        editsMax: missing.map((word) => (withTypos ? editsAllowed(word) : 0)),
        stemsMax: STEMS_MAX,
        typosMax: withTypos ? TYPO_CANDIDATES_MAX : 0,
        prefixesMax: 0,
      });
      missing.forEach((word, index) => asked.set(word, formsOf(word, expansions[index] as WordExpansion)));
    }
    const forms = words.map((word) => (kept.get(word) ?? asked.get(word)) as WordForms);
    if (kept.size + asked.size > WORDS_MAX) kept.clear();
    for (const [word, found] of asked) if (kept.size < WORDS_MAX) kept.set(word, found);
    return forms;
  }

  #kept(generation: GenerationHandle): { readonly plain: FormsByWord; readonly typos: FormsByWord } {
    const kept = this.#byGeneration.get(generation) ?? { plain: new Map(), typos: new Map() };
    this.#byGeneration.delete(generation);
    if (this.#byGeneration.size >= GENERATIONS_MAX) {
      this.#byGeneration.delete(this.#byGeneration.keys().next().value as GenerationHandle);
    }
    this.#byGeneration.set(generation, kept);
    return kept;
  }
}

function formsOf(word: string, expansion: WordExpansion): WordForms {
  return Object.freeze({
    isKnown: expansion.documentFrequency > 0 || expansion.stems.length > 0,
    stems: Object.freeze(expansion.stems.map(({ term }) => term)),
    typos: Object.freeze(chooseTypos(word, expansion)),
  });
}
