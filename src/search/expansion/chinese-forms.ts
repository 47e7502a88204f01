/**
 * Converts between traditional and simplified Chinese characters (台北車站, 台北车站), by OpenCC's tables. A traditional
 * character has one simplified form. A simplified one may have several traditional forms, depending on the word (发: 發
 * and 髮) or the country (里: 裡 and 裏), or be its own (后 in 皇后).
 */
import simplifiedPairs from 'opencc-js/dict/TSCharacters';
import taiwanesePairs from 'opencc-js/dict/TWVariants';
import traditionalPairs from 'opencc-js/dict/STCharacters';

interface Forms {
  readonly simplified: ReadonlyMap<string, string>;
  /** Keyed by simplified character; the most usual form comes first. */
  readonly traditional: ReadonlyMap<string, readonly string[]>;
}

/** Forms kept of one character, and variants of a text with one less usual form. */
const FORMS_MAX = 5;
const WAYS_MAX = 16;

let forms: Forms | undefined;

/**
 * Returns texts with as many letters: simplified, traditional, and traditional with a less usual form of one letter.
 * May include the text itself.
 */
export function chineseForms(text: string): readonly string[] {
  // Tables are built on first use: most threads never see Chinese text.
  forms ??= readForms();
  const { simplified, traditional } = forms;
  const letters = Array.from(text, (letter) => simplified.get(letter) ?? letter);
  const choices = letters.map((letter) => traditional.get(letter) ?? [letter]);
  const usual = choices.map(([first]) => first as string);
  const otherwise: string[] = [];
  for (let index = 0; index < choices.length && otherwise.length < WAYS_MAX; index += 1) {
    for (const other of choices[index]?.slice(1) ?? []) otherwise.push(usual.with(index, other).join(''));
  }
  return [letters.join(''), usual.join(''), ...otherwise.slice(0, WAYS_MAX)];
}

function readForms(): Forms {
  const simplified = new Map(pairsOf(simplifiedPairs));
  const taiwanese = new Map(pairsOf(taiwanesePairs));
  const usual = new Map(pairsOf(traditionalPairs).map(([from, to]) => [from, taiwanese.get(to) ?? to]));
  const others = new Map<string, string[]>();
  for (const [from, to] of simplified) others.set(to, [...(others.get(to) ?? []), from]);
  const traditional = new Map<string, readonly string[]>();
  for (const letter of new Set([...usual.keys(), ...others.keys()])) {
    const all = [usual.get(letter) ?? letter, letter, ...(others.get(letter) ?? [])];
    traditional.set(letter, [...new Set(all)].slice(0, FORMS_MAX));
  }
  return { simplified, traditional };
}

function pairsOf(table: string): (readonly [string, string])[] {
  return table.split('|').map((pair) => {
    const [from, to] = pair.split(' ');
    return [from as string, to as string];
  });
}
