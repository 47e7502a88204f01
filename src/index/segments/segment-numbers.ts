/**
 * Numbers of segments, which name their files. While this process lives, no number is given out twice for a list,
 * however often the list is closed and opened again. So what outlives a closed list (a merge that nobody waits for, a
 * search that still uses its files) can write or remove its file without affecting another one. Shared by the whole
 * process; main thread only.
 */
interface Numbers {
  unused: number;
}

const byList = new Map<string, Numbers>();

/**
 * Returns a function that allocates numbers for segments of the list at this path. On disk, no number from `unused` on
 * is in use.
 */
export function segmentNumbers(listPath: string, unused: number): () => number {
  const numbers = byList.get(listPath) ?? { unused };
  numbers.unused = Math.max(numbers.unused, unused);
  byList.set(listPath, numbers);
  return () => numbers.unused++;
}

/** Forgets a deleted list, whose id, and so its path, is never reused. */
export function forgetSegmentNumbers(listPath: string): void {
  byList.delete(listPath);
}
