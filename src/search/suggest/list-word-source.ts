/**
 * Completions of the last word by words of the list, in the context of the words before it: only such as give results
 * together with them. Belongs to one thread.
 */
import type { ExpandedTerm, GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { MATCH_ALL, parseResult, QueryPlanWriter, type PlanGroup } from '../../../native-bindings/query-plan.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { ListContext } from '../execution/list-context.js';
import { escapeHtml, marked } from './marking.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
} from './suggestion-source.js';

/** Completions that are looked for and, in a context, counted. Rare words before make a count cheap, frequent ones end it soon. */
const COMPLETIONS_MAX = 48;
const COUNTED_TOGETHER = 8;
/** Words before the last one that count as context: the nearest. */
const CONTEXT_WORDS_MAX = 8;
/** What a word that the list does not know may have been. */
const CORRECTIONS_MAX = 3;
/** Beginnings so short have the most words and are typed the most. */
const CACHED_CHARACTERS_MAX = 2;
const CACHED_COMPLETIONS_MAX = 2048;
const LETTER_OR_DIGIT_AT_END = /[\p{L}\p{N}\p{M}]$/u;

interface Typed {
  /** Everything before the last word, as it was typed. */
  readonly before: string;
  readonly contextWords: readonly string[];
  /** Folded. */
  readonly lastWord: string;
}

interface ContextWord {
  readonly word: string;
  /** The word itself, or what it is taken for; empty: nothing in the list is like it. */
  readonly terms: readonly string[];
}

export class ListWordSource implements SuggestionSource {
  private readonly planWriter = new QueryPlanWriter();
  private readonly cached = new Map<string, readonly ExpandedTerm[]>();

  constructor(private readonly kernel: Kernel) {}

  suggest(_list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const typed = this.readTyped(request.text);
    if (typed === undefined) return [];
    const context = this.context(generation, typed.contextWords, request.typoTolerance);
    if (context.some(({ terms }) => terms.length === 0)) return [];
    if (
      context.length > 0 &&
      this.count(
        generation,
        context.map(({ terms }) => terms),
      ) === 0
    )
      return [];
    const isCorrected = context.some(({ word, terms }) => terms[0] !== word);
    const before = isCorrected ? `${context.map(({ terms }) => terms[0]).join(' ')} ` : typed.before;
    const found = this.completions(generation, context, typed.lastWord, request);
    return found.map(({ term, distance, documentFrequency }) => ({
      text: before + term,
      kind: 'query',
      highlight:
        (isCorrected ? marked(before) : escapeHtml(before)) +
        (distance > 0 ? marked(term) : escapeHtml(typed.lastWord) + marked(term.slice(typed.lastWord.length))),
      tier: distance > 0 || isCorrected ? SUGGESTION_TIERS.corrected : SUGGESTION_TIERS.word,
      recordCount: documentFrequency,
    }));
  }

  /** Undefined where no word is being typed. */
  private readTyped(text: string): Typed | undefined {
    if (!LETTER_OR_DIGIT_AT_END.test(text)) return undefined;
    const segmented = segmentForKernel(text);
    const tokens = this.kernel.analyse(segmented);
    const last = tokens.at(-1);
    if (last === undefined) return undefined;
    const contextWords = tokens.slice(0, -1).map(({ term }) => term);
    const before = segmented.slice(0, last.begin).replaceAll('\u200b', '');
    return { before, contextWords: contextWords.slice(-CONTEXT_WORDS_MAX), lastWord: last.term };
  }

  private context(generation: GenerationHandle, words: readonly string[], typoTolerance: boolean): ContextWord[] {
    if (words.length === 0) return [];
    const expansions = this.kernel.expand(generation, words, {
      editsMax: words.map((word) => editsAllowed(word, typoTolerance)),
      stemsMax: 0,
      typosMax: CORRECTIONS_MAX,
      prefixesMax: 0,
    });
    return words.map((word, index) => {
      const expansion = expansions[index];
      const isKnown = (expansion?.documentFrequency ?? 0) > 0;
      return { word, terms: isKnown ? [word] : (expansion?.typos ?? []).map(({ term }) => term) };
    });
  }

  /** Misspelt ones only where there are no others. */
  private completions(
    generation: GenerationHandle,
    context: readonly ContextWord[],
    lastWord: string,
    { size, typoTolerance }: SuggestionRequest,
  ): readonly ExpandedTerm[] {
    const exact = this.withResults(generation, context, this.exactCompletions(generation, lastWord), size);
    const edits = editsAllowed(lastWord, typoTolerance);
    if (edits === 0 || exact.length > 0) return exact;
    const near = this.kernel.completeWord(generation, lastWord, edits, COMPLETIONS_MAX);
    return this.withResults(generation, context, near, size);
  }

  private exactCompletions(generation: GenerationHandle, lastWord: string): readonly ExpandedTerm[] {
    if (lastWord.length > CACHED_CHARACTERS_MAX)
      return this.kernel.completeWord(generation, lastWord, 0, COMPLETIONS_MAX);
    const key = `${generation} ${lastWord}`;
    let found = this.cached.get(key);
    if (found === undefined) {
      found = this.kernel.completeWord(generation, lastWord, 0, COMPLETIONS_MAX);
      if (this.cached.size >= CACHED_COMPLETIONS_MAX) this.cached.delete(this.cached.keys().next().value as string);
      this.cached.set(key, found);
    }
    return found;
  }

  /** Those that give results, with the number of these in the place of the document frequency. */
  private withResults(
    generation: GenerationHandle,
    context: readonly ContextWord[],
    completions: readonly ExpandedTerm[],
    size: number,
  ): ExpandedTerm[] {
    const { documentCount, liveCount } = this.kernel.generationInfo(generation);
    // Without deletions, the document frequency of a word alone is the number of its results.
    if (context.length === 0 && documentCount === liveCount) return completions.slice(0, size);
    const found: ExpandedTerm[] = [];
    const before = context.map(({ terms }) => terms);
    for (let first = 0; first < completions.length && found.length < size; first += COUNTED_TOGETHER) {
      const some = completions.slice(first, first + COUNTED_TOGETHER);
      // After rare words, most completions give nothing, which is seen of several at once.
      if (this.count(generation, [...before, some.map(({ term }) => term)]) === 0) continue;
      for (const completion of some) {
        if (found.length >= size) break;
        const documentFrequency = this.count(generation, [...before, [completion.term]]);
        if (documentFrequency > 0) found.push({ ...completion, documentFrequency });
      }
    }
    return found.sort((a, b) => a.distance - b.distance || b.documentFrequency - a.documentFrequency);
  }

  /** Records that hold one of the terms of each word. */
  private count(generation: GenerationHandle, words: readonly (readonly string[])[]): number {
    const groups = words.map((terms): PlanGroup => ({
      occur: 'must',
      boost: 1,
      alternatives: terms.map((term) => ({ weight: 1, terms: [term] })),
    }));
    const plan = { needTotal: true, skip: 0, size: 0, groups, filter: MATCH_ALL, sort: [], facets: [] };
    return parseResult(this.kernel.search(generation, this.planWriter.write(plan))).total;
  }
}
