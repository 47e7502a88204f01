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

/**
 * Like `nearest`, for names made of several words. Otherwise returns the shortest candidate that begins with `word`, if
 * it is one word, or that has all its words in whatever order: `search_list` for `search`, `list_create` for
 * `create_list`.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const names = [...candidates];
  const meant = nearest(name, names);
  if (meant !== undefined || name.length > WORD_LENGTH_MAX) return meant;
  const wanted = wordsOf(name);
  const has = (words: readonly string[]) =>
    wanted.length === 1 ? words[0] === wanted[0] : wanted.every((word) => words.includes(word));
  return wanted.length === 0
    ? undefined
    : names.filter((each) => has(wordsOf(each))).sort((left, right) => left.length - right.length)[0];
}

function wordsOf(name: string): string[] {
  return name
    .toLowerCase()
    .split(/[-_.\s]+/)
    .filter((word) => word !== '');
}

/** Returns ` Did you mean 'x'?`, to be appended to a sentence, or an empty text. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  return sentenceOf(nearest(word, candidates));
}

/** Like `didYouMean`, by `nearestName`. */
export function didYouMeanName(name: string, candidates: Iterable<string>): string {
  return sentenceOf(nearestName(name, candidates));
}

function sentenceOf(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean '${meant}'?`;
}
