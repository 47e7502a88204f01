/** The words of a query with what stands between them, which decides whether two may be one word written apart. */
import type { AnalysedToken } from '../../../native-bindings/index.js';

/** `tight`: a hyphen or the like without blanks (`wi-fi`); `blank`: blanks only; `cut`: a dictionary parts them; `apart`: anything else. */
export type Joint = 'tight' | 'blank' | 'cut' | 'apart';

export interface QueryWord {
  /** Folded. */
  readonly term: string;
  /** To the next word; `apart` behind the last. */
  readonly joint: Joint;
  /** Of a script without blanks: a dictionary found it. */
  readonly isCut: boolean;
  /** As it was typed, where folding took more than capitals. */
  readonly typed?: string;
  /** What full stops, low lines and capitals part in it, where that is indexed beside the word: two or more. */
  readonly parts?: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);
const TIGHT = /^[-\u2010-\u2015\u2212'\u2019/._]{1,2}$/;
const BLANK = /^\s+$/;
/** Behind each word that a dictionary found (native-bindings/segmentation.ts). */
const CUT = '\u200b';
/** Whoever types that mark parts other words with it. */
const DICTIONARY_SCRIPT = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/** `text` is what was analysed: the tokens' offsets count in it. */
export function queryWords(text: string, tokens: readonly AnalysedToken[]): QueryWord[] {
  return tokens.map(({ term, begin, end, parts = NONE }, index) => {
    const next = tokens[index + 1];
    const joint = next === undefined ? 'apart' : jointOf(text.slice(end, next.begin));
    const isCut = text[end] === CUT && DICTIONARY_SCRIPT.test(term);
    const word = { term, joint, isCut, ...(parts.length > 1 && { parts }) };
    const typed = text.slice(begin, end);
    return typed.toLowerCase() === term ? word : { ...word, typed };
  });
}

function jointOf(between: string): Joint {
  if (BLANK.test(between)) return 'blank';
  if (between === CUT) return 'cut';
  return TIGHT.test(between) ? 'tight' : 'apart';
}
