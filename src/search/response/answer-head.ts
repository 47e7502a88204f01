/**
 * How the body of a search's answer begins: the members that differ between two runs of one search, in a fixed number of
 * bytes, so that an answer kept in memory is made new by another head.
 */

/** A UUID in its quotes. */
const QUERY_ID_CHARACTERS = 38;
/** Milliseconds with three places, up to a day. */
const TOOK_MS_CHARACTERS = 12;
const BEFORE_ID = '{"query_id":';
const BEFORE_TIME = ',"took_ms":';

export const ANSWER_HEAD_BYTES = BEFORE_ID.length + QUERY_ID_CHARACTERS + BEFORE_TIME.length + TOOK_MS_CHARACTERS;

/** Milliseconds as `answerHead` takes them. */
export function formatTook(tookMs: number): string {
  return tookMs.toFixed(3);
}

/** ASCII of ANSWER_HEAD_BYTES characters, filled up with blanks. What follows begins with a comma. `tookMs`: of `formatTook`. */
export function answerHead(queryId: string, tookMs: string): string {
  const id = `"${queryId}"`.padEnd(QUERY_ID_CHARACTERS);
  return `${BEFORE_ID}${id}${BEFORE_TIME}${tookMs.padStart(TOOK_MS_CHARACTERS)}`;
}
