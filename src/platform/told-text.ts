/** Limit of a foreign text that an answer repeats, such as a model's complaint. */
export const TOLD_CHARACTERS_MAX = 1000;

/** Shortens the text to at most `charactersMax` UTF-16 units; a shortened one ends with `…`. */
export function toldText(text: string, charactersMax = TOLD_CHARACTERS_MAX): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).toWellFormed()}…`;
}
