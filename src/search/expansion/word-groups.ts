/**
 * Builds the groups of an `any` or `all` search: one per distinct word, with its spellings, synonyms, stems and typos.
 */
import type { Alternative, QueryGroup } from '../plan/plan-nodes.js';
import type { Dictionary, WordForms } from './dictionary.js';
import {
  COMPOUND_WEIGHT,
  FUNCTION_WORD_BOOST,
  GROUP_TERMS_MAX,
  INFLECTED_WORD_BEST_TYPO_WEIGHT,
  QUERY_TERMS_MAX,
  REPETITION_EXPONENT,
  SEQUENCE_WORDS_MAX,
  STEM_WEIGHT,
  STEMMED_CORRECTIONS_MAX,
  STEMMED_SYNONYMS_MAX,
  SYNONYM_STEMS_MAX,
  UNKNOWN_WORD_BEST_TYPO_WEIGHT,
  WHOLE_FIELD_WORDS_MAX,
} from './expansion-weights.js';
import { GroupBuilder, type AppliedTypo } from './group-builder.js';
import type { QueryWord } from './query-words.js';
import type { Span, SpanVariant } from './spans.js';
import type { ChosenTypo } from './typo-choice.js';

/** Scale for typos of a word that the list has as the beginning of longer words: completions rank before typos. */
const UNFINISHED_TYPO_SCALE = INFLECTED_WORD_BEST_TYPO_WEIGHT / UNKNOWN_WORD_BEST_TYPO_WEIGHT;

export interface WordGroupOptions {
  readonly match: 'any' | 'all';
  readonly typoTolerance: boolean;
  readonly functionWords: ReadonlySet<string>;
  readonly dictionary: Dictionary;
}

export interface WordGroups {
  readonly groups: readonly QueryGroup[];
  /** Indexes into `groups` of the content words, in query order. */
  readonly sequence: readonly number[];
  /** Indexes into `groups` of all words, in query order. Empty if the query is too long to equal a field. */
  readonly whole: readonly number[];
  readonly typos: readonly AppliedTypo[];
}

export function wordGroups(words: readonly QueryWord[], spans: readonly Span[], options: WordGroupOptions): WordGroups {
  const { terms, counts, places } = distinctTerms(words);
  const termsMax = Math.max(1, Math.min(GROUP_TERMS_MAX, Math.floor(QUERY_TERMS_MAX / terms.length)));
  const { expanded, corrections } = expandWords(terms, { words, spans }, termsMax, options);
  const typos = expanded.flatMap(({ typo }) => (typo === undefined ? [] : [typo]));

  // A misspelt function word is a function word too, according to its best correction.
  const isFunctionWord = terms.map((term) => options.functionWords.has(corrections.get(term) ?? term));
  const hasContent = isFunctionWord.includes(false);
  const isMinor = (place: number): boolean => hasContent && isFunctionWord[place] === true;
  const occur = options.match === 'all' ? 'must' : 'should';
  const groups = expanded.map(({ alternatives }, place): QueryGroup => {
    const repetition = (counts[place] as number) ** REPETITION_EXPONENT;
    return Object.freeze({ occur, boost: repetition * (isMinor(place) ? FUNCTION_WORD_BOOST : 1), alternatives });
  });
  return {
    groups: Object.freeze(groups),
    sequence: Object.freeze(places.filter((place) => !isMinor(place)).slice(0, SEQUENCE_WORDS_MAX)),
    whole: Object.freeze(words.length > WHOLE_FIELD_WORDS_MAX ? [] : places),
    typos,
  };
}

/** The different terms of a query, in order, how often each occurs, and for each word the index of its term. */
interface DistinctTerms {
  readonly terms: readonly string[];
  readonly counts: readonly number[];
  readonly places: readonly number[];
}

function distinctTerms(words: readonly QueryWord[]): DistinctTerms {
  const indexes = new Map<string, number>();
  const terms: string[] = [];
  const counts: number[] = [];
  const places = words.map(({ term }) => {
    const known = indexes.get(term);
    if (known !== undefined) {
      counts[known] = (counts[known] as number) + 1;
      return known;
    }
    indexes.set(term, terms.length);
    counts.push(1);
    return terms.push(term) - 1;
  });
  return { terms, counts, places };
}

