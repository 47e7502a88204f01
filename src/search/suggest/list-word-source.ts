/**
 * Completes the last word with words of the list, in the context of the words before it: only completions that give
 * results together with these. Words of an index are folded; what is shown is how records write them, and of the typed
 * words, those that were typed with marks stay as they are. If a dictionary cuts the typed text, the last word may span several of the cut words:
 * 東京タ begins 東京タワー, which is one word. Belongs to one thread.
 */
import type { ExpandedTerm, GenerationHandle, Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import { queryWords, type QueryWord } from '../expansion/query-words.js';
import type { ListContext } from '../execution/list-context.js';
import { escapeHtml, marked, typedLength } from './marking.js';
import type { Place, QuerySpelling } from './query-spelling.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
  type Written,
} from './suggestion-source.js';

/** Completions tried if there are words before; counting stops when enough of them give results. */
const COMPLETIONS_MAX = 48;
/** Words before the last one that count as context: the nearest ones. */
const CONTEXT_WORDS_MAX = 8;
/** Corrections tried for a word that the list does not know. */
const CORRECTIONS_MAX = 3;
/** Words cut by a dictionary that may together be the beginning of one. */
const JOINED_WORDS_MAX = 4;
/** Mark after each word that a dictionary found (native-bindings/segmentation.ts). */
const CUT = '\u200b';
/** A sign that may belong to the last word: `C#`, `C++`. */
const SIGN_AT_END = /[#+]$/;
const LETTER_OR_DIGIT_AT_END = /[\p{L}\p{N}\p{M}]$/u;

interface TypedWord {
  /** Folded. */
  readonly word: string;
  readonly typed: string;
}

interface Typed {
  /** Everything before the last word, as typed. */
  readonly before: string;
  /** The nearest words before the last one. */
  readonly contextWords: readonly TypedWord[];
  /** Folded. */
  readonly lastWord: string;
}

interface ContextWord extends TypedWord {
  /** The word itself, or its corrections. Empty if the list has nothing like it. */
  readonly terms: readonly string[];
}

/** A word before the last one, as one suggestion has it. */
interface ReadWord extends TypedWord {
  /** The word itself, or one of its corrections. */
  readonly term: string;
}

export class ListWordSource implements SuggestionSource {
  constructor(
    private readonly kernel: Kernel,
    private readonly spelling: QuerySpelling,
  ) {}

  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const [asCut, ...joined] = this.readTyped(request.text);
    if (asCut === undefined) return [];
    const place = { list, generation };
    const exactly = { ...request, typoTolerance: false };
    const found = [
      ...joined.flatMap((typed) => this.suggestFor(typed, place, exactly)),
      ...this.suggestFor(asCut, place, request),
    ];
    return [...new Map(found.map((suggestion) => [suggestion.text, suggestion])).values()].slice(0, request.size);
  }

  /** Returns the number of records with all words of a suggestion, the last one with its signs (`c#`) if any has these. */
  count(generation: GenerationHandle, text: string): number {
    const segmented = segmentForKernel(text);
    const words = [...queryWords(segmented, this.kernel.analyse(segmented))];
    const last = words.pop();
    if (last === undefined) return 0;
    const context = words.map(({ term }) => [term]);
    const terms = last.signed === undefined ? [last.term] : [last.signed, last.term];
    return this.kernel.countInContext(generation, context, terms, 1).completions.find((count) => count > 0) ?? 0;
  }

  private suggestFor(typed: Typed, place: Place, request: SuggestionRequest): readonly Suggestion[] {
    const words = this.context(place.generation, typed.contextWords, request.typoTolerance);
    // What is shown is what is counted: other corrections are tried only if the most plausible ones give no results.
    for (const context of readingsOf(words)) {
      const terms = context.map(({ term }) => [term]);
      const found = this.completions(place.generation, terms, typed.lastWord, request);
      if (found.length > 0) return this.suggestions(typed, context, found, place);
    }
    return [];
  }

  private suggestions(
    { before: typedBefore, lastWord }: Typed,
    context: readonly ReadWord[],
    found: readonly ExpandedTerm[],
    place: Place,
  ): readonly Suggestion[] {
    const isCorrected = context.some(isMisspelt);
    const before = isCorrected ? `${context.map(({ term }) => term).join(' ')} ` : typedBefore;
    let writtenBefore: string | undefined;
    const written = ({ term, distance }: ExpandedTerm): Written => {
      writtenBefore ??= isCorrected ? this.corrected(context, place) : this.spelling.spelt(typedBefore, place);
      const form = this.spelling.form(term, place);
      const length = distance > 0 ? 0 : this.typedLength(form, term, lastWord);
      return {
        text: writtenBefore + form,
        highlight:
          (isCorrected ? marked(writtenBefore) : escapeHtml(writtenBefore)) +
          escapeHtml(form.slice(0, length)) +
          marked(form.slice(length)),
      };
    };
    return found.map((completion) => ({
      text: before + completion.term,
      kind: 'query',
      folded: this.spelling.folded(before + completion.term),
      written: () => written(completion),
      tier: completion.distance > 0 || isCorrected ? SUGGESTION_TIERS.corrected : SUGGESTION_TIERS.word,
      recordCount: completion.documentFrequency,
    }));
  }

  /** Returns how much of a form of the term was typed. */
  private typedLength(form: string, term: string, lastWord: string): number {
    return form === term ? lastWord.length : typedLength(form, lastWord, (text) => this.spelling.folded(text));
  }

  /** Returns the context with its corrections, as records write them. */
  private corrected(context: readonly ReadWord[], place: Place): string {
    const words = context.map((each) => (isMisspelt(each) ? each.term : each.typed));
    return `${this.spelling.spelt(words.join(' '), place)} `;
  }

  /**
   * Returns readings of the text: first as a dictionary cuts it, then with the most words at its end joined, then
   * fewer. Empty if no word is being typed.
   */
  private readTyped(text: string): readonly Typed[] {
    const endsInSign = SIGN_AT_END.test(text);
    if (!endsInSign && !LETTER_OR_DIGIT_AT_END.test(text)) return [];
    const segmented = segmentForKernel(text);
    const tokens = this.kernel.analyse(segmented);
    if (tokens.length === 0) return [];
    const words = queryWords(segmented, tokens);
    const piece = (begin: number, end = 0) => segmented.slice(begin, end).replaceAll(CUT, '');
    const typedWords = words.map(({ term }, index): TypedWord => {
      const { begin = 0, end } = tokens[index] ?? {};
      return { word: term, typed: piece(begin, end) };
    });
    const typedFrom = (first: number): Typed => ({
      before: piece(0, tokens[first]?.begin),
      contextWords: typedWords.slice(0, first).slice(-CONTEXT_WORDS_MAX),
      lastWord: words
        .slice(first)
        .map(({ term }) => term)
        .join(''),
    });
    if (endsInSign) {
      const signed = words.at(-1)?.signed;
      const isTyped = signed !== undefined && SIGN_AT_END.test(signed);
      return isTyped ? [{ ...typedFrom(words.length - 1), lastWord: signed }] : [];
    }
    const last = words.length - 1;
    let first = last;
    while (first > 0 && last - first + 1 < JOINED_WORDS_MAX && isCutBehind(words[first - 1])) first -= 1;
    const joined = Array.from({ length: last - first }, (_, index) => typedFrom(first + index));
    return [typedFrom(last), ...joined];
  }

  private context(
    generation: GenerationHandle,
    typedWords: readonly TypedWord[],
    typoTolerance: boolean,
  ): readonly ContextWord[] {
    if (typedWords.length === 0) return [];
    const words = typedWords.map(({ word }) => word);
    const expansions = this.kernel.expand(generation, words, {
      editsMax: words.map((word) => editsAllowed(word, typoTolerance)),
      stemsMax: 0,
      typosMax: CORRECTIONS_MAX,
      prefixesMax: 0,
      compoundsMax: 0,
    });
    return typedWords.map((typed, index) => {
      const expansion = expansions[index];
      const isKnown = (expansion?.documentFrequency ?? 0) > 0;
      return { ...typed, terms: isKnown ? [typed.word] : (expansion?.typos ?? []).map(({ term }) => term) };
    });
  }

  /** Returns completions of the last word. Those with typos are tried only if there are no exact ones. */
  private completions(
    generation: GenerationHandle,
    context: readonly (readonly string[])[],
    lastWord: string,
    { size, typoTolerance }: SuggestionRequest,
  ): readonly ExpandedTerm[] {
    const edits = editsAllowed(lastWord, typoTolerance);
    for (const distance of edits === 0 ? [0] : [0, edits]) {
      const { completions, contextCount } = this.withResults(generation, context, {
        word: lastWord,
        edits: distance,
        size,
      });
      if (completions.length > 0 || contextCount === 0) return completions;
    }
    return [];
  }

  /** Returns the completions that give results, with the number of results in place of the document frequency. */
  private withResults(
    generation: GenerationHandle,
    context: readonly (readonly string[])[],
    { word, edits, size }: { readonly word: string; readonly edits: number; readonly size: number },
  ): { readonly completions: readonly ExpandedTerm[]; readonly contextCount: number } {
    const { documentCount, liveCount } = this.kernel.generationInfo(generation);
    // Without deletions, the document frequency of a single word is its number of results.
    if (context.length === 0 && documentCount === liveCount) {
      return { completions: this.kernel.completeWord(generation, word, edits, size), contextCount: liveCount };
    }
    const found = this.kernel.completeWord(generation, word, edits, COMPLETIONS_MAX);
    const terms = found.map(({ term }) => term);
    const counts = this.kernel.countInContext(generation, context, terms, size);
    const completions = found.flatMap((completion, index) => {
      const documentFrequency = counts.completions[index] ?? 0;
      return documentFrequency === 0 ? [] : [{ ...completion, documentFrequency }];
    });
    completions.sort((a, b) => a.distance - b.distance || b.documentFrequency - a.documentFrequency);
    return { completions, contextCount: counts.context };
  }
}

function isMisspelt({ word, term }: ReadWord): boolean {
  return term !== word;
}

/**
 * Yields the context with the most plausible correction of each word, then with each other correction of one of them.
 * Nothing if the list has nothing like some word.
 */
function* readingsOf(words: readonly ContextWord[]): Generator<readonly ReadWord[]> {
  const first = words.flatMap(({ terms: [term], ...typed }) => (term === undefined ? [] : [{ ...typed, term }]));
  if (first.length < words.length) return;
  yield first;
  for (const [place, { terms }] of words.entries()) {
    for (const term of terms.slice(1)) yield first.map((word, index) => (index === place ? { ...word, term } : word));
  }
}

function isCutBehind(word: QueryWord | undefined): boolean {
  return word?.isCut === true && word.joint === 'cut';
}
