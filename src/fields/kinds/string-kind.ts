/** Texts, compared case-insensitively but with accents (`foldFacetValue`). */
import type { FieldKind } from '../field-kind.js';

/** Longer strings are texts rather than values to filter by. */
const FACET_VALUE_CHARACTERS_MAX = 64;
/** Values per distinct value from which strings count as repeated. */
const FACET_REPETITION_MIN = 2;

export const stringKind: FieldKind<'string'> = {
  type: 'string',
  column: 'string',
  expected: 'a string',
  columnValue: (value) => (typeof value === 'string' ? value : undefined),
  ofCell: (cell) => cell,
  filter: {
    isOrdered: true,
    expected: 'text in quotes',
    read: (written) => (written.kind === 'string' ? written.text : undefined),
    ofCapture: (text) => ({ kind: 'string', text }),
  },
  inference: {
    recognises: (value) => typeof value === 'string',
    isFacet: ({ many, count, distinctTexts, longestText }) =>
      longestText <= FACET_VALUE_CHARACTERS_MAX && (many || count >= distinctTexts * FACET_REPETITION_MIN),
    isSearchable: true,
  },
};
