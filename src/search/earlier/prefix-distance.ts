/** Longer texts are not compared: suggestions are for the beginning, and that is where the typos are seen. */
const TYPED_UNITS_MAX = 32;

const rows = [0, 1, 2].map(() => new Uint8Array(TYPED_UNITS_MAX + 1)) as [Uint8Array, Uint8Array, Uint8Array];

/**
 * Returns the least number of edits (insertion, deletion, substitution, transposition of neighbours: optimal string
 * alignment) from `typed` to any prefix of the text. Returns `editsMax + 1` if there are more, or if `typed` is longer
 * than 32 UTF-16 units.
 */
export function prefixDistance(typed: string, text: string, editsMax: number): number {
  const { length } = typed;
  if (length > TYPED_UNITS_MAX || length - text.length > editsMax) return editsMax + 1;
  let [before, previous, current] = rows;
  for (let at = 0; at <= length; ++at) previous[at] = at;
  let best = previous[length] as number;
  const end = Math.min(text.length, length + editsMax);
  for (let column = 1; column <= end; ++column) {
    const unit = text.charCodeAt(column - 1);
    current[0] = column;
    let least = column;
    for (let at = 1; at <= length; ++at) {
      const typedUnit = typed.charCodeAt(at - 1);
      let distance = Math.min(
        (previous[at] as number) + 1,
        (current[at - 1] as number) + 1,
        (previous[at - 1] as number) + (typedUnit === unit ? 0 : 1),
      );
      const isExchange =
        at > 1 && column > 1 && typedUnit === text.charCodeAt(column - 2) && typed.charCodeAt(at - 2) === unit;
      if (isExchange) distance = Math.min(distance, (before[at - 2] as number) + 1);
      current[at] = distance;
      if (distance < least) least = distance;
    }
    best = Math.min(best, current[length] as number);
    // A transposition reaches back two columns and adds one edit, so it cannot bring a row beyond the limit back below
    // it.
    if (least > editsMax) break;
    [before, previous, current] = [previous, current, before];
  }
  return Math.min(best, editsMax + 1);
}
