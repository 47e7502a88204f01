/**
 * Plausibility of a slip beyond its number of edits: restricted Damerau–Levenshtein distance (optimal string alignment)
 * where every edit costs 1 plus a small surcharge. Omitted letters are the most common slip, followed by extra letters.
 * A wrong letter is the least telling (each letter has 25 wrong neighbours but only one that is missing), and the first
 * letter is seldom wrong (Pollock and Zamora 1984). The surcharges were measured: docs/decisions/0011.
 */

const OMISSION = 0;
const TRANSPOSITION = 0;
const INSERTION = 0.5;
const SUBSTITUTION = 1;
const FIRST_LETTER = 0.5;
/** Keeps the surcharges of two edits below the cost of one edit, so that the cheapest path is also a shortest one. */
const SURCHARGE_SCALE = 1 / 16;

/**
 * Returns the surcharge, 0 to 3, of the most plausible way from the meant to the typed word with the fewest edits.
 * O(n·m).
 */
export function editSurcharge(typed: string, meant: string): number {
  const from = Array.from(typed);
  const to = Array.from(meant);
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) =>
    column === 0 ? 0 : column * edit(OMISSION) + FIRST_LETTER * SURCHARGE_SCALE,
  );
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row * edit(INSERTION) + FIRST_LETTER * SURCHARGE_SCALE];
    for (let column = 1; column <= to.length; column += 1) {
      const first = row === 1 || column === 1 ? FIRST_LETTER : 0;
      const same = from[row - 1] === to[column - 1];
      let best = at(previous, column - 1) + (same ? 0 : edit(SUBSTITUTION + (row === 1 && column === 1 ? first : 0)));
      best = Math.min(best, at(previous, column) + edit(INSERTION + (row === 1 ? first : 0)));
      best = Math.min(best, at(current, column - 1) + edit(OMISSION + (column === 1 ? first : 0)));
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        best = Math.min(best, at(beforePrevious, column - 2) + edit(TRANSPOSITION + (row === 2 ? FIRST_LETTER : 0)));
      }
      current.push(best);
    }
    beforePrevious = previous;
    previous = current;
  }
  const total = at(previous, to.length);
  return (total - Math.floor(total + SURCHARGE_SCALE / 16)) / SURCHARGE_SCALE;
}

function edit(surcharge: number): number {
  return 1 + surcharge * SURCHARGE_SCALE;
}

function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
