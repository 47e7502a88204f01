/**
 * Returns at most this many UTF-16 units of the text. Halves of surrogate pairs become U+FFFD, because no record may
 * contain one.
 */
export function cutText(text: string, charactersMax: number): string {
  return wellFormed(text.slice(0, charactersMax));
}

export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
