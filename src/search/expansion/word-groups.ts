/** The groups of an `any` or `all` search: one a different word, with its spellings, synonyms, stems and typos. */
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
import type { Span } from './spans.js';
import type { ChosenTypo } from './typo-choice.js';

/** As the list has the word unfinished, what it may be a slip of comes behind. */
const UNFINISHED_TYPO_SCALE = INFLECTED_WORD_BEST_TYPO_WEIGHT / UNKNOWN_WORD_BEST_TYPO_WEIGHT;

export interface WordGroupOptions {
  readonly match: 'any' | 'all';
  readonly typoTolerance: boolean;
  readonly functionWords: ReadonlySet<string>;
  readonly dictionary: Dictionary;
}

export interface WordGroups {
  readonly groups: readonly QueryGroup[];
  /** Content words in the order of the query, as indexes of `groups`. */
  readonly sequence: readonly number[];
  /** All words in the order of the query, likewise; empty for a query that is too long to be a field's whole text. */
  readonly whole: readonly number[];
  readonly typos: readonly AppliedTypo[];
}

export function wordGroups(words: readonly QueryWord[], spans: readonly Span[], options: WordGroupOptions): WordGroups {
  const counts = new Map<string, number>();
  for (const { term } of words) counts.set(term, (counts.get(term) ?? 0) + 1);
  const termsMax = Math.max(1, Math.min(GROUP_TERMS_MAX, Math.floor(QUERY_TERMS_MAX / counts.size)));
  const { expanded, corrections } = expandWords([...counts.keys()], { words, spans }, termsMax, options);
  const typos = [...expanded.values()].flatMap(({ typo }) => (typo === undefined ? [] : [typo]));

  // A misspelt function word is one too: what it is taken for decides.
  const isFunctionWord = (term: string): boolean => options.functionWords.has(corrections.get(term) ?? term);
  const hasContent = [...counts.keys()].some((term) => !isFunctionWord(term));
  const isMinor = (term: string): boolean => hasContent && isFunctionWord(term);
  const occur = options.match === 'all' ? 'must' : 'should';
  const groups = [...expanded].map(([term, { alternatives }]): QueryGroup => {
    return Object.freeze({
      occur,
      boost: (counts.get(term) as number) ** REPETITION_EXPONENT * (isMinor(term) ? FUNCTION_WORD_BOOST : 1),
      alternatives,
    });
  });
  const indexes = new Map([...counts.keys()].map((term, index) => [term, index]));
  const sequence = words.flatMap(({ term }) => (isMinor(term) ? [] : [indexes.get(term) as number]));
  const whole = words.length > WHOLE_FIELD_WORDS_MAX ? [] : words.map(({ term }) => indexes.get(term) as number);
  return {
    groups: Object.freeze(groups),
    sequence: Object.freeze(sequence.slice(0, SEQUENCE_WORDS_MAX)),
    whole: Object.freeze(whole),
    typos,
  };
}

/** The words of a query, and what is known to stand for parts of it. */
interface SpannedWords {
  readonly words: readonly QueryWord[];
  readonly spans: readonly Span[];
}

interface ExpandedWord {
  readonly alternatives: readonly Alternative[];
  readonly typo: AppliedTypo | undefined;
}

interface ExpandedWords {
  readonly expanded: ReadonlyMap<string, ExpandedWord>;
  /** What each unknown word is most plausibly meant as. */
  readonly corrections: ReadonlyMap<string, string>;
}

/** Of different words: variants, then stems and typos, and stems of synonyms, asked of the dictionary. */
function expandWords(
  terms: readonly string[],
  query: SpannedWords,
  termsMax: number,
  options: WordGroupOptions,
): ExpandedWords {
  const { words, spans } = query;
  const { dictionary, functionWords, typoTolerance } = options;
  const forms = dictionary.forms(terms, typoTolerance);
  const varied = new Set(spans.flatMap(({ begin, end }) => words.slice(begin, end).map(({ term }) => term)));
  const isPlain = (index: number): boolean =>
    (forms[index] as WordForms).isKnown && !varied.has(terms[index] as string);
  const built = terms.flatMap((word, index) =>
    isPlain(index) ? [] : [{ builder: new GroupBuilder(word, termsMax), forms: forms[index] as WordForms }],
  );
  const corrections = buildGroups(built, query, options);
  const builders = new Map(built.map(({ builder }) => [builder.word, builder]));
  const expanded = new Map(
    terms.map((word, index): [string, ExpandedWord] => {
      const builder = builders.get(word);
      if (builder !== undefined) return [word, { alternatives: builder.alternatives(), typo: builder.typo }];
      return [word, plainWord(word, forms[index] as WordForms, termsMax, functionWords)];
    }),
  );
  return { expanded, corrections };
}

interface PlainWord extends ExpandedWord {
  readonly word: string;
  readonly termsMax: number;
  readonly functionWords: ReadonlySet<string>;
}

/** Words without variants stand for the same in query after query; the dictionary keeps the forms that are the keys here. */
const plainWords = new WeakMap<WordForms, PlainWord>();

function plainWord(word: string, forms: WordForms, termsMax: number, functionWords: ReadonlySet<string>): ExpandedWord {
  const kept = plainWords.get(forms);
  if (kept?.word === word && kept.termsMax === termsMax && kept.functionWords === functionWords) return kept;
  const builder = new GroupBuilder(word, termsMax);
  addStems(builder, forms);
  addCompounds(builder, forms, functionWords);
  addTypos(builder, forms, functionWords);
  const plain = { word, alternatives: builder.alternatives(), typo: builder.typo, termsMax, functionWords };
  plainWords.set(forms, plain);
  return plain;
}

interface BuiltWord {
  readonly builder: GroupBuilder;
  readonly forms: WordForms;
}

/** Returns the corrections. */
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
  // A longer word has its letters by chance: eine in Vereine.
  if (functionWords.has(builder.word)) return;
  for (const term of compounds) builder.add({ kind: 'compound', weight: COMPOUND_WEIGHT, terms: [term] });
}

/** Returns those that were added, the most plausible first. */
function addTypos(builder: GroupBuilder, forms: WordForms, functionWords: ReadonlySet<string>): readonly ChosenTypo[] {
  // Nobody slips from a function word into a word that the list has, and half of its records would match.
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

/** An unknown word is taken for its most plausible corrections, with all that these would have brought along. */
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
