/** Words of a query with what stands between them, which decides whether two may be one word written apart. */
import type { AnalysedToken } from '../../../native-bindings/index.js';

/**
 * Separator between two words. `tight`: a hyphen or similar without blanks (`wi-fi`, `R&D`), or a full stop between
 * initials (`J. K.`); `blank`: only blanks; `cut`: a
 * boundary found by a dictionary; `apart`: anything else.
 */
export type Joint = 'tight' | 'blank' | 'cut' | 'apart';

export interface QueryWord {
  /** Folded. */
  readonly term: string;
  /** Separator to the next word; `apart` after the last word. */
  readonly joint: Joint;
  /** True if a dictionary found the word in a script without blanks. */
  readonly isCut: boolean;
  /** The word as typed. Undefined if folding changed its case only. */
  readonly typed?: string | undefined;
  /** Two or more parts between full stops, underscores and capitals, if they are indexed besides the word. */
  readonly parts?: readonly string[] | undefined;
  /** The word with the signs beside it (`c#`, `.net`, `#tag`), under which it is indexed as well. */
  readonly signed?: string | undefined;
}

const NONE: readonly string[] = Object.freeze([]);
const TIGHT = /^[-\u2010-\u2015\u2212'\u2019/._&]{1,2}$/;
const BETWEEN_INITIALS = /^\.\s?$/;
const INITIAL = /^\p{L}$/u;
const BLANK = /^\s+$/;
/** Mark after each word that a dictionary found (native-bindings/segmentation.ts). */
const CUT = '\u200b';
/** Checked as well, since users may type the mark between words of other scripts. */
const DICTIONARY_SCRIPT = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Laoo}\p{scx=Khmr}\p{scx=Mymr}]/u;

/** Converts the tokens into words. `text` is the analysed text, to which the tokens' offsets refer. */
export function queryWords(text: string, tokens: readonly AnalysedToken[]): QueryWord[] {
  return tokens.map(({ term, begin, end, parts = NONE, signed }, index) => {
    const next = tokens[index + 1];
    const between = next === undefined ? '' : text.slice(end, next.begin);
    const isOfInitials = BETWEEN_INITIALS.test(between) && INITIAL.test(term) && INITIAL.test(next?.term ?? '');
    const joint = isOfInitials ? 'tight' : jointOf(between);
    const isCut = text[end] === CUT && DICTIONARY_SCRIPT.test(term);
    const typed = text.slice(begin, end);
    // All words have the same members, in the same order: V8 reads them faster.
    return {
      term,
      joint,
      isCut,
      typed: typed.toLowerCase() === term ? undefined : typed,
      parts: parts.length > 1 ? parts : undefined,
      signed,
    };
  });
}

/** Also of what follows the last word, which is taken to be nothing. */
function jointOf(between: string): Joint {
  if (BLANK.test(between)) return 'blank';
  if (between === CUT) return 'cut';
  return TIGHT.test(between) ? 'tight' : 'apart';
}
