/** Of a text that somebody else wrote and an answer repeats, such as what a model complained of. */
export const TOLD_CHARACTERS_MAX = 1000;

/** At most so many UTF-16 units of it; one that was cut ends with `…`. */
export function toldText(text: string, charactersMax = TOLD_CHARACTERS_MAX): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).toWellFormed()}…`;
}
