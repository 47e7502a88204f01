/**
 * Weights of the alternatives of a query word, relative to the word as typed (1), and limits on their number. The
 * weights were measured and are the same for all collections: docs/decisions/0011-expansion-weights.md.
 */

/** Another form of the word with the same stem in the list's language. */
export const STEM_WEIGHT = 0.8;
/** The same characters joined or split elsewhere: `XR-500` for `XR500`, `email` for `e-mail`. */
export const SPELLING_WEIGHT = 0.95;
/** The other number of an English word with an irregular plural (`mice`). */
export const IRREGULAR_WEIGHT = 0.3;
/**
 * A word with marks inside, next to its parts as neighbours, which already match each of its occurrences. It is not a
 * typo, and counts for the idf.
 */
export const MARKED_SPELLING_WEIGHT = 0.001;
/** A longer word that begins or ends with the word. */
export const COMPOUND_WEIGHT = 0.6;
/** Completions of an unfinished word, without and with typos. */
export const COMPLETION_WEIGHT = 0.6;
export const MISSPELT_COMPLETION_WEIGHT = 0.4;
export const SYNONYM_WEIGHT = 0.9;

/** Typos of a word that the list has, by distance (1, 2): a long shot. */
export const KNOWN_WORD_TYPO_WEIGHTS: readonly number[] = [0.1, 0.05];
/**
 * The most plausible typo of a word that the list lacks is probably what was meant and counts almost like a typed word;
 * the others count proportionally less.
 */
export const UNKNOWN_WORD_BEST_TYPO_WEIGHT = 0.95;
/**
 * The same for a word that the list has only in other forms of its stem, inside longer words, or unfinished: those rank
 * before its typos.
 */
export const INFLECTED_WORD_BEST_TYPO_WEIGHT = 0.4;
export const UNKNOWN_WORD_TYPO_PROPORTIONS: readonly number[] = [1, 0.3];
/** How much the surcharge of the edits (edit-cost.ts) reduces a typo's weight: weight / (1 + surcharge * share). */
export const TYPO_SURCHARGE_SHARE = 0.4;

/** Boost of a function word next to content words. */
export const FUNCTION_WORD_BOOST = 0.3;
/** A word typed n times has the boost n to this power. */
export const REPETITION_EXPONENT = 0.75;
/** Maximum number of words of a query that may equal a whole field: the kernel's limit. */
export const WHOLE_FIELD_WORDS_MAX = 64;
/** Maximum number of words of a query whose proximity is scored: the kernel's limit. */
export const SEQUENCE_WORDS_MAX = 4096;

/** Number of letters from which one edit, and two edits, are forgiven. */
export const ONE_EDIT_LETTERS_MIN = 4;
export const TWO_EDITS_LETTERS_MIN = 8;

/** Near terms that the kernel reports for a word; the most plausible of them become alternatives. */
export const TYPO_CANDIDATES_MAX = 128;
export const UNKNOWN_WORD_TYPOS_MAX = 32;
export const KNOWN_WORD_TYPOS_MAX = 8;
/** Number of most plausible corrections of an unknown word whose stems are alternatives too. */
export const STEMMED_CORRECTIONS_MAX = 2;

export const STEMS_MAX = 32;
export const COMPOUNDS_MAX = 128;
export const COMPLETIONS_MAX = 64;
/** Single-word synonyms of a query whose stems are alternatives too, and stems of each. */
export const STEMMED_SYNONYMS_MAX = 32;
export const SYNONYM_STEMS_MAX = 4;
/** Expansions that all synonym rules together give one span of a query. */
export const SYNONYMS_PER_SPAN_MAX = 256;

/** Terms of one group. They are added in this order: as typed, spellings, synonyms, stems, typos. */
export const GROUP_TERMS_MAX = 512;
/**
 * Terms of all groups of one query, below the kernel's limit of 65,536. Words of long queries have fewer alternatives
 * each.
 */
export const QUERY_TERMS_MAX = 60_000;
/** Variants of one phrase by synonyms and spellings, and the terms of all of them. */
export const PHRASE_VARIANTS_MAX = 128;
export const PHRASE_VARIANT_TERMS_MAX = 16_384;

/**
 * Neighbouring words that one spelling joins, and boundaries where it may be split (each doubles the number of ways).
 */
export const SPELLING_WORDS_MAX = 3;
export const SPELLING_BOUNDARIES_MAX = 4;
/**
 * Two words separated by a blank may be joined if the joined word is in at least 1/JOINED_SHARE of the documents of the
 * rarer one.
 */
export const JOINED_SHARE = 32;
/**
 * Letters of a word that may be split in two, and its maximum document frequency: for a frequent word, other spellings
 * are not missed.
 */
export const SPLIT_LETTERS_MIN = 4;
export const SPLIT_LETTERS_MAX = 32;
export const SPLIT_DOCUMENTS_MAX = 1000;
/** Ways to split a word of which it is looked up whether records have the two parts next to each other. */
export const SPLITS_LOOKED_AT_MAX = 4;
/**
 * Letters of a word that may be written with points: one after each letter (`us`, `U.S.`, `usa`, `U.S.A.`) and, in the
 * shorter ones, one after any letter (`phd`, `Ph.D.`).
 */
export const INITIALS_LETTERS_MIN = 2;
export const INITIALS_LETTERS_MAX = 8;
export const ANY_POINT_LETTERS_MAX = 4;
/** Letters of words that are an abbreviation together if marks join them (`A/B`, `AT&T`). */
export const ABBREVIATION_LETTERS_MAX = 3;
/** Letters before an apostrophe that may be left out (`obrien`). */
export const ELIDED_LETTERS_MAX = 2;
/** Words of one query that are split, and joined across blanks, counted from the first. */
export const WRITINGS_WORDS_MAX = 64;
/** Words beside one in another writing that may be part of the same term of a synonym rule (`Bosch XR-500`). */
export const WRITING_CONTEXT_WORDS_MAX = 4;
/** Spellings that one query looks up in the dictionary. */
export const SPELLINGS_PER_QUERY_MAX = 1024;

/** Letters of a word in other cuts of a run without blanks, and typed words that one such cut may replace. */
export const CUT_LETTERS_MAX = 16;
export const CUT_WORDS_MAX = 4;
/** Letters of a run after which it is not cut otherwise, and letters that one such cut may span. */
export const CUT_PLACES_MAX = 1024;
export const CUT_SPAN_LETTERS_MAX = 128;
/** Ways to cut one part of a run, and parts that one query looks up in the dictionary. */
export const CUTS_PER_SPAN_MAX = 4;
export const CUTS_LOOKED_UP_MAX = 4096;
/**
 * Neighbouring words that may together be part of a longer word, letter variants of a run whose parts are looked up,
 * and parts looked up per query.
 */
export const PART_WORDS_MAX = 3;
export const PART_WRITINGS_MAX = 4;
export const PARTS_LOOKED_UP_MAX = 64;
