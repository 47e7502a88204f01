/** Marks the parts of a suggestion that were not typed. Pure functions. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

export function marked(text: string): string {
  return text === '' ? '' : `<em>${escapeHtml(text)}</em>`;
}

/** Returns the text as HTML with all but the range marked. */
export function markedAround(text: string, begin: number, end: number): string {
  return marked(text.slice(0, begin)) + escapeHtml(text.slice(begin, end)) + marked(text.slice(end));
}

/**
 * Returns where the typed text is in the name: at its beginning or at the beginning of a word. `fold` makes texts
 * comparable and may change their length. Undefined if it is not found.
 */
export function typedRange(
  name: string,
  foldedText: string,
  fold: (text: string) => string,
): { readonly begin: number; readonly end: number } | undefined {
  for (let begin = 0; begin < name.length; ++begin) {
    if (begin > 0 && WORD_CHARACTER.test(name[begin - 1] ?? '')) continue;
    if (!fold(name.slice(begin)).startsWith(foldedText)) continue;
    let end = Math.min(name.length, begin + foldedText.length);
    while (end < name.length && !fold(name.slice(begin, end)).startsWith(foldedText)) end += 1;
    while (end > begin + 1 && fold(name.slice(begin, end - 1)).startsWith(foldedText)) end -= 1;
    return { begin, end };
  }
  return undefined;
}
