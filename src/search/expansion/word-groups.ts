/** The groups of an `any` or `all` search: one a different word, with its spellings, synonyms, stems and typos. */
import type { QueryGroup } from '../plan/plan-nodes.js';
import type { Dictionary, WordForms } from './dictionary.js';
import {
  FUNCTION_WORD_BOOST,
  GROUP_TERMS_MAX,
  QUERY_TERMS_MAX,
  REPETITION_EXPONENT,
  SEQUENCE_WORDS_MAX,
  STEM_WEIGHT,
  STEMMED_CORRECTIONS_MAX,
  STEMMED_SYNONYMS_MAX,
  SYNONYM_STEMS_MAX,
  WHOLE_FIELD_WORDS_MAX,
} from './expansion-weights.js';
import { GroupBuilder } from './group-builder.js';
import type { QueryWord } from './query-words.js';
import type { Span } from './spans.js';
import type { ChosenTypo } from './typo-choice.js';

export interface WordGroupOptions {
  readonly match: 'any' | 'all';
  readonly typoTolerance: boolean;
  readonly functionWords: ReadonlySet<string>;
  readonly dictionary: Dictionary;
}

/** Part of `applied.typos`: a word of the query and what it was taken for as well, the most plausible first. */
export interface AppliedTypo {
  readonly word: string;
  readonly terms: readonly string[];
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
  const builders = new Map([...counts.keys()].map((term) => [term, new GroupBuilder(term, termsMax)]));
  for (const span of spans) {
    for (const { term } of words.slice(span.begin, span.end)) {
      for (const variant of span.variants) builders.get(term)?.add(variant);
    }
  }
  const { typos, corrections } = addExpansions([...builders.values()], spans, options);

  // A misspelt function word is one too: what it is taken for decides.
  const isFunctionWord = (term: string): boolean => options.functionWords.has(corrections.get(term) ?? term);
  const hasContent = [...counts.keys()].some((term) => !isFunctionWord(term));
  const isMinor = (term: string): boolean => hasContent && isFunctionWord(term);
  const occur = options.match === 'all' ? 'must' : 'should';
  const groups = [...builders].map(([term, builder]): QueryGroup => {
    return Object.freeze({
      occur,
      boost: (counts.get(term) as number) ** REPETITION_EXPONENT * (isMinor(term) ? FUNCTION_WORD_BOOST : 1),
      alternatives: builder.alternatives(),
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

interface AddedTypos {
  readonly typos: readonly AppliedTypo[];
  /** What each unknown word is most plausibly meant as. */
  readonly corrections: ReadonlyMap<string, string>;
}

const NO_TYPOS: AddedTypos = { typos: [], corrections: new Map() };

/** Stems and typos of the words, and stems of their synonyms, asked of the dictionary. */
function addExpansions(
  builders: readonly GroupBuilder[],
  spans: readonly Span[],
  { dictionary, functionWords, typoTolerance }: WordGroupOptions,
): AddedTypos {
  const forms = dictionary.forms(
    builders.map(({ word }) => word),
    typoTolerance,
  );
  addSynonymStems(builders, spans, dictionary);
  builders.forEach((builder, index) => {
    for (const term of (forms[index] as WordForms).stems) {
      builder.add({ kind: 'stem', weight: STEM_WEIGHT, terms: [term] });
    }
  });
  return typoTolerance ? addTypos(builders, forms, dictionary, functionWords) : NO_TYPOS;
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

function addTypos(
  builders: readonly GroupBuilder[],
  forms: readonly WordForms[],
  dictionary: Dictionary,
  functionWords: ReadonlySet<string>,
): AddedTypos {
  const typos: AppliedTypo[] = [];
  const corrections = new Map<string, string>();
  const stemmed: { readonly builder: GroupBuilder; readonly typo: ChosenTypo }[] = [];
  builders.forEach((builder, index) => {
    const { isKnown, typos: chosen } = forms[index] as WordForms;
    // Nobody slips from a function word into a word that the list has, and half of its records would match.
    const plausible = isKnown ? chosen.filter(({ term }) => !functionWords.has(term)) : chosen;
    const added = plausible.filter(({ term, weight }) => builder.add({ kind: 'typo', weight, terms: [term] }));
    const [first] = added;
    if (first === undefined) return;
    typos.push({ word: builder.word, terms: added.map(({ term }) => term) });
    if (isKnown) return;
    corrections.set(builder.word, first.term);
    for (const typo of added.slice(0, STEMMED_CORRECTIONS_MAX)) stemmed.push({ builder, typo });
  });
  addCorrectionStems(stemmed, dictionary);
  return { typos, corrections };
}

/** An unknown word is taken for its most plausible corrections, with all that these would have brought along. */
function addCorrectionStems(
  corrections: readonly { readonly builder: GroupBuilder; readonly typo: ChosenTypo }[],
  dictionary: Dictionary,
): void {
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
