/** Suggestions for mistyped names: "Did you mean …?" */
import { distance } from 'fastest-levenshtein';

const WORD_LENGTH_MAX = 64;

/**
 * Returns the candidate nearest to `word`, or undefined if none is within the edit distance of a third of its letters
 * (1 to 3).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > WORD_LENGTH_MAX) return undefined;
  const wanted = fold(word);
  const distanceMax = Math.min(3, Math.max(1, Math.floor(wanted.length / 3)));
  let best: string | undefined;
  let bestDistance = distanceMax + 1;
  for (const candidate of candidates) {
    const folded = fold(candidate);
    if (folded === wanted) return candidate;
    if (Math.abs(folded.length - wanted.length) > distanceMax) continue;
    const edits = isTransposition(wanted, folded) ? 1 : distance(wanted, folded);
    if (edits < bestDistance) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}

/**
 * True if two neighbouring letters are swapped, the most common typing error, which counts as one edit instead of two.
 */
function isTransposition(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2);
}

/** Makes `orderBy`, `order-by` and `order_by` equal. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_.\s]/g, '');
}

/** Returns ` Did you mean 'x'?`, to be appended to a sentence, or an empty text. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = nearest(word, candidates);
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}
