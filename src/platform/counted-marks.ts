/** True if `mark` occurs in the text more than `most` times. Stops at the first occurrence beyond that. */
export function hasMoreThan(text: string, mark: string, most: number): boolean {
  let found = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    found += 1;
    if (found > most) return true;
  }
  return false;
}
