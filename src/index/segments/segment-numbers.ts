/**
 * The numbers of segments, by which their files are named: none is given twice for a list while this process lives, however often the list
 * is closed and opened again. What outlives a closed list (a merge that nobody waits for, a search that still has its files) may write
 * or remove the file of its number then, and it is nobody else's. For the whole process; main thread only.
 */
interface Numbers {
  unused: number;
}

const byList = new Map<string, Numbers>();

/** Gives numbers that were never used for segments of the list at this path, on whose disk none from `unused` on is used. */
export function segmentNumbers(listPath: string, unused: number): () => number {
  const numbers = byList.get(listPath) ?? { unused };
  numbers.unused = Math.max(numbers.unused, unused);
  byList.set(listPath, numbers);
  return () => numbers.unused++;
}

/** Of a list that is deleted: its id, and so its path, is never used again. */
export function forgetSegmentNumbers(listPath: string): void {
  byList.delete(listPath);
}
