/** True where the text has the mark more often than that. It is looked for by the machine's own search, and no further than that. */
export function hasMoreThan(text: string, mark: string, most: number): boolean {
  let found = 0;
  for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) {
    found += 1;
    if (found > most) return true;
  }
  return false;
}
