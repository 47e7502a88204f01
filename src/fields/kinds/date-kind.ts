/** Days and moments in ISO 8601, stored as milliseconds since 1970. */
import type { FieldKind } from '../field-kind.js';
import { parseDate } from '../field-values.js';

/** Follows a text that should have been a date, in messages. */
export const NO_DATE = 'is no date; expected yyyy-MM-dd or an ISO 8601 date-time such as 2026-11-21T05:54:00.000Z';

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'string' ? parseDate(value) : undefined;
}

export const dateKind: FieldKind<'date'> = {
  type: 'date',
  column: 'date',
  expected: 'an ISO 8601 date or date-time with a zone, such as 2026-11-21 or 2026-11-21T05:54:00Z',
  columnValue: milliseconds,
  ofCell: (cell) => cell,
  filter: {
    isOrdered: true,
    expected: 'an ISO date',
    unreadable: NO_DATE,
    read: (written) => ('text' in written ? parseDate(written.text) : undefined),
    ofCapture: (text) => {
      const day = text.trim();
      return parseDate(day) === undefined ? undefined : { kind: 'string', text: day };
    },
  },
  inference: {
    recognises: (value) => milliseconds(value) !== undefined,
    isFacet: () => true,
    isSearchable: false,
  },
};
