/** What a record gains beside the scores of its words, as shares of these: docs/decisions/0010-scoring-constants.md. */

/** Of the bonus for neighbouring content words that are neighbours in a record too. */
export const PROXIMITY_WEIGHT = 0.2;
/** Of the bonus for a record with a text field that is the query, word by word. */
export const WHOLE_FIELD_WEIGHT = 0.3;