/** Words of a query, and the spans found in it. */
interface SpannedWords {
  readonly words: readonly QueryWord[];
  readonly spans: readonly Span[];
}

interface ExpandedWord {
  readonly alternatives: readonly Alternative[];
  readonly typo: AppliedTypo | undefined;
}

interface ExpandedWords {
  /** In the order of the terms. */
  readonly expanded: readonly ExpandedWord[];
  /** Most plausible correction of each unknown word. */
  readonly corrections: ReadonlyMap<string, string>;
}

/** Expands the distinct words: span variants first, then stems, typos and stems of synonyms from the dictionary. */
function expandWords(
  terms: readonly string[],
  query: SpannedWords,
  termsMax: number,
  options: WordGroupOptions,
): ExpandedWords {
  const { words, spans } = query;
  const { dictionary, functionWords, typoTolerance } = options;
  const forms = dictionary.forms(terms, typoTolerance);
  const varied = variantsByWord(words, spans);
  const plainVariants = terms.map((term, index) =>
    (forms[index] as WordForms).isKnown ? (varied.has(term) ? varied.get(term) : NO_VARIANTS) : undefined,
  );
  const builders = terms.map((word, index) =>
    plainVariants[index] === undefined ? new GroupBuilder(word, termsMax) : undefined,
  );
  const built = builders.flatMap((builder, index) =>
    builder === undefined ? [] : [{ builder, forms: forms[index] as WordForms }],
  );
  const corrections = buildGroups(built, query, options);
  const expanded = terms.map((word, index): ExpandedWord => {
    const builder = builders[index];
    if (builder !== undefined) return { alternatives: builder.alternatives(), typo: builder.typo };
    const variants = plainVariants[index] ?? NO_VARIANTS;
    return plainWord({ word, variants, termsMax, functionWords }, forms[index] as WordForms);
  });
  return { expanded, corrections };
}

const NO_VARIANTS: readonly SpanVariant[] = Object.freeze([]);

/**
 * Returns the variants of each word that has any. Undefined if the word has others in other queries: it is part of a
 * longer span, is in several spans, or has synonyms.
 */
function variantsByWord(
  words: readonly QueryWord[],
  spans: readonly Span[],
): ReadonlyMap<string, readonly SpanVariant[] | undefined> {
  const found = new Map<string, readonly SpanVariant[] | undefined>();
  for (const { begin, end, variants } of spans) {
    for (let index = begin; index < end; index += 1) {
      const { term } = words[index] as QueryWord;
      const isOwn = end === begin + 1 && (!found.has(term) || found.get(term) === variants);
      found.set(term, isOwn && !variants.some(({ kind }) => kind === 'synonym') ? variants : undefined);
    }
  }
  return found;
}

/** What the expansion of a plain word depends on, besides its forms. */
interface PlainWordInput {
  readonly word: string;
  readonly variants: readonly SpanVariant[];
  readonly termsMax: number;
  readonly functionWords: ReadonlySet<string>;
}

/**
 * Cache of words that expand the same way in every query. Keyed by the dictionary's cached forms of the word; the
 * variants of such a word are cached there as well, so that they are the same array.
 */
const plainWords = new WeakMap<WordForms, Omit<PlainWordInput, 'word'> & ExpandedWord>();

function plainWord(input: PlainWordInput, forms: WordForms): ExpandedWord {
  const { word, variants, termsMax, functionWords } = input;
  const kept = plainWords.get(forms);
  const isKept = kept?.variants === variants && kept.termsMax === termsMax;
  if (isKept && kept.functionWords === functionWords) return kept;
  const builder = new GroupBuilder(word, termsMax);
  for (const variant of variants) builder.add(variant);
  addStems(builder, forms);
  addCompounds(builder, forms, functionWords);
  addTypos(builder, forms, functionWords);
  const plain = { variants, termsMax, functionWords, alternatives: builder.alternatives(), typo: builder.typo };
  plainWords.set(forms, plain);
  return plain;
}

interface BuiltWord {
  readonly builder: GroupBuilder;
  readonly forms: WordForms;
}

