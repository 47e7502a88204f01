/** Queries as an index has their words. Pure functions of the kernel's analysis. */
import type { Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';

/** Mark after each word that a dictionary found (native-bindings/segmentation.ts). */
const CUT = '\u200b';
const NOT_ASCII = /\P{ASCII}/u;

export type Analysis = Pick<Kernel, 'analyse'>;

export interface QueryPart {
  readonly term: string;
  readonly written: string;
  readonly wordsAfter: number;
}

/** Returns the text in lower case, with the words as an index has them: two queries of the same are one. */
export function foldedQuery(kernel: Analysis, text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return withWords(kernel, text, ({ term }) => term).toLowerCase();
}

/** Returns the text with each word replaced by what `write` returns. */
export function withWords(kernel: Analysis, text: string, write: (word: QueryPart) => string): string {
  const segmented = segmentForKernel(text);
  let result = '';
  let from = 0;
  const tokens = kernel.analyse(segmented);
  for (const [index, { term, begin, end }] of tokens.entries()) {
    const written = segmented.slice(begin, end);
    result += segmented.slice(from, begin) + write({ term, written, wordsAfter: tokens.length - 1 - index });
    from = end;
  }
  return (result + segmented.slice(from)).replaceAll(CUT, '');
}
