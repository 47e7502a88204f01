/**
 * Traditional and simplified characters of the same words (台北車站, 台北车站), by OpenCC's tables. What is traditional has one simplified form; what
 * is simplified may be several others, by the word (发: 發 and 髮), the country (里: 裡 and 裏), or itself (后 in 皇后).
 */
import simplifiedPairs from 'opencc-js/dict/TSCharacters';
import taiwanesePairs from 'opencc-js/dict/TWVariants';
import traditionalPairs from 'opencc-js/dict/STCharacters';

interface Forms {
  readonly simplified: ReadonlyMap<string, string>;
  /** By simplified character, the most usual first. */
  readonly traditional: ReadonlyMap<string, readonly string[]>;
}

/** Forms of one character, and ways to write one text with a form that is not the most usual. */
const FORMS_MAX = 5;
const WAYS_MAX = 16;

let forms: Forms | undefined;

/** Texts of as many letters: simplified, traditional, and traditional with another form of one letter. The text itself may be among them. */
export function chineseForms(text: string): readonly string[] {
  // Made when they are first needed: most threads never see such a text.
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
