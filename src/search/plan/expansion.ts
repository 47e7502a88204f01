/**
 * Query words to weighted alternatives: the stage where stems, typos and synonyms join what was typed. Each expander adds
 * to what those before it found; the word as typed, with weight 1, is always the first alternative.
 */
import type { Alternative } from './plan-nodes.js';

export interface ExpansionContext {
  readonly language: string;
  readonly typoTolerance: boolean;
}

export interface Expander {
  /** Further alternatives for a word; `found` are those there are by now. */
  expand(word: string, found: readonly Alternative[], context: ExpansionContext): readonly Alternative[];
}

/** Order matters. Stems, typos and synonyms register here. */
export const EXPANDERS: readonly Expander[] = [];

export function expandWord(
  word: string,
  context: ExpansionContext,
  expanders: readonly Expander[] = EXPANDERS,
): readonly Alternative[] {
  const found: Alternative[] = [Object.freeze({ weight: 1, terms: Object.freeze([word]) })];
  for (const expander of expanders) found.push(...expander.expand(word, found, context));
  return Object.freeze(found);
}
