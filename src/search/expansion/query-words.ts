/** The words of a query with what stands between them, which decides whether two may be one word written apart. */
import type { AnalysedToken } from '../../../native-bindings/index.js';

/** `tight`: a hyphen or the like without blanks (`wi-fi`); `blank`: blanks only; `apart`: anything else. */
export type Joint = 'tight' | 'blank' | 'apart';

export interface QueryWord {
  /** Folded. */
  readonly term: string;
  /** To the next word; `apart` behind the last. */
  readonly joint: Joint;
}

const TIGHT = /^[-\u2010-\u2015\u2212'\u2019/._]{1,2}$/;
const BLANK = /^\s+$/;

/** `text` is what was analysed: the tokens' offsets count in it. */
export function queryWords(text: string, tokens: readonly AnalysedToken[]): QueryWord[] {
  return tokens.map(({ term, end }, index) => {
    const next = tokens[index + 1];
    return { term, joint: next === undefined ? 'apart' : jointOf(text.slice(end, next.begin)) };
  });
}

function jointOf(between: string): Joint {
  if (BLANK.test(between)) return 'blank';
  return TIGHT.test(between) ? 'tight' : 'apart';
}
