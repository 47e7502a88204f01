/**
 * Head of a search answer: the members that differ between two runs of the same search, in a fixed number of bytes, so
 * that a cached answer is reused by replacing its head.
 */

/** A UUID in quotes. */
const QUERY_ID_CHARACTERS = 38;
/** Milliseconds with three decimals, up to a day. */
const TOOK_MS_CHARACTERS = 12;
const BEFORE_ID = '{"query_id":';
const BEFORE_TIME = ',"took_ms":';

export const ANSWER_HEAD_BYTES = BEFORE_ID.length + QUERY_ID_CHARACTERS + BEFORE_TIME.length + TOOK_MS_CHARACTERS;

/** Formats milliseconds for `answerHead`. */
export function formatTook(tookMs: number): string {
  return tookMs.toFixed(3);
}

/**
 * Returns exactly ANSWER_HEAD_BYTES ASCII characters, padded with blanks. What follows has to begin with a comma.
 * `tookMs` comes from `formatTook`.
 */
export function answerHead(queryId: string, tookMs: string): string {
  const id = `"${queryId}"`.padEnd(QUERY_ID_CHARACTERS);
  return `${BEFORE_ID}${id}${BEFORE_TIME}${tookMs.padStart(TOOK_MS_CHARACTERS)}`;
}
