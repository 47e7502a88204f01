/** Finite numbers. */
import { parseNumber } from '../field-values.js';
import type { FieldKind } from '../field-kind.js';

// A leading zero belongs to a code, not to a number.
const CELL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** True for a CSV cell that is a number, without blanks around it. */
export function isNumberCell(cell: string): boolean {
  return CELL.test(cell);
}

/** Digits with commas, points, blanks or apostrophes, as locales and spreadsheets write decimals and thousands. */
const WRITTEN_OTHERWISE = /^[+-]?\d[\d.]*[,'’\s][\d.,'’\s]*$/u;

/** Number of decimal digits that a double always preserves. */
const EXACT_DIGITS = 15;
const FRACTION = /^[^.]*\.\d+$/u;
const ZERO = '0'.charCodeAt(0);

/**
 * Returns the number that is written identically, except for surrounding blanks and trailing zeros of a fraction
 * (`12.50`). An integer with more digits is probably a code, and stays text.
 */
function numberOfText(text: string): unknown {
  const trimmed = text.trim();
  if (!CELL.test(trimmed)) return text;
  const shortest = FRACTION.test(trimmed) ? withoutTrailingZeros(trimmed) : trimmed;
  const value = Number(shortest);
  if (String(value) !== shortest) return text;
  if (shortest === trimmed && trimmed.includes('.')) return value;
  const digits = trimmed.replace(/^-/u, '').replace(/^0\.0*|\./u, '');
  return digits.length <= EXACT_DIGITS ? value : text;
}

/**
 * Removes trailing zeros of a fraction. Scans from the end: a regular expression would try every run of zeros, which is
 * quadratic in a text of a megabyte.
 */
function withoutTrailingZeros(fraction: string): string {
  let end = fraction.length;
  while (fraction.charCodeAt(end - 1) === ZERO) end -= 1;
  return fraction.slice(0, end).replace(/\.$/u, '');
}

export const numberKind: FieldKind<'number'> = {
  type: 'number',
  column: 'number',
  expected: 'a finite number',
  hint: (value) =>
    typeof value === 'string' && WRITTEN_OTHERWISE.test(value.trim())
      ? ' A number is written with a point before its decimals, and with nothing between thousands.'
      : '',
  columnValue: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  ofCell: (cell) => (CELL.test(cell.trim()) ? Number(cell) : cell),
  ofText: numberOfText,
  filter: {
    isOrdered: true,
    expected: 'a number without quotes',
    read: (written) => (written.kind === 'number' ? written.value : undefined),
    ofCapture: (text) => {
      const value = parseNumber(text.trim());
      return value === undefined ? undefined : { kind: 'number', value };
    },
  },
  inference: { recognises: (value) => typeof value === 'number', isFacet: () => true, isSearchable: false },
};
