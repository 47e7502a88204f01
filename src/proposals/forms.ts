/** Decides whether two texts look like two ways to write the same. Pure functions on folded words. */

const ABBREVIATED_WORDS_MIN = 2;
const SHORT_CHARACTERS_MIN = 3;
const SHORTENED_BY_MIN = 3;
/** Searches themselves forgive one edit from 4 letters, and two from 8. */
const MISSPELT_CHARACTERS_MIN = 5;
const EDITS_MAX = 2;
const LONG_CHARACTERS_MIN = 8;
const EDITS_OF_LONG_MAX = 3;

/**
 * True for initials (`nyc`, `new york city`), a word written apart or together (`ice cream`, `icecream`), a shortened
 * word (`lab`, `laboratory`), or a spelling further away than searches forgive (`sulfur`, `sulphur`).
 */
export function looksTheSame(left: readonly string[], right: readonly string[]): boolean {
  const [one, other] = [left.join(''), right.join('')];
  if (one === '' || other === '') return false;
  if (one === other) return left.length !== right.length;
  if (areInitials(left, right) || areInitials(right, left)) return true;
  if (left.length !== 1 || right.length !== 1) return false;
  return isShortened(one, other) || isShortened(other, one) || isMisspelt(one, other);
}

function areInitials(short: readonly string[], long: readonly string[]): boolean {
  return (
    short.length === 1 &&
    long.length >= ABBREVIATED_WORDS_MIN &&
    [...(short[0] ?? '')].length === long.length &&
    long.map((word) => [...word][0]).join('') === short[0]
  );
}

function isShortened(short: string, long: string): boolean {
  return (
    short.length >= SHORT_CHARACTERS_MIN && long.length >= short.length + SHORTENED_BY_MIN && long.startsWith(short)
  );
}

function isMisspelt(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length);
  if (shorter < MISSPELT_CHARACTERS_MIN || one[0] !== other[0] || /\d/.test(one + other)) return false;
  const most = shorter >= LONG_CHARACTERS_MIN ? EDITS_OF_LONG_MAX : EDITS_MAX;
  return editsWithin(one, other, most);
}

/** True if the edit distance (insertions, deletions, substitutions) is at most `most`. */
function editsWithin(one: string, other: string, most: number): boolean {
  if (Math.abs(one.length - other.length) > most) return false;
  let above = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let row = 1; row <= one.length; row += 1) {
    const here = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      here.push(
        Math.min(
          (above[column] as number) + 1,
          (here[column - 1] as number) + 1,
          (above[column - 1] as number) + Number(!isSame),
        ),
      );
    }
    if (Math.min(...here) > most) return false;
    above = here;
  }
  return (above[other.length] as number) <= most;
}