/** Fills the builders. Returns the corrections of unknown words. */
function buildGroups(
  built: readonly BuiltWord[],
  { words, spans }: SpannedWords,
  { dictionary, functionWords }: WordGroupOptions,
): ReadonlyMap<string, string> {
  const corrections = new Map<string, string>();
  if (built.length === 0) return corrections;
  const builders = new Map(built.map(({ builder }) => [builder.word, builder]));
  for (const span of spans) {
    for (const { term } of words.slice(span.begin, span.end)) {
      for (const variant of span.variants) builders.get(term)?.add(variant);
    }
  }
  addSynonymStems([...builders.values()], spans, dictionary);
  for (const { builder, forms } of built) {
    addStems(builder, forms);
    addCompounds(builder, forms, functionWords);
  }
  const stemmed: CorrectedWord[] = [];
  for (const { builder, forms } of built) {
    const added = addTypos(builder, forms, functionWords);
    const [first] = added;
    if (forms.isKnown || first === undefined) continue;
    corrections.set(builder.word, first.term);
    for (const typo of added.slice(0, STEMMED_CORRECTIONS_MAX)) stemmed.push({ builder, typo });
  }
  addCorrectionStems(stemmed, dictionary);
  return corrections;
}

function addStems(builder: GroupBuilder, { stems }: WordForms): void {
  for (const term of stems) builder.add({ kind: 'stem', weight: STEM_WEIGHT, terms: [term] });
}

function addCompounds(builder: GroupBuilder, { compounds }: WordForms, functionWords: ReadonlySet<string>): void {
  // A longer word contains a function word by chance: eine in Vereine.
  if (functionWords.has(builder.word)) return;
  for (const term of compounds) builder.add({ kind: 'compound', weight: COMPOUND_WEIGHT, terms: [term] });
}

/** Adds the typos. Returns those added, most plausible first. */
function addTypos(builder: GroupBuilder, forms: WordForms, functionWords: ReadonlySet<string>): readonly ChosenTypo[] {
  // A known word is not taken for a misspelt function word: that is unlikely, and would match half of the records.
  const plausible = forms.isKnown ? forms.typos.filter(({ term }) => !functionWords.has(term)) : forms.typos;
  const scale = !forms.isKnown && builder.has('completion') ? UNFINISHED_TYPO_SCALE : 1;
  const added = plausible.filter(({ term, weight }) =>
    builder.add({ kind: 'typo', weight: weight * scale, terms: [term] }),
  );
  if (added.length > 0) builder.typo = Object.freeze({ word: builder.word, terms: added.map(({ term }) => term) });
  return added;
}

function addSynonymStems(builders: readonly GroupBuilder[], spans: readonly Span[], dictionary: Dictionary): void {
  const variants = spans.flatMap((span) => span.variants.filter(({ kind }) => kind === 'synonym'));
  const single = variants.flatMap(({ terms }) => (terms.length === 1 ? terms : []));
  const words = [...new Set(single)].slice(0, STEMMED_SYNONYMS_MAX);
  if (words.length === 0) return;
  const forms = dictionary.forms(words, false);
  const stemsOf = new Map(words.map((word, index) => [word, (forms[index] as WordForms).stems]));
  for (const builder of builders) {
    for (const { kind, weight, terms } of builder.alternatives()) {
      if (kind !== 'synonym' || terms.length > 1) continue;
      for (const term of (stemsOf.get(terms[0] as string) ?? []).slice(0, SYNONYM_STEMS_MAX)) {
        builder.add({ kind: 'synonym', weight: weight * STEM_WEIGHT, terms: [term] });
      }
    }
  }
}

interface CorrectedWord {
  readonly builder: GroupBuilder;
  readonly typo: ChosenTypo;
}

/**
 * Adds the stems of the most plausible corrections of unknown words, as the corrected words themselves would have
 * brought.
 */
function addCorrectionStems(corrections: readonly CorrectedWord[], dictionary: Dictionary): void {
  if (corrections.length === 0) return;
  const words = [...new Set(corrections.map(({ typo }) => typo.term))];
  const forms = dictionary.forms(words, false);
  const stemsOf = new Map(words.map((word, index) => [word, (forms[index] as WordForms).stems]));
  for (const { builder, typo } of corrections) {
    for (const term of stemsOf.get(typo.term) ?? []) {
      builder.add({ kind: 'typo', weight: typo.weight * STEM_WEIGHT, terms: [term] });
    }
  }
}
