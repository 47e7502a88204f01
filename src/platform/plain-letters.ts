/** Letters without accents, for names that may have no others. Plain data and functions, also for the console. */

/** Letters that Unicode does not take apart, as the kernel folds them in words. In lower case. */
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ß: 'ss',
    æ: 'ae',
    œ: 'oe',
    þ: 'th',
    ø: 'o',
    đ: 'd',
    ð: 'd',
    ł: 'l',
    ħ: 'h',
    ŧ: 't',
    ŋ: 'n',
    ı: 'i',
  }),
);

/** Returns the text in lower case and without accents: `Øre & Bücher` becomes `ore & bucher`. Other letters stay. */
export function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/\P{ASCII}/gu, (letter) => LETTERS.get(letter) ?? letter);
}
