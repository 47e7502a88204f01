/** The text under which a search is counted. Pure. */

export const TERM_CHARACTERS_MAX = 100;
/** UTF-16 units of a long query that are read: composing characters may shorten it, but never by this much. */
const UNITS_READ_MAX = 1000;
const NOT_ASCII = /\P{ASCII}/u;

/**
 * Returns the query, trimmed, in lower case and composed (NFC), cut to 100 characters (code points). Empty for a search
 * without text, which is counted but is not a term.
 */
export function searchTerm(query: string): string {
  const trimmed = query.trim().slice(0, UNITS_READ_MAX);
  if (!NOT_ASCII.test(trimmed)) return trimmed.toLowerCase().slice(0, TERM_CHARACTERS_MAX);
  const folded = trimmed.normalize('NFC').toLowerCase();
  return folded.length <= TERM_CHARACTERS_MAX ? folded : [...folded].slice(0, TERM_CHARACTERS_MAX).join('');
}
