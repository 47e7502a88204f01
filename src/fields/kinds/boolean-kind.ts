/** Booleans, stored as 1 and 0. */
import type { FieldKind } from '../field-kind.js';

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);
const CELLS: ReadonlyMap<string, boolean> = new Map([...WORDS, ['1', true], ['0', false]]);

export const booleanKind: FieldKind<'boolean'> = {
  type: 'boolean',
  column: 'boolean',
  expected: 'true or false',
  columnValue: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
  ofCell: (cell) => CELLS.get(cell.trim().toLowerCase()) ?? cell,
  filter: {
    isOrdered: false,
    expected: 'true or false without quotes',
    read: (written) => (written.kind === 'boolean' ? Number(written.value) : undefined),
    ofCapture: (text) => {
      const value = WORDS.get(text.trim().toLowerCase());
      return value === undefined ? undefined : { kind: 'boolean', value };
    },
  },
  inference: { recognises: (value) => typeof value === 'boolean', isFacet: () => true, isSearchable: false },
};
