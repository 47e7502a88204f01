/** Marks the parts of a suggestion that were not typed. Pure functions. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const CHARACTERS = new Map(Object.entries(ESCAPES).map(([character, entity]) => [entity, character]));
const WORD_CHARACTER = /[\p{L}\p{N}]/u;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** Returns the text of which `escapeHtml` made this. */
export function unescapeHtml(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => CHARACTERS.get(entity) ?? entity);
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

/**
 * Returns how much of a word was typed, if it begins with `foldedText`: up to where a mark could still belong to the last
 * letter. 0 if it does not begin so.
 */
export function typedLength(word: string, foldedText: string, fold: (text: string) => string): number {
  let end = Math.min(word.length, foldedText.length);
  while (end < word.length && !fold(word.slice(0, end)).startsWith(foldedText)) end += 1;
  while (end > 1 && fold(word.slice(0, end - 1)).startsWith(foldedText)) end -= 1;
  const typed = fold(word.slice(0, end));
  if (!typed.startsWith(foldedText)) return 0;
  while (end < word.length && fold(word.slice(0, end + 1)) === typed) end += 1;
  return end;
}
