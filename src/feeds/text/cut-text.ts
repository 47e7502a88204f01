/** At most so many UTF-16 units of the text; halves of characters become U+FFFD, for no record may hold one. */
export function cutText(text: string, charactersMax: number): string {
  return wellFormed(text.slice(0, charactersMax));
}

export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
