/** Returns a text of the console up to the end of its first sentence. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}
