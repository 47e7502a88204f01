/** Chooses the near terms that a word may have been meant as, and their weights. */
import type { WordExpansion } from '../../../native-bindings/index.js';
import { editSurcharge } from './edit-cost.js';
import {
  INFLECTED_WORD_BEST_TYPO_WEIGHT,
  KNOWN_WORD_TYPO_WEIGHTS,
  KNOWN_WORD_TYPOS_MAX,
  ONE_EDIT_LETTERS_MIN,
  TWO_EDITS_LETTERS_MIN,
  TYPO_SURCHARGE_SHARE,
  UNKNOWN_WORD_BEST_TYPO_WEIGHT,
  UNKNOWN_WORD_TYPO_PROPORTIONS,
  UNKNOWN_WORD_TYPOS_MAX,
} from './expansion-weights.js';

export interface ChosenTypo {
  readonly term: string;
  readonly weight: number;
}

const DIGIT = /\p{N}/u;

/** Returns the number of edits forgiven in a word: 1 from 4 letters, 2 from 8, none in words with digits. */
export function editsAllowed(word: string): 0 | 1 | 2 {
  if (word.length < ONE_EDIT_LETTERS_MIN || DIGIT.test(word)) return 0;
  const letters = Array.from(word).length;
  return letters >= TWO_EDITS_LETTERS_MIN ? 2 : letters >= ONE_EDIT_LETTERS_MIN ? 1 : 0;
}

/**
 * Returns the most plausible typos first. Equally plausible ones keep the order of the dictionary, nearer before more
 * frequent. The choice does not depend on the frequencies themselves, which every write changes.
 */
export function chooseTypos(word: string, expansion: WordExpansion): readonly ChosenTypo[] {
  if (expansion.typos.length === 0) return [];
  const hasWord = expansion.documentFrequency > 0;
  const weights = hasWord ? KNOWN_WORD_TYPO_WEIGHTS : UNKNOWN_WORD_TYPO_PROPORTIONS;
  const chosen = expansion.typos.map((candidate) => ({
    candidate,
    weight: (weights[candidate.distance - 1] ?? 0) / (1 + TYPO_SURCHARGE_SHARE * editSurcharge(word, candidate.term)),
  }));
  const best = chosen.reduce((greatest, { weight }) => Math.max(greatest, weight), 0);
  const isInOthers = expansion.stems.length > 0 || expansion.compounds.length > 0;
  const wanted = isInOthers ? INFLECTED_WORD_BEST_TYPO_WEIGHT : UNKNOWN_WORD_BEST_TYPO_WEIGHT;
  const scale = hasWord ? 1 : wanted / best;
  return chosen
    .sort((left, right) => right.weight - left.weight)
    .slice(0, hasWord ? KNOWN_WORD_TYPOS_MAX : UNKNOWN_WORD_TYPOS_MAX)
    .map(({ candidate, weight }) => ({ term: candidate.term, weight: weight * scale }));
}
