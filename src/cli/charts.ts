/** Small charts of Unicode blocks, one line high. Pure functions. */

const LEVELS = '▁▂▃▄▅▆▇█';
/** Last character of a bar, by eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * Returns one character per value, scaled so that the highest is full and zero is lowest. If there are more values than
 * `width`, neighbours are added up.
 */
export function sparkline(values: readonly number[], width: number): string {
  const sums = grouped(values, width);
  const highest = Math.max(0, ...sums);
  return sums
    .map((value) => {
      const level = highest === 0 ? 0 : Math.round((value / highest) * (LEVELS.length - 1));
      // Any value above zero is visible.
      return LEVELS[value > 0 ? Math.max(1, level) : 0];
    })
    .join('');
}

/** Sums neighbours in at most `groupsMax` groups of equal size, except for the last one. */
function grouped(values: readonly number[], groupsMax: number): number[] {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, groupsMax)));
  const groups = Math.ceil(values.length / size);
  return Array.from({ length: groups }, (_, group) =>
    values.slice(group * size, (group + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}

/** Returns a bar that has `width` characters for the highest value, in steps of an eighth of a character. */
export function bar(value: number, highest: number, width: number): string {
  if (highest <= 0 || value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / highest) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
