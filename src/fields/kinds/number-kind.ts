/** Finite numbers. */
import { parseNumber } from '../field-values.js';
import type { FieldKind } from '../field-kind.js';

// A leading zero belongs to a code, not to a number.
const CELL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** A cell of a CSV file that is written as a number, without blanks around it. */
export function isNumberCell(cell: string): boolean {
  return CELL.test(cell);
}

/** Digits with commas, points, blanks or apostrophes between them, as languages and spreadsheets write decimals and thousands. */
const WRITTEN_OTHERWISE = /^[+-]?\d[\d.]*[,'’\s][\d.,'’\s]*$/u;

/** As many digits as every number has for certain. */
const EXACT_DIGITS = 15;
const FRACTION = /^[^.]*\.\d+$/u;
const ZERO = '0'.charCodeAt(0);

/**
 * The number that is written the same, but for blanks around it and zeros at the end of a fraction (`12.50`). An integer of more digits is rather a code
 * than a number, though it might be written the same.
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

/** Of a fraction. From its end: a pattern would try each run of zeros before, of which a text of a megabyte may have one as long as itself. */
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
