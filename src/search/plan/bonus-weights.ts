/** Weights of score bonuses, as shares of the score of a record's words (docs/decisions/0010-scoring-constants.md). */

/** Bonus for content words that are neighbours in the query and in the record. */
export const PROXIMITY_WEIGHT = 0.2;
/** Bonus for a record with a text field that equals the query, word by word. */
export const WHOLE_FIELD_WEIGHT = 0.3;
