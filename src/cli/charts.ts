/** Small charts of Unicode blocks, one line high. Pure. */

const LEVELS = '▁▂▃▄▅▆▇█';
/** A bar's last character, by eighths. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A character a value, the highest one full; zero is the lowest. More values than `width` are added up in neighbouring groups. */
export function sparkline(values: readonly number[], width: number): string {
  const sums = grouped(values, width);
  const highest = Math.max(0, ...sums);
  return sums
    .map((value) => {
      const level = highest === 0 ? 0 : Math.round((value / highest) * (LEVELS.length - 1));
      // What happened at all is to be seen.
      return LEVELS[value > 0 ? Math.max(1, level) : 0];
    })
    .join('');
}

/** Groups of equal size but for the last one, at most `groupsMax`. */
function grouped(values: readonly number[], groupsMax: number): number[] {
  const size = Math.max(1, Math.ceil(values.length / Math.max(1, groupsMax)));
  const groups = Math.ceil(values.length / size);
  return Array.from({ length: groups }, (_, group) =>
    values.slice(group * size, (group + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}

/** A bar of `width` characters for the highest value, in steps of an eighth of a character. */
export function bar(value: number, highest: number, width: number): string {
  if (highest <= 0 || value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / highest) * width * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
