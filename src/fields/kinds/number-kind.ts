/** Finite numbers. */
import { parseNumber } from '../field-values.js';
import type { FieldKind } from '../field-kind.js';

// A leading zero belongs to a code, not to a number.
const CELL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/u;

/** A cell of a CSV file that is written as a number, without blanks around it. */
export function isNumberCell(cell: string): boolean {
  return CELL.test(cell);
}

export const numberKind: FieldKind<'number'> = {
  type: 'number',
  column: 'number',
  expected: 'a finite number',
  columnValue: (value) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined),
  ofCell: (cell) => (CELL.test(cell.trim()) ? Number(cell) : cell),
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
