/**
 * What an alternative of a query word counts beside the word as typed (1), and how many there may be. The weights were
 * chosen by measurement, the same for all collections: docs/decisions/0011-expansion-weights.md.
 */

/** Another form of the word: the same stem in the list's language. */
export const STEM_WEIGHT = 0.8;
/** The same characters joined or split elsewhere: `XR-500` for `XR500`, `email` for `e-mail`. */
export const SPELLING_WEIGHT = 0.95;
/** Its other number, of an English word whose ending does not tell (`mice`). */
export const IRREGULAR_WEIGHT = 0.3;
/** A word with marks in it, beside its parts as neighbours, which count for it in each of its occurrences: it is no typo, and counts for the idf. */
export const MARKED_SPELLING_WEIGHT = 0.001;
/** A longer word that begins or ends with the word. */
export const COMPOUND_WEIGHT = 0.6;
/** What an unfinished word may become, and what it may with a slip in it. */
export const COMPLETION_WEIGHT = 0.6;
export const MISSPELT_COMPLETION_WEIGHT = 0.4;
export const SYNONYM_WEIGHT = 0.9;

/** A typo of a word that the list has, by its distance (1, 2): a long shot. */
export const KNOWN_WORD_TYPO_WEIGHTS: readonly number[] = [0.1, 0.05];
/**
 * Of a word that the list has not, the most plausible typo is what was meant and counts almost like a word as typed; the
 * others count less in proportion.
 */
export const UNKNOWN_WORD_BEST_TYPO_WEIGHT = 0.95;
/** Of a word that the list has in other forms of its stem, as a part of longer words, or unfinished, only: these go before what it may be a slip of. */
export const INFLECTED_WORD_BEST_TYPO_WEIGHT = 0.4;
export const UNKNOWN_WORD_TYPO_PROPORTIONS: readonly number[] = [1, 0.3];
/** How much of a typo's weight the surcharge of its edits (edit-cost.ts) takes: weight / (1 + surcharge * share). */
export const TYPO_SURCHARGE_SHARE = 0.4;

/** Of a function word that stands beside content words. */
export const FUNCTION_WORD_BOOST = 0.3;
/** A word typed n times has the boost n to this power. */
export const REPETITION_EXPONENT = 0.75;
/** Words of a query that may be all of a field: the kernel's bound. */
export const WHOLE_FIELD_WORDS_MAX = 64;
/** Words of a query whose neighbourhood is looked at: the kernel's bound. */
export const SEQUENCE_WORDS_MAX = 4096;

/** Letters from which one edit is forgiven, and two. */
export const ONE_EDIT_LETTERS_MIN = 4;
export const TWO_EDITS_LETTERS_MIN = 8;

/** Near terms that the kernel reports for a word; the most plausible of them become alternatives. */
export const TYPO_CANDIDATES_MAX = 128;
export const UNKNOWN_WORD_TYPOS_MAX = 32;
export const KNOWN_WORD_TYPOS_MAX = 8;
/** The most plausible corrections of an unknown word bring their stems along. */
export const STEMMED_CORRECTIONS_MAX = 2;

export const STEMS_MAX = 32;
export const COMPOUNDS_MAX = 128;
export const COMPLETIONS_MAX = 64;
/** Single-word synonyms of a query whose stems are alternatives too, and stems of each. */
export const STEMMED_SYNONYMS_MAX = 32;
export const SYNONYM_STEMS_MAX = 4;
/** Expansions that all synonym rules together give one place of a query. */
export const SYNONYMS_PER_SPAN_MAX = 256;

/** Terms of one group: as typed, spellings, synonyms, stems, typos, in the order in which they are kept. */
export const GROUP_TERMS_MAX = 512;
/** Terms of the groups of one query, under the kernel's bound of 65,536; long queries have fewer alternatives a word. */
export const QUERY_TERMS_MAX = 60_000;
/** Ways to write one phrase with synonyms and spellings, and the terms in all of them. */
export const PHRASE_VARIANTS_MAX = 128;
export const PHRASE_VARIANT_TERMS_MAX = 16_384;

/** Neighbouring words that one spelling joins; boundaries at which it may be split (each doubles the ways). */
export const SPELLING_WORDS_MAX = 3;
export const SPELLING_BOUNDARIES_MAX = 4;
/** Two words that a blank parts may be one where it is in at least this part (1 / so many) of the documents of the rarer one. */
export const JOINED_SHARE = 32;
/** Letters of a word that may be two, and documents that hold it at most: of a word that many have, what others write apart is not missed. */
export const SPLIT_LETTERS_MIN = 4;
export const SPLIT_LETTERS_MAX = 32;
export const SPLIT_DOCUMENTS_MAX = 1000;
/** Letters of a word that may be written with points: one behind each (`usa`, `U.S.A.`), and, in the shorter ones, one behind any (`phd`, `Ph.D.`). */
export const INITIALS_LETTERS_MIN = 3;
export const INITIALS_LETTERS_MAX = 8;
export const ANY_POINT_LETTERS_MAX = 4;
/** Letters before an apostrophe that may be left out (`obrien`). */
export const ELIDED_LETTERS_MAX = 2;
/** Words of one query that are split, and joined across blanks: the first ones. */
export const WRITINGS_WORDS_MAX = 64;
/** Spellings that one query looks up in the dictionary. */
export const SPELLINGS_PER_QUERY_MAX = 1024;

/** Letters of a word that a run without blanks is cut into otherwise, and words as typed that one such cut takes the place of. */
export const CUT_LETTERS_MAX = 16;
export const CUT_WORDS_MAX = 4;
/** Letters of a run from which on it is not cut otherwise, and letters that one such cut is of. */
export const CUT_PLACES_MAX = 1024;
export const CUT_SPAN_LETTERS_MAX = 128;
/** Ways to cut one part of a run, and parts that one query looks up in the dictionary. */
export const CUTS_PER_SPAN_MAX = 4;
export const CUTS_LOOKED_UP_MAX = 4096;
/** Words beside each other that may be a part of one longer word together, writings of a run whose parts are looked up, and such parts of one query. */
export const PART_WORDS_MAX = 3;
export const PART_WRITINGS_MAX = 4;
export const PARTS_LOOKED_UP_MAX = 64;
